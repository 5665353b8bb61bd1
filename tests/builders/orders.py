"""Carts and orders, created by the use cases."""

from decimal import Decimal

from app import models
from app.domain.authorization.actor import Actor
from app.domain.commerce.sales import Checkout, Order, OrderStatus
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.commerce.checkouts import LineInput, create_checkout
from app.services.commerce.orders import complete_checkout
from tests.builders.people import NOBODY
from tests.builders.products import make_product, product_id

EMAIL = "buyer@example.com"


def make_cart(ports: Ports, actor: Actor = NOBODY, *products: int, quantity: int = 1) -> Checkout:
    """Create a cart of these products, or of a new product."""
    keys = products or (make_product(ports, f"Bowl {ports.randomness.token(8)}"),)
    lines = [LineInput(product_id(key), quantity) for key in keys]
    return create_checkout(ports, actor, lines, EMAIL if actor.user_id is None else None)


def make_order(
    ports: Ports,
    actor: Actor = NOBODY,
    *products: int,
    status: OrderStatus = OrderStatus.UNCONFIRMED,
    is_paid: bool = False,
) -> Order:
    """Order such a cart and bring the order into that state."""
    order = complete_checkout(ports, actor, checkout_id(make_cart(ports, actor, *products)))
    with ports.database.transaction() as session:
        stored = session.get_one(models.Order, order.id)
        stored.status, stored.is_paid = status.value, is_paid
    return order


def checkout_id(checkout: Checkout) -> str:
    return to_global_id("Checkout", checkout.token)


def line_id(checkout: Checkout, place: int = 0) -> str:
    return to_global_id("CheckoutLine", checkout.lines[place].id)


def contents(checkout: Checkout) -> list[tuple[str, int, Decimal]]:
    """Return a cart's lines: name, quantity and unit price."""
    return [(line.product_name, line.quantity, line.unit_price.amount) for line in checkout.lines]


def order_id(order: Order | int) -> str:
    return to_global_id("Order", order if isinstance(order, int) else order.id)
