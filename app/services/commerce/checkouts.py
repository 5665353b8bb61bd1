"""Carts: created, changed and listed for their owners."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import ColumnElement, Row, Select, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.commerce import sales
from app.domain.commerce.money import of_units
from app.domain.commerce.products import Line, Product, sees_unpublished
from app.domain.events import CheckoutCreated, CheckoutUpdated
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.ids import key_of, parse_global_id
from app.domain.values.pages import Page, PageRequest, with_items
from app.domain.values.text_rules import is_storable
from app.ports import NamedRow, Ports
from app.ports.database import Subject, SubjectKind
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, public, requires, users_or
from app.services.commerce.channels import channel_of, is_in_channel, selling_channel
from app.services.commerce.products import PRODUCT_COLUMNS, PRODUCTS, to_product
from app.services.lists import paging
from app.services.lists.filters import is_reached
from app.services.outbox.publisher import add_event

NO_SUCH_CHECKOUT = Problem("NOT_FOUND", "There is no such checkout.", "id")
"""The refusal of a cart that is missing, another person's or ordered."""

SomeLine = TypeVar("SomeLine", bound=Line)

CHECKOUTS: Select[*tuple[object, ...]] = select(
    *paging.columns_for(sales.Checkout, models.Checkout, "channel_id"),
    models.CHECKOUT_CHANNEL.label("channel_id"),
)
"""What ``to_checkout`` expects."""

_LINES = (
    select(
        models.CheckoutLine.checkout_id,
        *paging.columns_for(sales.CheckoutLine, models.CheckoutLine),
        models.CheckoutLine.currency,
        *PRODUCT_COLUMNS,
    )
    .outerjoin(models.Product, models.Product.id == models.CheckoutLine.product_id)
    .order_by(models.CheckoutLine.id)
)


@building_block
def to_checkout(row: NamedRow, lines: tuple[sales.CheckoutLine, ...]) -> sales.Checkout:
    """Return the cart in a row of ``CHECKOUTS``, with these lines."""
    return paging.record_from(sales.Checkout, row, lines=lines)


@building_block
def lines_of(
    session: Session, actor: Actor, checkout_ids: Iterable[int]
) -> Mapping[int, tuple[sales.CheckoutLine, ...]]:
    """Return the lines of many carts in one statement, in the order they were put in.

    A product that ``actor`` does not get to see counts as gone.
    """
    found: dict[int, tuple[sales.CheckoutLine, ...]] = {}
    query = _LINES.where(models.CheckoutLine.checkout_id.in_(list(checkout_ids)))
    for row in session.execute(query):
        line = read_line(sales.CheckoutLine, row, actor)
        found[row.checkout_id] = (*found.get(row.checkout_id, ()), line)
    return found


def _to_checkouts(
    session: Session, actor: Actor, rows: Sequence[Row[*tuple[object, ...]]]
) -> tuple[sales.Checkout, ...]:
    """The carts in rows of ``CHECKOUTS`` with their lines: one statement for all of them."""
    lines = lines_of(session, actor, [row.id for row in rows])
    return tuple(to_checkout(row, lines.get(row.id, ())) for row in rows)


@building_block
def read_line(kind: type[SomeLine], row: NamedRow, actor: Actor) -> SomeLine:
    """Return a line with its product in an outer join, unless deleted or hidden from ``actor``."""
    product = None if row.product_id is None else to_product(row)
    if product is not None and not (product.is_published or sees_unpublished(actor)):
        product = None
    unit_price = of_units(row.unit_price, row.currency)
    return paging.record_from(kind, row, product=product, unit_price=unit_price)


@building_block
def load_checkout(session: Session, actor: Actor, checkout_id: int) -> sales.Checkout | None:
    """Return any person's cart of that key, with its lines."""
    row = session.execute(CHECKOUTS.where(models.Checkout.id == checkout_id)).one_or_none()
    if row is None:
        return None
    (checkout,) = _to_checkouts(session, actor, [row])
    return checkout


@building_block
def locked_checkout(session: Session, actor: Actor, checkout_id: str) -> models.Checkout:
    """Lock and return the cart of that global id, ordered or not.

    Refuses NOT_FOUND on ``id``, for other people's carts too.
    """
    token = token_in(checkout_id)
    query = select(models.Checkout).where(models.Checkout.token == token).with_for_update()
    stored = session.scalars(query).one_or_none()
    if stored is None or not sales.may_open(actor, stored.user_id, channel_of(session, stored)):
        raise Refused(NO_SUCH_CHECKOUT)
    return stored


def _open_checkout(session: Session, actor: Actor, checkout_id: str) -> models.Checkout:
    """Load a cart that hasn't become an order; refuses NOT_FOUND on ``id``."""
    stored = locked_checkout(session, actor, checkout_id)
    if stored.completed_at is not None:
        raise Refused(NO_SUCH_CHECKOUT)
    return stored


@building_block
def token_in(checkout_id: str) -> str:
    """Return the token in the global id of a cart, or one that no cart has."""
    parsed = parse_global_id(checkout_id)
    if parsed is None or parsed[0] != "Checkout" or not is_storable(parsed[1]):
        return ""
    return parsed[1]


@building_block
def cart_in(checkout_id: str) -> Subject:
    """Return what changes of the cart of that global id queue for."""
    return Subject(SubjectKind.CART, token_in(checkout_id))


@dataclass(frozen=True, slots=True)
class LineInput:
    """So many of the product of that global id."""

    product_id: str
    quantity: int


def _read_quantities(lines: Sequence[LineInput], *, is_total: bool) -> dict[int, int]:
    """Return how many of which product, by key.

    Without ``is_total`` they are more of what the cart holds, and a product may be named twice.
    Refuses what no cart can hold.
    """
    refuse_any(sales.size_problem(len(lines)))
    quantities: dict[int, int] = {}
    for line in lines:
        key = key_of(line.product_id, "Product", field="productId")
        refuse_any(sales.quantity_problem(line.quantity, minimum=0 if is_total else 1))
        if is_total and key in quantities:
            message = "Name each product once."
            raise Refused(Problem("DUPLICATED_INPUT_ITEM", message, "lines"))
        quantities[key] = quantities.get(key, 0) + line.quantity
    return quantities


def _put_lines(
    session: Session,
    actor: Actor,
    cart: models.Checkout,
    quantities: Mapping[int, int],
    *,
    is_total: bool,
) -> None:
    """Make ``cart``, which is locked, hold ``quantities`` of each product at its present price."""
    lines = {
        line.product_id: line
        for line in session.scalars(
            select(models.CheckoutLine).where(models.CheckoutLine.checkout_id == cart.id)
        )
    }
    if is_total:
        for key in quantities.keys() & lines.keys():
            if not quantities[key]:
                session.delete(lines.pop(key))
        quantities = {key: quantity for key, quantity in quantities.items() if quantity}
        session.flush()
    refuse_any(sales.size_problem(len(lines.keys() | quantities.keys())))
    products = _products(session, quantities)
    for key, quantity in quantities.items():
        product = products.get(key)
        refuse_any(sales.product_problem(product, actor))
        line = lines.get(key)
        already = 0 if line is None or is_total else line.quantity
        refuse_any(sales.quantity_problem(already + quantity))
        if line is None:
            line = models.CheckoutLine(checkout_id=cart.id, product_id=key)
            session.add(line)
        _write(line, product, already + quantity)
    session.flush()


def _products(session: Session, keys: Iterable[int]) -> dict[int, Product]:
    """The products of these keys, none of which is deleted until this transaction is done."""
    query = PRODUCTS.where(models.Product.id.in_(list(keys))).order_by(models.Product.id)
    rows = session.execute(query.with_for_update(read=True, key_share=True))
    return {product.id: product for product in map(to_product, rows)}


def _write(line: models.CheckoutLine, product: Product | None, quantity: int) -> None:
    if product is None or product.price is None:
        raise TypeError("only a product with a price can be put in")
    line.product_name = product.name
    line.quantity = quantity
    line.unit_price = product.price.units
    line.currency = product.price.currency


@public
def create_checkout(
    ports: Ports,
    actor: Actor,
    lines: Sequence[LineInput] = (),
    email: str | None = None,
    channel: str = "",
) -> sales.Checkout:
    """Create a cart (`checkoutCreate`), a person's own or one identified by its token.

    ``email`` defaults to the person's, the slug ``channel`` to that of the only active channel.
    Refuses INVALID on ``email`` and ``lines``, ZERO_QUANTITY and QUANTITY_GREATER_THAN_LIMIT on
    ``quantity``, NOT_FOUND, PRODUCT_NOT_PUBLISHED and PRODUCT_UNAVAILABLE_FOR_PURCHASE on
    ``productId``; and as ``selling_channel`` does.
    """
    quantities = _read_quantities(lines, is_total=False)
    address = _address(email) if email else ""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        channel_id = selling_channel(session, channel)
        own = "" if actor.user_id is None else _own_email(session, actor.user_id)
        stored = models.Checkout(
            token=ports.randomness.token(sales.CHECKOUT_TOKEN_LENGTH),
            user_id=actor.user_id,
            channel_id=channel_id,
            email=address or own,
            created_at=now,
            updated_at=now,
        )
        session.add(stored)
        session.flush()
        _put_lines(session, actor, stored, quantities, is_total=False)
        add_event(ports, actor, session, CheckoutCreated(stored.id))
        return _loaded(session, actor, stored)


@public
def add_checkout_lines(
    ports: Ports, actor: Actor, checkout_id: str, lines: Sequence[LineInput]
) -> sales.Checkout:
    """Put more products into a cart (`checkoutLinesAdd`).

    What it holds already of a product takes the present price. Refuses NOT_FOUND on ``id``, and
    what ``create_checkout`` refuses.
    """
    return _put(ports, actor, checkout_id, lines, is_total=False)


@public
def update_checkout_lines(
    ports: Ports, actor: Actor, checkout_id: str, lines: Sequence[LineInput]
) -> sales.Checkout:
    """Say how many of each product a cart is to hold (`checkoutLinesUpdate`); 0 takes it out.

    Refuses as ``add_checkout_lines`` does, and DUPLICATED_INPUT_ITEM on ``lines``.
    """
    return _put(ports, actor, checkout_id, lines, is_total=True)


def _put(
    ports: Ports, actor: Actor, checkout_id: str, lines: Sequence[LineInput], *, is_total: bool
) -> sales.Checkout:
    refuse_any(sales.lines_problem(len(lines)))
    quantities = _read_quantities(lines, is_total=is_total)
    with ports.database.transaction(cart_in(checkout_id)) as session:
        stored = _open_checkout(session, actor, checkout_id)
        _put_lines(session, actor, stored, quantities, is_total=is_total)
        return _changed(ports, actor, session, stored)


@public
def delete_checkout_lines(
    ports: Ports, actor: Actor, checkout_id: str, line_ids: Sequence[str]
) -> sales.Checkout:
    """Take lines out of a cart (`checkoutLinesDelete`).

    Refuses NOT_FOUND on ``id`` and, for what is no line of this cart, on ``linesIds``.
    """
    refuse_any(sales.lines_problem(len(line_ids), "linesIds"))
    keys = {key_of(line_id, "CheckoutLine", field="linesIds") for line_id in line_ids}
    with ports.database.transaction(cart_in(checkout_id)) as session:
        stored = _open_checkout(session, actor, checkout_id)
        query = select(models.CheckoutLine).where(
            models.CheckoutLine.checkout_id == stored.id, models.CheckoutLine.id.in_(keys)
        )
        lines = session.scalars(query).all()
        if len(lines) < len(keys):
            raise Refused(Problem("NOT_FOUND", "There is no such line.", "linesIds"))
        for line in lines:
            session.delete(line)
        return _changed(ports, actor, session, stored)


@public
def update_checkout_email(
    ports: Ports, actor: Actor, checkout_id: str, email: str
) -> sales.Checkout:
    """Say where to write to about a cart (`checkoutEmailUpdate`).

    Refuses NOT_FOUND on ``id``, REQUIRED and INVALID on ``email``.
    """
    address = _address(email)
    with ports.database.transaction(cart_in(checkout_id)) as session:
        stored = _open_checkout(session, actor, checkout_id)
        if stored.email == address:
            return _loaded(session, actor, stored)
        stored.email = address
        return _changed(ports, actor, session, stored)


@users_or(Permission.IMPERSONATE_USER)
def attach_checkout(
    ports: Ports, actor: Actor, checkout_id: str, customer_id: str | None = None
) -> sales.Checkout:
    """Make an anonymous cart the caller's own, or a customer's (`checkoutCustomerAttach`).

    Its token alone no longer gives access. ``customer_id``, a global ID, needs IMPERSONATE_USER
    unless it is the caller's. Refuses NOT_FOUND on ``id``, for other people's carts too; on
    ``customerId`` REQUIRED to an app that names none, NOT_FOUND unless it's a customer's.
    """
    owner = _future_owner(actor, customer_id)
    with ports.database.transaction(cart_in(checkout_id)) as session:
        if owner == actor.user_id:
            email = _own_email(session, owner)
        else:
            email = _customer_email(session, owner)
        stored = _open_checkout(session, actor, checkout_id)
        if stored.user_id not in (None, owner):
            raise Refused(NO_SUCH_CHECKOUT)
        if stored.user_id is not None:
            return _loaded(session, actor, stored)
        stored.user_id = owner
        stored.email = stored.email or email
        if owner != actor.user_id:
            after: dict[str, object] = {"checkout": stored.id}
            change = Change("checkout.attach", "User", owner, email, after=after)
            record(ports, actor, session, change)
        return _changed(ports, actor, session, stored)


def _future_owner(actor: Actor, customer_id: str | None) -> int:
    if customer_id:
        key = key_of(customer_id, "User", field="customerId")
        if key != actor.user_id and not actor.holds(Permission.IMPERSONATE_USER):
            raise PermissionDenied(Permission.IMPERSONATE_USER)
        return key
    if actor.user_id is None:
        message = "Apps must name the customer they act for."
        raise Refused(Problem("REQUIRED", message, "customerId"))
    return actor.user_id


def _customer_email(session: Session, user_id: int) -> str:
    """Return a customer's email; the account is not deleted until this transaction is done."""
    query = select(models.User.email).where(models.User.id == user_id, ~models.User.is_staff)
    email = session.scalar(query.with_for_update(read=True, key_share=True))
    if email is None:
        raise Refused(Problem("NOT_FOUND", "No customer has this ID.", "customerId"))
    return email


def _address(email: str) -> str:
    address = normalize_email(email)
    refuse_any(email_problem(address))
    return address


def _own_email(session: Session, user_id: int) -> str:
    """Return the caller's email; the account is not deleted until this transaction is done."""
    query = select(models.User.email).where(models.User.id == user_id)
    email = session.scalar(query.with_for_update(read=True, key_share=True))
    if email is None:
        raise PermissionDenied(Caller.USER)
    return email


def _changed(
    ports: Ports, actor: Actor, session: Session, stored: models.Checkout
) -> sales.Checkout:
    stored.updated_at = ports.clock.now()
    add_event(ports, actor, session, CheckoutUpdated(stored.id))
    return _loaded(session, actor, stored)


def _loaded(session: Session, actor: Actor, stored: models.Checkout) -> sales.Checkout:
    session.flush()
    checkout = load_checkout(session, actor, stored.id)
    if checkout is None:
        raise Refused(NO_SUCH_CHECKOUT)
    return checkout


_OPEN = CHECKOUTS.where(models.Checkout.completed_at.is_(None))
_NEWEST_FIRST = paging.Order((models.Checkout.id,), descending=True)


@public
def show_checkout(ports: Ports, actor: Actor, checkout_id: str) -> sales.Checkout | None:
    """Return the cart of that global id (`checkout`).

    ``None`` for another person's, an ordered or an unknown one.
    """
    query = _OPEN.where(models.Checkout.token == token_in(checkout_id))
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
        if row is None or not sales.may_open(actor, row.user_id, row.channel_id):
            return None
        (found,) = _to_checkouts(session, actor, [row])
        return found


@requires(Permission.MANAGE_CHECKOUTS, Permission.HANDLE_CHECKOUTS)
def list_checkouts(
    ports: Ports, actor: Actor, page: PageRequest, channel: str = ""
) -> Page[sales.Checkout]:
    """Return the page of all carts that aren't ordered yet (`checkouts`), the newest first.

    Those in channels that the caller has access to; ``channel`` is the slug of one of them.
    """
    conditions = [] if actor.reaches_all_channels else [is_reached(actor, models.CHECKOUT_CHANNEL)]
    if channel:
        conditions.append(is_in_channel(models.CHECKOUT_CHANNEL, channel))
    with ports.database.reading() as session:
        query = paging.with_conditions(_OPEN, conditions)
        found = paging.read_rows(ports, session, query, _NEWEST_FIRST, page)
        return with_items(found, _to_checkouts(session, actor, found.items))


@users_or(Permission.MANAGE_CHECKOUTS, Permission.HANDLE_CHECKOUTS)
def checkouts_of_users(
    ports: Ports, actor: Actor, user_ids: Collection[int], page: PageRequest
) -> Mapping[int, Page[sales.Checkout]]:
    """Return the page of each person's carts that aren't ordered yet (`User.checkouts`).

    The newest first; two statements. Other people's need MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.
    """
    if set(user_ids) - {actor.user_id} and not sales.manages_checkouts(actor):
        raise PermissionDenied(Permission.MANAGE_CHECKOUTS, Permission.HANDLE_CHECKOUTS)
    seen = paging.with_conditions(_OPEN, _channel_limits(actor, user_ids))
    with ports.database.reading() as session:
        found = paging.read_rows_by_parent(
            ports,
            session,
            seen,
            paging.Parents(models.Checkout.user_id, user_ids),
            _NEWEST_FIRST,
            page,
        )
        rows = [row for rows in found.values() for row in rows.items]
        carts = {cart.id: cart for cart in _to_checkouts(session, actor, rows)}
    return {
        key: with_items(rows, [carts[row.id] for row in rows.items]) for key, rows in found.items()
    }


def _channel_limits(actor: Actor, user_ids: Collection[int]) -> Iterator[ColumnElement[bool]]:
    """Yield what limits other people's carts to the channels that ``actor`` has access to."""
    if set(user_ids) - {actor.user_id} and not actor.reaches_all_channels:
        own = models.Checkout.user_id == actor.user_id
        yield own | is_reached(actor, models.CHECKOUT_CHANNEL)
