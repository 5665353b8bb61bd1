"""Turn a cart into an order, idempotently."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.commerce.money import total
from app.domain.commerce.sales import CheckoutLine, Order, OrderStatus, completion_problems
from app.domain.events import OrderCreated
from app.domain.values.errors import refuse_any
from app.models import (
    CheckoutLineRecord,
    CheckoutRecord,
    OrderLineRecord,
    OrderRecord,
    ProductRecord,
    UserRecord,
)
from app.ports import Ports
from app.services.authorization.register import public
from app.services.commerce.stored_checkouts import (
    cart_in,
    gone,
    lines_of,
    locked_checkout,
    token_in,
)
from app.services.commerce.stored_orders import load_order
from app.services.outbox.publisher import add_event


@public
def complete_checkout(ports: Ports, actor: Actor, checkout_id: str) -> Order:
    """Order the contents of a cart (`checkoutComplete`) at the prices it shows.

    Repeated calls return the same order. Refuses NOT_FOUND on ``id``, NO_LINES and
    PRODUCT_UNAVAILABLE_FOR_PURCHASE on ``lines``, EMAIL_NOT_SET on ``email``.
    """
    with ports.database.transaction(cart_in(checkout_id)) as session:
        _keep_owner(session, checkout_id)
        cart = locked_checkout(session, actor, checkout_id)
        if cart.completed_at is not None:
            return _ordered(session, actor, cart)
        _keep_products(session, cart)
        lines = lines_of(session, actor, [cart.id]).get(cart.id, ())
        problems = completion_problems(lines, cart.email)
        refuse_any(*problems)
        order = _store(ports, session, cart, lines)
        add_event(ports, actor, session, OrderCreated(order.id))
        return _loaded(session, actor, order.id)


def _keep_owner(session: Session, checkout_id: str) -> None:
    """Lock the cart's owner against deletion.

    Before the cart itself, in the order that deletions of people use.
    """
    owner = select(CheckoutRecord.user_id).where(CheckoutRecord.token == token_in(checkout_id))
    session.execute(
        select(UserRecord.id)
        .where(UserRecord.id == owner.scalar_subquery())
        .with_for_update(read=True, key_share=True)
    )


def _keep_products(session: Session, cart: CheckoutRecord) -> None:
    """Lock the cart's products against deletion."""
    query = select(CheckoutLineRecord.product_id).where(CheckoutLineRecord.checkout_id == cart.id)
    session.execute(
        select(ProductRecord.id)
        .where(ProductRecord.id.in_(query))
        .order_by(ProductRecord.id)
        .with_for_update(read=True, key_share=True)
    )


def _store(
    ports: Ports, session: Session, cart: CheckoutRecord, lines: Sequence[CheckoutLine]
) -> OrderRecord:
    now = ports.clock.now()
    costs = total(line.total for line in lines)
    order = OrderRecord(
        checkout_id=cart.id,
        user_id=cart.user_id,
        user_email=cart.email,
        status=OrderStatus.UNCONFIRMED.value,
        total=costs.units,
        currency=costs.currency,
        created_at=now,
        updated_at=now,
    )
    session.add(order)
    session.flush()
    session.add_all(
        OrderLineRecord(
            order_id=order.id,
            product_id=None if line.product is None else line.product.id,
            product_name=line.product_name,
            quantity=line.quantity,
            unit_price=line.unit_price.units,
            currency=line.unit_price.currency,
        )
        for line in lines
    )
    cart.completed_at = now
    session.flush()
    return order


def _ordered(session: Session, actor: Actor, cart: CheckoutRecord) -> Order:
    order_id = session.scalar(select(OrderRecord.id).where(OrderRecord.checkout_id == cart.id))
    if order_id is None:
        raise gone()
    return _loaded(session, actor, order_id)


def _loaded(session: Session, actor: Actor, order_id: int) -> Order:
    order = load_order(session, actor, order_id)
    if order is None:
        raise gone()
    return order
