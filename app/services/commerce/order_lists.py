"""The orders there are, for those whose they are and for those who manage them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, select

from app.domain.accounts.emails import normalize_email
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.sales import (
    Order,
    OrderLine,
    OrderSortField,
    OrderStatus,
    OrderSummary,
    PaymentStatus,
    sees_order,
)
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import key_of, parse_key
from app.domain.values.pages import Page, PageRequest, Range, empty_page
from app.models import OrderLineRecord, OrderRecord
from app.ports import Ports
from app.services.authorization.register import lists_from_replica, requires, users_or
from app.services.commerce.stored_orders import (
    ORDERS,
    load_buyers,
    load_lines,
    load_order,
    to_summary,
)
from app.services.lists import paging
from app.services.lists.range_filters import can_match, in_range, keys_of

_NEWEST_FIRST = paging.Order((OrderRecord.id,), descending=True)
_COLUMNS = {
    OrderSortField.NUMBER: (OrderRecord.id,),
    OrderSortField.CREATED_AT: (OrderRecord.created_at, OrderRecord.id),
    OrderSortField.LAST_MODIFIED_AT: (OrderRecord.updated_at, OrderRecord.id),
}


@dataclass(frozen=True, slots=True)
class OrderFilter:
    """Conditions on orders.

    ``search`` is a number or the beginning of an email, ``customer`` the beginning of an email,
    ``ids`` are global ids.
    """

    search: str = ""
    customer: str = ""
    ids: tuple[str, ...] | None = None
    statuses: tuple[OrderStatus, ...] | None = None
    payments: tuple[PaymentStatus, ...] | None = None
    created_at: Range[datetime] | None = None
    updated_at: Range[datetime] | None = None


ALL_ORDERS = OrderFilter()


def _orders(ports: Ports, _actor: Actor, keys: Collection[int]) -> tuple[OrderSummary, ...]:
    return paging.read_by_keys(ports, ORDERS, OrderRecord.id, keys, to_summary)


@lists_from_replica(_orders)
@requires(Permission.MANAGE_ORDERS)
def list_orders(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    filter_: OrderFilter = ALL_ORDERS,
    sort_by: OrderSortField | None = None,
    *,
    descending: bool = False,
) -> Page[OrderSummary]:
    """List all orders (`orders`), the newest first unless sorted: one statement.

    Refuses ids that aren't an order's.
    """
    if not can_match(filter_.search) or not can_match(filter_.customer):
        return empty_page()
    order = _NEWEST_FIRST if sort_by is None else paging.Order(_COLUMNS[sort_by], descending)
    return _page(ports, paging.with_conditions(ORDERS, _conditions(filter_)), order, page)


@users_or(Permission.MANAGE_ORDERS)
def orders_of_users(
    ports: Ports, actor: Actor, user_ids: Collection[int], page: PageRequest
) -> Mapping[int, Page[OrderSummary]]:
    """Return the page of each person's orders (`User.orders`), the newest first, in one statement.

    Other people's take MANAGE_ORDERS.
    """
    if not all(sees_order(actor, user_id) for user_id in user_ids):
        raise PermissionDenied(Permission.MANAGE_ORDERS)
    with ports.database.reading() as session:
        parents = paging.Parents(OrderRecord.user_id, user_ids)
        found = paging.read_rows_by_parent(ports, session, ORDERS, parents, _NEWEST_FIRST, page)
    return paging.pages_by_parent(found, to_summary)


@requires(Permission.MANAGE_ORDERS)
def list_newest_orders_of(
    ports: Ports, _actor: Actor, user_id: int, page: PageRequest
) -> Page[OrderSummary]:
    """The orders of a person for those who manage orders, the newest first."""
    return _page(ports, ORDERS.where(OrderRecord.user_id == user_id), _NEWEST_FIRST, page)


@users_or(Permission.MANAGE_ORDERS)
def lines_of_orders(
    ports: Ports, actor: Actor, order_ids: Collection[int]
) -> Mapping[int, tuple[OrderLine, ...]]:
    """Return the lines of those of several orders that the caller can see, in one statement."""
    condition: ColumnElement[bool] = OrderLineRecord.order_id.in_(order_ids)
    if not actor.holds(Permission.MANAGE_ORDERS):
        own = select(OrderRecord.id).where(OrderRecord.user_id == actor.user_id)
        condition &= OrderLineRecord.order_id.in_(own)
    with ports.database.reading() as session:
        return load_lines(session, actor, condition)


@users_or(Permission.MANAGE_ORDERS)
def buyers_of_orders(ports: Ports, actor: Actor, user_ids: Collection[int]) -> Mapping[int, User]:
    """Return those of several buyers whom the caller can see, in one statement."""
    with ports.database.reading() as session:
        return load_buyers(session, actor, user_ids)


@users_or(Permission.MANAGE_ORDERS)
def show_order(ports: Ports, actor: Actor, order_id: str) -> Order | None:
    """The order of that global id (`order`); ``None`` when it is not the caller's to see.

    Refuses NOT_FOUND for what is no id of an order.
    """
    key = key_of(order_id, "Order")
    with ports.database.reading() as session:
        order = load_order(session, actor, key)
    return order if order is not None and sees_order(actor, order.user_id) else None


def _page(
    ports: Ports, query: Select[*tuple[object, ...]], order: paging.Order, page: PageRequest
) -> Page[OrderSummary]:
    with ports.database.reading() as session:
        return paging.read_page(ports, session, query, order, page, to_summary)


def _conditions(filter_: OrderFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.search:
        number = parse_key(filter_.search.strip())
        named = _begins_email(filter_.search)
        yield named if number is None else named | (OrderRecord.id == number)
    if filter_.customer:
        yield _begins_email(filter_.customer)
    if filter_.ids is not None:
        yield OrderRecord.id.in_(keys_of(filter_.ids, "Order"))
    if filter_.statuses is not None:
        yield OrderRecord.status.in_([status.value for status in filter_.statuses])
    if filter_.payments is not None:
        yield OrderRecord.is_paid.in_(
            [payment is PaymentStatus.FULLY_CHARGED for payment in filter_.payments]
        )
    if filter_.created_at is not None:
        yield from in_range(OrderRecord.created_at, filter_.created_at)
    if filter_.updated_at is not None:
        yield from in_range(OrderRecord.updated_at, filter_.updated_at)


def _begins_email(text: str) -> ColumnElement[bool]:
    return OrderRecord.user_email.startswith(normalize_email(text), autoescape=True)
