"""Carts as they are stored: read, and locked for a change."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.commerce.money import of_units
from app.domain.commerce.products import Product, sees_unpublished
from app.domain.commerce.sales import Checkout, CheckoutLine, may_open
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import parse_global_id
from app.domain.values.text_rules import is_storable
from app.models import CheckoutLineRecord, CheckoutRecord, ProductRecord
from app.ports import NamedRow
from app.ports.database import Subject, SubjectKind
from app.services.authorization.register import part
from app.services.commerce.stored_products import PRODUCT_COLUMNS, to_product
from app.services.lists.records import record_from

CHECKOUTS: Select[*tuple[object, ...]] = select(
    CheckoutRecord.id,
    CheckoutRecord.token,
    CheckoutRecord.user_id,
    CheckoutRecord.email,
    CheckoutRecord.created_at,
    CheckoutRecord.updated_at,
)
"""What ``to_checkout`` expects."""

_LINES = (
    select(
        CheckoutLineRecord.checkout_id,
        CheckoutLineRecord.id,
        CheckoutLineRecord.product_name,
        CheckoutLineRecord.quantity,
        CheckoutLineRecord.unit_price,
        CheckoutLineRecord.currency,
        *PRODUCT_COLUMNS,
    )
    .outerjoin(ProductRecord, ProductRecord.id == CheckoutLineRecord.product_id)
    .order_by(CheckoutLineRecord.id)
)


@part
def to_checkout(row: NamedRow, lines: tuple[CheckoutLine, ...]) -> Checkout:
    """The cart in a row of ``CHECKOUTS``, with these lines."""
    return record_from(Checkout, row, lines=lines)


@part
def lines_of(
    session: Session, actor: Actor, checkout_ids: Iterable[int]
) -> Mapping[int, tuple[CheckoutLine, ...]]:
    """The lines of many carts in one statement, in the order they were put in.

    A product that ``actor`` does not get to see counts as gone.
    """
    found: dict[int, tuple[CheckoutLine, ...]] = {}
    query = _LINES.where(CheckoutLineRecord.checkout_id.in_(list(checkout_ids)))
    for row in session.execute(query):
        line = record_from(
            CheckoutLine,
            row,
            product=visible_product(row, actor),
            unit_price=of_units(row.unit_price, row.currency),
        )
        found[row.checkout_id] = (*found.get(row.checkout_id, ()), line)
    return found


@part
def to_checkouts(
    session: Session, actor: Actor, rows: Sequence[Row[*tuple[object, ...]]]
) -> tuple[Checkout, ...]:
    """The carts in rows of ``CHECKOUTS`` with their lines: one statement for all of them."""
    lines = lines_of(session, actor, [row.id for row in rows])
    return tuple(to_checkout(row, lines.get(row.id, ())) for row in rows)


@part
def visible_product(row: NamedRow, actor: Actor) -> Product | None:
    """The product in a row of an outer join, unless it is gone, or hidden from ``actor``."""
    if row.product_id is None:
        return None
    product = to_product(row)
    return product if product.is_published or sees_unpublished(actor) else None


@part
def load_checkout(session: Session, actor: Actor, checkout_id: int) -> Checkout | None:
    """Return any person's cart of that key, with its lines."""
    row = session.execute(CHECKOUTS.where(CheckoutRecord.id == checkout_id)).one_or_none()
    if row is None:
        return None
    (checkout,) = to_checkouts(session, actor, [row])
    return checkout


@part
def locked_checkout(session: Session, actor: Actor, checkout_id: str) -> CheckoutRecord:
    """Lock and return the cart of that global id, ordered or not.

    Refuses NOT_FOUND on ``id``, for other people's carts too.
    """
    token = token_in(checkout_id)
    query = select(CheckoutRecord).where(CheckoutRecord.token == token).with_for_update()
    stored = session.scalars(query).one_or_none()
    if stored is None or not may_open(actor, stored.user_id):
        raise gone()
    return stored


@part
def open_checkout(session: Session, actor: Actor, checkout_id: str) -> CheckoutRecord:
    """The same, which has not become an order; refuses NOT_FOUND on ``id``."""
    stored = locked_checkout(session, actor, checkout_id)
    if stored.completed_at is not None:
        raise gone()
    return stored


@part
def token_in(checkout_id: str) -> str:
    """The token in the global id of a cart, or one that no cart has."""
    parsed = parse_global_id(checkout_id)
    if parsed is None or parsed[0] != "Checkout" or not is_storable(parsed[1]):
        return ""
    return parsed[1]


@part
def cart_in(checkout_id: str) -> Subject:
    """Return what changes of the cart of that global id queue for."""
    return Subject(SubjectKind.CART, token_in(checkout_id))


@part
def gone() -> Refused:
    """Return the refusal for a cart that is missing, another person's or ordered."""
    return Refused(Problem("NOT_FOUND", "There is no such checkout.", "id"))
