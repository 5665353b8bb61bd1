"""Orders as they are stored: read, with their lines and whose they are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.commerce.money import of_units
from app.domain.commerce.orders import Order, OrderLine, OrderStatus, sees_buyer
from app.models import OrderLineRecord, OrderRecord, ProductRecord, UserRecord
from app.services.authorization.live_sessions import USER_COLUMNS, read_user
from app.services.authorization.register import part
from app.services.commerce.stored_checkouts import visible_product
from app.services.commerce.stored_products import PRODUCT_COLUMNS

ORDERS: Select[*tuple[object, ...]] = select(
    OrderRecord.id,
    OrderRecord.status,
    OrderRecord.is_paid,
    OrderRecord.user_id,
    OrderRecord.user_email,
    OrderRecord.total,
    OrderRecord.currency,
    OrderRecord.created_at,
    OrderRecord.updated_at,
)
"""What ``to_order`` expects."""

_LINES = (
    select(
        OrderLineRecord.order_id,
        OrderLineRecord.id,
        OrderLineRecord.product_name,
        OrderLineRecord.quantity,
        OrderLineRecord.unit_price,
        OrderLineRecord.currency,
        *PRODUCT_COLUMNS,
    )
    .outerjoin(ProductRecord, ProductRecord.id == OrderLineRecord.product_id)
    .order_by(OrderLineRecord.id)
)


@part
def to_order(row: Sequence[Any]) -> Order:
    """The order in a row of ``ORDERS``, without its lines."""
    key, status, is_paid, user_id, user_email, total, currency, created_at, updated_at = row[:9]
    return Order(
        id=key,
        status=OrderStatus(status),
        is_paid=is_paid,
        user_id=user_id,
        user_email=user_email,
        total=of_units(total, currency),
        created_at=created_at,
        updated_at=updated_at,
    )


@part
def with_details(session: Session, actor: Actor, orders: Sequence[Order]) -> tuple[Order, ...]:
    """``orders`` with their lines and whose they are: two statements, however many they are.

    The caller's own person is left out: they know themselves.
    """
    lines = _lines_of(session, actor, [order.id for order in orders])
    users = _users(session, actor, {order.user_id for order in orders})
    return tuple(
        replace(
            order,
            lines=lines.get(order.id, ()),
            user=users.get(order.user_id),
        )
        for order in orders
    )


@part
def load_order(session: Session, actor: Actor, order_id: int) -> Order | None:
    """Return any person's order of that key, with everything that belongs to it."""
    row = session.execute(ORDERS.where(OrderRecord.id == order_id)).one_or_none()
    if row is None:
        return None
    (order,) = with_details(session, actor, [to_order(row)])
    return order


def _lines_of(
    session: Session, actor: Actor, order_ids: Iterable[int]
) -> Mapping[int, tuple[OrderLine, ...]]:
    found: dict[int, tuple[OrderLine, ...]] = {}
    wanted = _LINES.where(OrderLineRecord.order_id.in_(list(order_ids)))
    for order_id, key, name, quantity, unit_price, currency, *columns in session.execute(wanted):
        line = OrderLine(
            id=key,
            product=visible_product(columns, actor),
            product_name=name,
            quantity=quantity,
            unit_price=of_units(unit_price, currency),
        )
        found[order_id] = (*found.get(order_id, ()), line)
    return found


def _users(session: Session, actor: Actor, user_ids: set[int | None]) -> Mapping[int | None, User]:
    """Return those of the users whom ``actor`` can see."""
    others = user_ids - {None, actor.user_id}
    if not others:
        return {}
    rows = session.execute(select(*USER_COLUMNS).where(UserRecord.id.in_(others)))
    return {user.id: user for user in map(read_user, rows) if sees_buyer(actor, user)}
