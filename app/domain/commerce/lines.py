"""What lines of carts and orders have in common."""

from dataclasses import dataclass

from app.domain.commerce.money import Money
from app.domain.commerce.products import Product


@dataclass(frozen=True, slots=True)
class Line:
    """So many of one product. ``product`` is as it is now, ``None`` when it is gone."""

    id: int
    product: Product | None
    product_name: str
    quantity: int
    unit_price: Money

    @property
    def total(self) -> Money:
        return self.unit_price.times(self.quantity)
