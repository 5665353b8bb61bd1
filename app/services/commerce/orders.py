"""Orders: made from carts, changed by staff step by step, and listed.

A cart becomes an order once, however often that is asked for.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from app import models
from app.domain import events
from app.domain.accounts.emails import normalize_email
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce import sales
from app.domain.commerce.money import of_units, total
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.ids import filtered_keys, key_of, parse_key
from app.domain.values.pages import Page, PageRequest, Range, empty_page
from app.domain.values.text_rules import is_storable
from app.ports import NamedRow, Ports
from app.services.audit.log import Change, differing, record
from app.services.authorization.register import (
    building_block,
    lists_from_replica,
    public,
    requires,
    users_or,
)
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.commerce import checkouts
from app.services.commerce.channels import (
    channel_of,
    find_channel,
    is_in_channel,
    keep_channel_of_cart,
)
from app.services.commerce.products import PRODUCT_COLUMNS
from app.services.lists import paging
from app.services.lists.filters import Where, in_range, is_reached, is_searchable, nested_condition
from app.services.outbox.publisher import add_event

ORDERS: Select[*tuple[object, ...]] = select(
    *paging.columns_for(sales.OrderSummary, models.Order, "channel_id"),
    models.ORDER_CHANNEL.label("channel_id"),
    models.Order.currency,
)
"""What ``to_order`` and ``to_summary`` expect."""

_LINES = (
    select(
        models.OrderLine.order_id,
        *paging.columns_for(sales.OrderLine, models.OrderLine),
        models.OrderLine.currency,
        (models.Order.status == sales.OrderStatus.FULFILLED).label("is_fulfilled"),
        *PRODUCT_COLUMNS,
    )
    .join(models.Order, models.Order.id == models.OrderLine.order_id)
    .outerjoin(models.Product, models.Product.id == models.OrderLine.product_id)
    .order_by(models.OrderLine.id)
)


@building_block
def to_summary(row: NamedRow) -> sales.OrderSummary:
    """Return the order in a row of ``ORDERS``, without its lines."""
    total = of_units(row.total, row.currency)
    return paging.record_from(
        sales.OrderSummary, row, status=sales.OrderStatus(row.status), total=total
    )


@building_block
def to_order(row: NamedRow, lines: tuple[sales.OrderLine, ...], user: User | None) -> sales.Order:
    """Return the order in a row of ``ORDERS``, with these lines and its buyer."""
    total = of_units(row.total, row.currency)
    return paging.record_from(
        sales.Order, row, status=sales.OrderStatus(row.status), total=total, lines=lines, user=user
    )


@building_block
def load_order(session: Session, actor: Actor, order_id: int) -> sales.Order | None:
    """Return any person's order of that key, with everything that belongs to it.

    The caller's own person is left out: they know themselves.
    """
    row = session.execute(ORDERS.where(models.Order.id == order_id)).one_or_none()
    if row is None:
        return None
    lines = _load_lines(session, actor, models.OrderLine.order_id == order_id)
    buyers = _load_buyers(session, actor, {row.user_id} - {None, actor.user_id})
    return to_order(row, lines.get(order_id, ()), buyers.get(row.user_id))


def _load_lines(
    session: Session, actor: Actor, condition: ColumnElement[bool]
) -> Mapping[int, tuple[sales.OrderLine, ...]]:
    """Return the lines that meet ``condition`` by order, in one statement."""
    found: dict[int, tuple[sales.OrderLine, ...]] = {}
    for row in session.execute(_LINES.where(condition)):
        line = checkouts.read_line(sales.OrderLine, row, actor)
        found[row.order_id] = (*found.get(row.order_id, ()), line)
    return found


def _load_buyers(session: Session, actor: Actor, user_ids: Collection[int]) -> Mapping[int, User]:
    """Return those of the users whom ``actor`` can see, in one statement."""
    if not user_ids:
        return {}
    rows = session.execute(select(*USER_COLUMNS).where(models.User.id.in_(user_ids)))
    return {user.id: user for user in map(read_user, rows) if sales.sees_buyer(actor, user)}


@public
def complete_checkout(ports: Ports, actor: Actor, checkout_id: str) -> sales.Order:
    """Order the contents of a cart (`checkoutComplete`) at the prices it shows.

    Repeated calls return the same order. Refuses NOT_FOUND on ``id``, NO_LINES and
    PRODUCT_UNAVAILABLE_FOR_PURCHASE on ``lines``, EMAIL_NOT_SET on ``email``.
    """
    with ports.database.transaction(checkouts.cart_in(checkout_id)) as session:
        _keep_owner(session, checkout_id)
        keep_channel_of_cart(session, checkouts.token_in(checkout_id))
        cart = checkouts.locked_checkout(session, actor, checkout_id)
        if cart.completed_at is not None:
            return _ordered(session, actor, cart)
        _keep_products(session, cart)
        lines = checkouts.lines_of(session, actor, [cart.id]).get(cart.id, ())
        problems = sales.completion_problems(lines, cart.email)
        refuse_any(*problems)
        order = _store(ports, session, cart, lines)
        add_event(ports, actor, session, events.OrderCreated(order.id))
        return _loaded(session, actor, order.id)


def _keep_owner(session: Session, checkout_id: str) -> None:
    """Lock the cart's owner against deletion.

    Before the cart itself, in the order that deletions of people use.
    """
    owner = select(models.Checkout.user_id).where(
        models.Checkout.token == checkouts.token_in(checkout_id)
    )
    session.execute(
        select(models.User.id)
        .where(models.User.id == owner.scalar_subquery())
        .with_for_update(read=True, key_share=True)
    )


def _keep_products(session: Session, cart: models.Checkout) -> None:
    """Lock the cart's products against deletion."""
    query = select(models.CheckoutLine.product_id).where(
        models.CheckoutLine.checkout_id == cart.id
    )
    session.execute(
        select(models.Product.id)
        .where(models.Product.id.in_(query))
        .order_by(models.Product.id)
        .with_for_update(read=True, key_share=True)
    )


def _store(
    ports: Ports, session: Session, cart: models.Checkout, lines: Sequence[sales.CheckoutLine]
) -> models.Order:
    now = ports.clock.now()
    costs = total(line.total for line in lines)
    order = models.Order(
        checkout_id=cart.id,
        user_id=cart.user_id,
        channel_id=channel_of(session, cart),
        user_email=cart.email,
        status=sales.OrderStatus.UNCONFIRMED.value,
        total=costs.units,
        currency=costs.currency,
        created_at=now,
        updated_at=now,
    )
    session.add(order)
    session.flush()
    session.add_all(
        models.OrderLine(
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


def _ordered(session: Session, actor: Actor, cart: models.Checkout) -> sales.Order:
    order_id = session.scalar(select(models.Order.id).where(models.Order.checkout_id == cart.id))
    if order_id is None:
        raise Refused(checkouts.NO_SUCH_CHECKOUT)
    return _loaded(session, actor, order_id)


def _loaded(session: Session, actor: Actor, order_id: int) -> sales.Order:
    order = load_order(session, actor, order_id)
    if order is None:
        raise Refused(checkouts.NO_SUCH_CHECKOUT)
    return order


_EVENTS: dict[sales.OrderStep, type[events.Event]] = {
    sales.OrderStep.CONFIRM: events.OrderConfirmed,
    sales.OrderStep.FULFILL: events.OrderFulfilled,
    sales.OrderStep.CANCEL: events.OrderCancelled,
    sales.OrderStep.PAY: events.OrderPaid,
}


@requires(Permission.MANAGE_ORDERS)
def confirm_order(ports: Ports, actor: Actor, order_id: str) -> sales.Order:
    """Take an order on (`orderConfirm`); refuses NOT_FOUND, and INVALID unless it is new."""
    return _take(ports, actor, order_id, sales.OrderStep.CONFIRM, "id")


@requires(Permission.MANAGE_ORDERS)
def mark_order_paid(ports: Ports, actor: Actor, order_id: str) -> sales.Order:
    """Record that an order was paid elsewhere (`orderMarkAsPaid`).

    Refuses NOT_FOUND, and PAYMENT_ERROR when it is canceled, or paid already.
    """
    return _take(ports, actor, order_id, sales.OrderStep.PAY, "id")


@requires(Permission.MANAGE_ORDERS)
def cancel_order(ports: Ports, actor: Actor, order_id: str) -> sales.Order:
    """Call an order off (`orderCancel`).

    Refuses NOT_FOUND, and CANNOT_CANCEL_ORDER when it is fulfilled or canceled.
    """
    return _take(ports, actor, order_id, sales.OrderStep.CANCEL, "id")


@requires(Permission.MANAGE_ORDERS)
def fulfill_order(ports: Ports, actor: Actor, order_id: str) -> sales.Order:
    """Record that all of an order was sent (`orderFulfill`).

    Refuses, on ``order``, NOT_FOUND, and INVALID unless it is confirmed and waiting.
    """
    return _take(ports, actor, order_id, sales.OrderStep.FULFILL, "order")


def _take(
    ports: Ports, actor: Actor, order_id: str, step: sales.OrderStep, field: str
) -> sales.Order:
    """Take ``step`` and publish its event and ``OrderUpdated``."""
    key = key_of(order_id, "Order", field=field)
    with ports.database.transaction() as session:
        stored = session.get(models.Order, key, with_for_update=True)
        # An order that the caller can't see is answered like a missing one.
        if stored is None or not actor.reaches_channel(channel_of(session, stored)):
            raise _unknown(field)
        before = _state(stored)
        status = sales.take_step(
            sales.OrderStatus(stored.status), step, is_paid=stored.is_paid, field=field
        )
        stored.status = status.value
        stored.is_paid = stored.is_paid or step is sales.OrderStep.PAY
        stored.updated_at = ports.clock.now()
        session.flush()
        add_event(ports, actor, session, _EVENTS[step](key))
        add_event(ports, actor, session, events.OrderUpdated(key))
        change = Change(
            f"order.{step.value}", "Order", key, str(key), *differing(before, _state(stored))
        )
        record(ports, actor, session, change)
        order = load_order(session, actor, key)
        if order is None:
            raise _unknown(field)
        return order


def _unknown(field: str) -> Refused:
    return Refused(Problem("NOT_FOUND", "There is no such order.", field))


def _state(stored: models.Order) -> dict[str, object]:
    return {"status": stored.status, "is_paid": stored.is_paid}


_NEWEST_FIRST = paging.Order((models.Order.id,), descending=True)
_COLUMNS = {
    sales.OrderSortField.NUMBER: (models.Order.id,),
    sales.OrderSortField.CREATED_AT: (models.Order.created_at, models.Order.id),
    sales.OrderSortField.LAST_MODIFIED_AT: (models.Order.updated_at, models.Order.id),
}


@dataclass(frozen=True, slots=True)
class OrderFilter:
    """Conditions on orders.

    ``search`` is a number or the beginning of an email, ``customer`` the beginning of an email,
    ``ids`` and ``channel_ids`` are global ids, ``channel`` is a slug, ``emails`` are whole.
    """

    search: str = ""
    customer: str = ""
    emails: tuple[str, ...] | None = None
    numbers: tuple[int, ...] | None = None
    number_range: Range[int] | None = None
    ids: tuple[str, ...] | None = None
    channel_ids: tuple[str, ...] | None = None
    statuses: tuple[sales.OrderStatus, ...] | None = None
    payments: tuple[sales.PaymentStatus, ...] | None = None
    created_at: Range[datetime] | None = None
    updated_at: Range[datetime] | None = None
    channel: str = ""


ALL_ORDERS = OrderFilter()


def _orders(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[sales.OrderSummary, ...]:
    query = paging.with_conditions(ORDERS, _in_reach(actor))
    return paging.read_by_keys(ports, query, models.Order.id, keys, to_summary)


@lists_from_replica(_orders)
@requires(Permission.MANAGE_ORDERS)
def list_orders(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    filter_: OrderFilter = ALL_ORDERS,
    sort_by: sales.OrderSortField | None = None,
    *,
    where: Where[OrderFilter] | None = None,
    descending: bool = False,
) -> Page[sales.OrderSummary]:
    """List the orders of all channels that the caller has access to (`orders`).

    Those that match both ``filter_`` and ``where``, the newest first unless sorted, in one
    statement. Refuses ids that aren't an order's; raises
    ``PermissionDenied`` for a channel that the caller has no access to.
    """
    if not is_searchable(filter_.search) or not is_searchable(filter_.customer):
        return empty_page()
    if filter_.channel:
        _require_channel(ports, actor, filter_.channel)
    order = _NEWEST_FIRST if sort_by is None else paging.Order(_COLUMNS[sort_by], descending)
    conditions = [*_conditions(filter_), *_in_reach(actor)]
    if where is not None:
        conditions.append(nested_condition(where, _conditions))
    return _page(ports, paging.with_conditions(ORDERS, conditions), order, page)


@users_or(Permission.MANAGE_ORDERS)
def orders_of_users(
    ports: Ports,
    actor: Actor,
    user_ids: Collection[int],
    page: PageRequest,
    where: Where[OrderFilter] | None = None,
) -> Mapping[int, Page[sales.OrderSummary]]:
    """Return the page of each person's orders (`User.orders`), the newest first, in one statement.

    Other people's take MANAGE_ORDERS, and are those in channels that the caller has access to.
    """
    if not all(sales.sees_orders_of(actor, user_id) for user_id in user_ids):
        raise PermissionDenied(Permission.MANAGE_ORDERS)
    conditions = [*_in_reach(actor, user_ids)]
    if where is not None:
        conditions.append(nested_condition(where, _conditions))
    query = paging.with_conditions(ORDERS, conditions)
    with ports.database.reading() as session:
        parents = paging.Parents(models.Order.user_id, user_ids)
        found = paging.read_rows_by_parent(ports, session, query, parents, _NEWEST_FIRST, page)
    return paging.pages_by_parent(found, to_summary)


@requires(Permission.MANAGE_ORDERS)
def list_newest_orders_of(
    ports: Ports, actor: Actor, user_id: int, page: PageRequest
) -> Page[sales.OrderSummary]:
    """Return the orders of a person for those who manage orders, the newest first.

    Those in channels that the caller has access to.
    """
    query = ORDERS.where(models.Order.user_id == user_id, *_in_reach(actor, [user_id]))
    return _page(ports, query, _NEWEST_FIRST, page)


@users_or(Permission.MANAGE_ORDERS)
def lines_of_orders(
    ports: Ports, actor: Actor, order_ids: Collection[int]
) -> Mapping[int, tuple[sales.OrderLine, ...]]:
    """Return the lines of those of several orders that the caller can see, in one statement."""
    condition: ColumnElement[bool] = models.OrderLine.order_id.in_(order_ids)
    manages = actor.holds(Permission.MANAGE_ORDERS)
    if not (manages and actor.reaches_all_channels):
        seen = models.Order.user_id == actor.user_id
        if manages:
            seen |= is_reached(actor, models.ORDER_CHANNEL)
        condition &= models.OrderLine.order_id.in_(select(models.Order.id).where(seen))
    with ports.database.reading() as session:
        return _load_lines(session, actor, condition)


@users_or(Permission.MANAGE_ORDERS)
def buyers_of_orders(ports: Ports, actor: Actor, user_ids: Collection[int]) -> Mapping[int, User]:
    """Return those of several buyers whom the caller can see, in one statement."""
    with ports.database.reading() as session:
        return _load_buyers(session, actor, user_ids)


@users_or(Permission.MANAGE_ORDERS)
def orders_by_key(
    ports: Ports, actor: Actor, keys: Collection[int]
) -> tuple[sales.OrderSummary, ...]:
    """Return those orders that ``show_order`` shows the caller, in one statement."""
    own = models.Order.user_id == actor.user_id
    seen = own | is_reached(actor, models.ORDER_CHANNEL)
    query = ORDERS.where(seen if actor.holds(Permission.MANAGE_ORDERS) else own)
    return paging.read_by_keys(ports, query, models.Order.id, keys, to_summary)


@users_or(Permission.MANAGE_ORDERS)
def show_order(ports: Ports, actor: Actor, order_id: str) -> sales.Order | None:
    """Return the order of that global id (`order`); ``None`` when it is not the caller's to see.

    Refuses NOT_FOUND for what is no id of an order.
    """
    key = key_of(order_id, "Order")
    with ports.database.reading() as session:
        order = load_order(session, actor, key)
    return order if order is not None and sales.sees_order(actor, order) else None


def _page(
    ports: Ports, query: Select[*tuple[object, ...]], order: paging.Order, page: PageRequest
) -> Page[sales.OrderSummary]:
    with ports.database.reading() as session:
        return paging.read_page(ports, session, query, order, page, to_summary)


def _in_reach(actor: Actor, user_ids: Collection[int] = ()) -> Iterator[ColumnElement[bool]]:
    """Yield what limits the orders of others to the channels that ``actor`` has access to.

    People see their own orders in every channel: only in the list of one's own are they asked for.
    """
    if actor.reaches_all_channels or set(user_ids) == {actor.user_id}:
        return
    reached = is_reached(actor, models.ORDER_CHANNEL)
    yield reached | (models.Order.user_id == actor.user_id) if user_ids else reached


def _require_channel(ports: Ports, actor: Actor, slug: str) -> None:
    with ports.database.reading() as session:
        channel = find_channel(session, slug)
    if channel is not None and not actor.reaches_channel(channel.id):
        raise PermissionDenied(message="You don't have access to this channel.")


def _conditions(filter_: OrderFilter) -> Iterator[ColumnElement[bool]]:
    yield from _named(filter_)
    if filter_.channel_ids is not None:
        channels = [key_of(id_, "Channel", field="where") for id_ in filter_.channel_ids]
        yield models.ORDER_CHANNEL.in_(channels)
    if filter_.statuses is not None:
        yield models.Order.status.in_([status.value for status in filter_.statuses])
    if filter_.payments is not None:
        yield models.Order.is_paid.in_(
            [payment is sales.PaymentStatus.FULLY_CHARGED for payment in filter_.payments]
        )
    if filter_.created_at is not None:
        yield from in_range(models.Order.created_at, filter_.created_at)
    if filter_.updated_at is not None:
        yield from in_range(models.Order.updated_at, filter_.updated_at)
    if filter_.channel:
        yield is_in_channel(models.ORDER_CHANNEL, filter_.channel)


def _named(filter_: OrderFilter) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions on numbers, ids and emails."""
    if filter_.search:
        number = parse_key(filter_.search.strip())
        named = _begins_email(filter_.search)
        yield named if number is None else named | (models.Order.id == number)
    if filter_.customer:
        yield _begins_email(filter_.customer)
    if filter_.emails is not None:
        emails = map(normalize_email, filter(is_storable, filter_.emails))
        yield models.Order.user_email.in_(list(emails))
    if filter_.numbers is not None:
        yield models.Order.id.in_(filter_.numbers)
    if filter_.number_range is not None:
        yield from in_range(models.Order.id, filter_.number_range)
    if filter_.ids is not None:
        yield models.Order.id.in_(filtered_keys(filter_.ids, "Order"))


def _begins_email(text: str) -> ColumnElement[bool]:
    return models.Order.user_email.startswith(normalize_email(text), autoescape=True)
