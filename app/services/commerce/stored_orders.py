"""Orders as they are stored: read, with their lines and whose they are."""

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.commerce.money import of_units
from app.domain.commerce.sales import Order, OrderLine, OrderStatus, OrderSummary, sees_buyer
from app.models import OrderLineRecord, OrderRecord, ProductRecord, UserRecord
from app.ports import NamedRow
from app.services.authorization.live_sessions import USER_COLUMNS, read_user
from app.services.authorization.register import part
from app.services.commerce.stored_checkouts import visible_product
from app.services.commerce.stored_products import PRODUCT_COLUMNS
from app.services.lists.records import record_from

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
"""What ``to_order`` and ``to_summary`` expect."""

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
def to_summary(row: NamedRow) -> OrderSummary:
    """The order in a row of ``ORDERS``, without its lines."""
    total = of_units(row.total, row.currency)
    return record_from(OrderSummary, row, status=OrderStatus(row.status), total=total)


@part
def to_order(row: NamedRow, lines: tuple[OrderLine, ...], user: User | None) -> Order:
    """The order in a row of ``ORDERS``, with these lines and its buyer."""
    total = of_units(row.total, row.currency)
    return record_from(
        Order, row, status=OrderStatus(row.status), total=total, lines=lines, user=user
    )


@part
def load_order(session: Session, actor: Actor, order_id: int) -> Order | None:
    """Return any person's order of that key, with everything that belongs to it.

    The caller's own person is left out: they know themselves.
    """
    row = session.execute(ORDERS.where(OrderRecord.id == order_id)).one_or_none()
    if row is None:
        return None
    lines = load_lines(session, actor, OrderLineRecord.order_id == order_id)
    buyers = load_buyers(session, actor, {row.user_id} - {None, actor.user_id})
    return to_order(row, lines.get(order_id, ()), buyers.get(row.user_id))


@part
def load_lines(
    session: Session, actor: Actor, condition: ColumnElement[bool]
) -> Mapping[int, tuple[OrderLine, ...]]:
    """Return the lines that meet ``condition`` by order, in one statement."""
    found: dict[int, tuple[OrderLine, ...]] = {}
    for row in session.execute(_LINES.where(condition)):
        line = record_from(
            OrderLine,
            row,
            product=visible_product(row, actor),
            unit_price=of_units(row.unit_price, row.currency),
        )
        found[row.order_id] = (*found.get(row.order_id, ()), line)
    return found


@part
def load_buyers(session: Session, actor: Actor, user_ids: Collection[int]) -> Mapping[int, User]:
    """Return those of the users whom ``actor`` can see, in one statement."""
    if not user_ids:
        return {}
    rows = session.execute(select(*USER_COLUMNS).where(UserRecord.id.in_(user_ids)))
    return {user.id: user for user in map(read_user, rows) if sees_buyer(actor, user)}
