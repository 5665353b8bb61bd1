"""Products."""

from decimal import Decimal

from app import models
from app.domain.accounts.search import fold
from app.domain.commerce.money import CURRENCY, price
from app.domain.values.ids import to_global_id
from app.ports import Ports


def make_product(
    ports: Ports,
    name: str = "Ash bowl",
    cost: str | None = "12.50",
    *,
    slug: str = "",
    is_published: bool = True,
) -> int:
    """Store a product with that price; return the key."""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        product = models.Product(
            name=name,
            slug=slug or fold(name).replace(" ", "-"),
            price=models.NO_PRICE if cost is None else price(Decimal(cost)).units,
            currency=CURRENCY,
            is_published=is_published,
            created_at=now,
            updated_at=now,
            folded=fold(name),
        )
        session.add(product)
        session.flush()
        return product.id


def product_id(key: int) -> str:
    """Return the global ID of the product with that key."""
    return to_global_id("Product", key)


def reprice(ports: Ports, key: int, cost: str) -> None:
    """Change the price in a product's row."""
    with ports.database.transaction() as session:
        session.get_one(models.Product, key).price = price(Decimal(cost)).units
