"""Products: read by shoppers, staff and apps, changed by those who manage them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Select, false, not_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.search import fold
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce import products
from app.domain.commerce.money import CURRENCY, Money, of_units, price, price_problem, units_within
from app.domain.events import ProductCreated, ProductDeleted, ProductUpdated
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import filtered_keys, key_of
from app.domain.values.inputs import ABSENT, Absent
from app.domain.values.pages import Page, PageRequest, Range, empty_page
from app.domain.values.text_rules import prose_problem
from app.ports import NamedRow, Ports
from app.services.audit.log import Change, differing, record
from app.services.authorization.register import (
    building_block,
    lists_from_replica,
    public,
    requires,
)
from app.services.lists.filters import (
    Where,
    in_range,
    is_searchable,
    limit_values,
    nested_condition,
)
from app.services.lists.paging import Order, Query, read_by_keys, read_page, with_conditions
from app.services.outbox.publisher import add_event

_FIELDS = (
    "id",
    "name",
    "slug",
    "description",
    "price",
    "currency",
    "is_published",
    "created_at",
    "updated_at",
)
PRODUCT_COLUMNS = tuple(getattr(models.Product, name).label(f"product_{name}") for name in _FIELDS)
"""What ``to_product`` expects in a row."""

_values_in = attrgetter(*(column.name for column in PRODUCT_COLUMNS))
_fields_of = attrgetter(*_FIELDS)

PRODUCTS: Select[*tuple[object, ...]] = select(*PRODUCT_COLUMNS)

_NUMBERED = 10
_RANDOM_LENGTH = 8


@building_block
def to_product(row: NamedRow) -> products.Product:
    """Return the product in a row that has ``PRODUCT_COLUMNS``."""
    return _product(*_values_in(row))


def _product_of(stored: models.Product) -> products.Product:
    """Return the product in its record."""
    return _product(*_fields_of(stored))


def _product(
    id_: int, name: str, slug: str, description: str, units: int, currency: str, *others: Any
) -> products.Product:
    price = None if units == models.NO_PRICE else of_units(units, currency)
    return products.Product(id_, name, slug, description, price, *others)


def _locked_product(session: Session, product_id: int) -> models.Product:
    """Lock and return the product of that key.

    Refuses NOT_FOUND on ``id``.
    """
    stored = session.get(models.Product, product_id, with_for_update=True)
    if stored is None:
        raise Refused(Problem("NOT_FOUND", "There is no such product.", "id"))
    return stored


def _free_slug(ports: Ports, session: Session, preferred: str, *, is_contested: bool) -> str:
    """Return ``preferred``, with a number or random letters if a product has that slug.

    Another transaction can still take it first; when it has (``is_contested``), only random
    letters end the race.
    """
    candidates = [preferred, *(f"{preferred}-{number}" for number in range(2, _NUMBERED))]
    taken = set(
        session.scalars(select(models.Product.slug).where(models.Product.slug.in_(candidates)))
    )
    free = [slug for slug in candidates if slug not in taken]
    if free and not is_contested:
        return free[0]
    return f"{preferred}-{ports.randomness.token(_RANDOM_LENGTH).lower()}"


_UNIQUE = Problem("UNIQUE", "This slug is already in use.", "slug")


@dataclass(frozen=True, slots=True)
class ProductInput:
    """A product's input; ``ABSENT`` for fields left out, ``None`` for null.

    ``price`` is in ``currency``, the shop's own by default.
    """

    name: str | Absent | None = ABSENT
    slug: str | Absent | None = ABSENT
    description: str | Absent | None = ABSENT
    price: Decimal | Absent | None = ABSENT
    currency: str | None = None
    is_published: bool | None = None


@requires(Permission.MANAGE_PRODUCTS)
def create_product(ports: Ports, actor: Actor, input_: ProductInput) -> products.Product:
    """Make a product (`productCreate`): only the name is required, unpublished unless said.

    Refuses REQUIRED and INVALID on ``name``, INVALID and UNIQUE on ``slug`` (made from the name
    when it is missing), INVALID on ``description``, ``price`` and ``currency``.
    """
    now = ports.clock.now()
    product = _applied(
        products.Product(0, "", "", "", None, is_published=False, created_at=now, updated_at=now),
        replace(input_, name=_text(input_.name), slug=_text(input_.slug) or ABSENT),
    )
    try:
        return _store(ports, actor, product, is_contested=False)
    except IntegrityError:  # the slug was taken by somebody who was quicker by a moment
        if product.slug:
            raise Refused(_UNIQUE) from None
        return _store(ports, actor, product, is_contested=True)


@requires(Permission.MANAGE_PRODUCTS)
def update_product(
    ports: Ports, actor: Actor, product_id: str, input_: ProductInput
) -> products.Product:
    """Change a product (`productUpdate`); absent fields stay, null clears optional ones.

    Refuses NOT_FOUND on ``id``, REQUIRED on ``name`` and ``slug``, and what ``create_product``
    refuses.
    """
    key = key_of(product_id, "Product")
    try:
        with ports.database.transaction() as session:
            stored = _locked_product(session, key)
            before = _product_of(stored)
            after = _applied(before, input_)
            if after != before:
                after = replace(after, updated_at=ports.clock.now())
                for name, value in _columns(after).items():
                    setattr(stored, name, value)
                add_event(ports, actor, session, ProductUpdated(key))
                _audit(ports, actor, session, "product.update", before, after)
            return after
    except IntegrityError:
        raise Refused(_UNIQUE) from None


@requires(Permission.MANAGE_PRODUCTS)
def delete_product(ports: Ports, actor: Actor, product_id: str) -> products.Product:
    """Delete a product (`productDelete`); returns what it was. Refuses NOT_FOUND on ``id``.

    Orders and carts keep what they say of it; a cart that holds it can no longer be completed.
    """
    key = key_of(product_id, "Product")
    with ports.database.transaction() as session:
        stored = _locked_product(session, key)
        product = _product_of(stored)
        session.delete(stored)
        add_event(
            ports, actor, session, ProductDeleted(key, snapshot=products.snapshot_of(product))
        )
        _audit(ports, actor, session, "product.delete", product, None)
        return product


def _text(value: str | Absent | None) -> str:
    return value if isinstance(value, str) else ""


def _applied(product: products.Product, input_: ProductInput) -> products.Product:
    """``product`` with what was said, or the refusal of it."""
    name = product.name if input_.name is ABSENT else _text(input_.name).strip()
    slug = product.slug if input_.slug is ABSENT else _text(input_.slug)
    description = (
        product.description if input_.description is ABSENT else _text(input_.description)
    )
    problems = [products.name_problem(name), _slug_problem(slug, input_)]
    problems.append(
        prose_problem(description, "description", max_length=products.MAX_DESCRIPTION_LENGTH)
    )
    if isinstance(input_.price, Decimal) or input_.currency is not None:
        amount = input_.price if isinstance(input_.price, Decimal) else Decimal(0)
        problems.append(price_problem(amount, input_.currency))
    refuse_any(*problems)
    return replace(
        product,
        name=name,
        slug=slug,
        description=description,
        price=_price(product.price, input_.price),
        is_published=product.is_published if input_.is_published is None else input_.is_published,
    )


def _slug_problem(slug: str, input_: ProductInput) -> Problem | None:
    if input_.slug is ABSENT:
        return None
    return products.slug_problem(slug) if slug else Problem("REQUIRED", "Give it a slug.", "slug")


def _price(before: Money | None, new: Decimal | Absent | None) -> Money | None:
    if isinstance(new, Absent):
        return before
    return None if new is None else price(new)


def _store(
    ports: Ports, actor: Actor, product: products.Product, *, is_contested: bool
) -> products.Product:
    with ports.database.transaction() as session:
        slug = product.slug or _free_slug(
            ports, session, products.slug_of(product.name), is_contested=is_contested
        )
        new_product = replace(product, slug=slug)
        stored = models.Product(created_at=new_product.created_at, **_columns(new_product))
        session.add(stored)
        session.flush()
        new_product = replace(new_product, id=stored.id)
        add_event(ports, actor, session, ProductCreated(new_product.id))
        _audit(ports, actor, session, "product.create", None, new_product)
        return new_product


def _columns(product: products.Product) -> dict[str, object]:
    return {
        "name": product.name,
        "slug": product.slug,
        "description": product.description,
        "price": models.NO_PRICE if product.price is None else product.price.units,
        "currency": CURRENCY if product.price is None else product.price.currency,
        "is_published": product.is_published,
        "updated_at": product.updated_at,
        "folded": fold(product.name),
    }


def _audit(
    ports: Ports,
    actor: Actor,
    session: Session,
    action: str,
    before: products.Product | None,
    after: products.Product | None,
) -> None:
    """A row when what the public gets to see, or pays, has changed."""
    sides = differing(_audit_values(before), _audit_values(after))
    product = after or before
    if product is not None and any(sides):
        change = Change(action, "Product", product.id, product.name, *sides)
        record(ports, actor, session, change)


def _audit_values(product: products.Product | None) -> Mapping[str, object]:
    if product is None:
        return {}
    price = product.price
    return {
        "name": product.name,
        "slug": product.slug,
        "price": None if price is None else f"{price.amount} {price.currency}",
        "is_published": product.is_published,
    }


_COLUMNS = {
    None: (models.Product.id,),
    products.ProductSortField.NAME: (models.Product.name, models.Product.id),
    products.ProductSortField.PRICE: (models.Product.price, models.Product.id),
    products.ProductSortField.CREATED_AT: (models.Product.created_at, models.Product.id),
    products.ProductSortField.LAST_MODIFIED_AT: (models.Product.updated_at, models.Product.id),
}
_PUBLISHED = PRODUCTS.where(models.Product.is_published.is_(True))


@dataclass(frozen=True, slots=True)
class ProductFilter:
    """Conditions on products; ``search`` is a part of the name, ignoring case and accents.

    ``ids`` are global ids; a price range excludes products without a price. Products that are
    ``available`` are published and have a price; no product has what ``has_other`` asks for.
    """

    search: str = ""
    ids: tuple[str, ...] | None = None
    slugs: tuple[str, ...] | None = None
    is_published: bool | None = None
    is_available: bool | None = None
    price: Range[Decimal] | None = None
    prices: tuple[Decimal, ...] | None = None
    updated_at: Range[datetime] | None = None
    has_other: bool = False


ALL_PRODUCTS = ProductFilter()


def _visible(actor: Actor) -> Query:
    return PRODUCTS if products.sees_unpublished(actor) else _PUBLISHED


def _products(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[products.Product, ...]:
    return read_by_keys(ports, _visible(actor), models.Product.id, keys, to_product)


@lists_from_replica(_products)
@public
def list_products(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    filter_: ProductFilter = ALL_PRODUCTS,
    sort_by: products.ProductSortField | None = None,
    *,
    where: Where[ProductFilter] | None = None,
    descending: bool = False,
) -> Page[products.Product]:
    """Return the published products (`products`), and for those who manage them all the others.

    Those that match both ``filter_`` and ``where``, without ``sort_by`` in the order they were
    made. Refuses what is no id of a product.
    """
    if not is_searchable(filter_.search):
        return empty_page()
    query = with_conditions(_visible(actor), _conditions(filter_))
    if where is not None:
        query = query.where(nested_condition(where, _conditions))
    order = Order(_COLUMNS[sort_by], descending)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, to_product)


@public
def show_product(
    ports: Ports, actor: Actor, *, product_id: str | None = None, slug: str | None = None
) -> products.Product | None:
    """The product of that global id, or of that slug (`product`); ``None`` for none to be seen.

    Refuses GRAPHQL_ERROR unless exactly one of the two is given, NOT_FOUND for what is no id of a
    product.
    """
    if (product_id is None) is (slug is None):
        message = "Pass either `id` or `slug`."
        raise Refused(Problem("GRAPHQL_ERROR", message, "id"))
    if product_id is not None:
        query = PRODUCTS.where(models.Product.id == key_of(product_id, "Product"))
    else:
        query = PRODUCTS.where(models.Product.slug == (slug if is_searchable(slug or "") else ""))
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    product = None if row is None else to_product(row)
    if product is None or not (product.is_published or products.sees_unpublished(actor)):
        return None
    return product


@public
def products_by_key(
    ports: Ports, actor: Actor, keys: Collection[int]
) -> tuple[products.Product, ...]:
    """Return those products that ``show_product`` shows the caller, in one statement."""
    return _products(ports, actor, keys)


def _conditions(filter_: ProductFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.search:
        yield models.Product.folded.contains(fold(filter_.search), autoescape=True)
    if filter_.ids is not None:
        yield models.Product.id.in_(filtered_keys(filter_.ids, "Product"))
    if filter_.slugs is not None:
        slugs = filter(is_searchable, limit_values(filter_.slugs, "slugs"))
        yield models.Product.slug.in_(list(slugs))
    if filter_.is_published is not None:
        yield models.Product.is_published.is_(filter_.is_published)
    if filter_.is_available is not None:
        is_available = models.Product.is_published.is_(True) & (models.Product.price >= 0)
        yield is_available if filter_.is_available else not_(is_available)
    if filter_.price is not None:
        yield from in_range(models.Product.price, units_within(filter_.price))
    if filter_.prices is not None:
        ranges = (units_within(Range(price, price)) for price in filter_.prices)
        yield models.Product.price.in_([each.gte for each in ranges if each.gte == each.lte])
    if filter_.has_other:
        yield false()
    if filter_.updated_at is not None:
        yield from in_range(models.Product.updated_at, filter_.updated_at)
