"""Read the published products, and all products for staff and apps that manage them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import ColumnElement

from app.domain.accounts.search import fold
from app.domain.authorization.actor import Actor
from app.domain.commerce.money import units_within
from app.domain.commerce.products import Product, ProductSortField, sees_unpublished
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of
from app.domain.values.pages import Page, PageRequest, Range, empty_page
from app.models import ProductRecord
from app.ports import Ports
from app.services.authorization.register import lists_from_replica, public
from app.services.commerce.stored_products import PRODUCTS, to_product
from app.services.lists.paging import (
    Order,
    Query,
    read_by_keys,
    read_page,
    with_conditions,
)
from app.services.lists.range_filters import can_match, in_range, keys_of, limit_values

_COLUMNS = {
    None: (ProductRecord.id,),
    ProductSortField.NAME: (ProductRecord.name, ProductRecord.id),
    ProductSortField.PRICE: (ProductRecord.price, ProductRecord.id),
    ProductSortField.CREATED_AT: (ProductRecord.created_at, ProductRecord.id),
    ProductSortField.LAST_MODIFIED_AT: (ProductRecord.updated_at, ProductRecord.id),
}
_PUBLISHED = PRODUCTS.where(ProductRecord.is_published.is_(True))


@dataclass(frozen=True, slots=True)
class ProductFilter:
    """Conditions on products; ``search`` is a part of the name, ignoring case and accents.

    ``ids`` are global ids; a price range excludes products without a price.
    """

    search: str = ""
    ids: tuple[str, ...] | None = None
    slugs: tuple[str, ...] | None = None
    is_published: bool | None = None
    price: Range[Decimal] | None = None
    updated_at: Range[datetime] | None = None


ALL_PRODUCTS = ProductFilter()


def _visible(actor: Actor) -> Query:
    return PRODUCTS if sees_unpublished(actor) else _PUBLISHED


def _products(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[Product, ...]:
    return read_by_keys(ports, _visible(actor), ProductRecord.id, keys, to_product)


@lists_from_replica(_products)
@public
def list_products(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    filter_: ProductFilter = ALL_PRODUCTS,
    sort_by: ProductSortField | None = None,
    *,
    descending: bool = False,
) -> Page[Product]:
    """The published products (`products`), and for those who manage them all the others.

    Without ``sort_by`` in the order they were made. Refuses what is no id of a product.
    """
    if not all(map(can_match, (filter_.search, *(filter_.slugs or ())))):
        return empty_page()
    query = with_conditions(_visible(actor), _conditions(filter_))
    order = Order(_COLUMNS[sort_by], descending)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, to_product)


@public
def show_product(
    ports: Ports, actor: Actor, *, product_id: str | None = None, slug: str | None = None
) -> Product | None:
    """The product of that global id, or of that slug (`product`); ``None`` for none to be seen.

    Refuses GRAPHQL_ERROR unless exactly one of the two is given, NOT_FOUND for what is no id of a
    product.
    """
    if (product_id is None) is (slug is None):
        message = "Pass either `id` or `slug`."
        raise Refused(Problem("GRAPHQL_ERROR", message, "id"))
    if product_id is not None:
        query = PRODUCTS.where(ProductRecord.id == key_of(product_id, "Product"))
    else:
        query = PRODUCTS.where(ProductRecord.slug == (slug if can_match(slug or "") else ""))
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    product = None if row is None else to_product(row)
    if product is None or not (product.is_published or sees_unpublished(actor)):
        return None
    return product


def _conditions(filter_: ProductFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.search:
        yield ProductRecord.folded.contains(fold(filter_.search), autoescape=True)
    if filter_.ids is not None:
        yield ProductRecord.id.in_(keys_of(filter_.ids, "Product"))
    if filter_.slugs is not None:
        yield ProductRecord.slug.in_(limit_values(filter_.slugs, "slugs"))
    if filter_.is_published is not None:
        yield ProductRecord.is_published.is_(filter_.is_published)
    if filter_.price is not None:
        yield from in_range(ProductRecord.price, units_within(filter_.price))
    if filter_.updated_at is not None:
        yield from in_range(ProductRecord.updated_at, filter_.updated_at)
