"""Find, make, change and delete products."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

import graphene
from graphene.types.generic import GenericScalar
from graphql import GraphQLError, ValueNode

from app.domain.commerce.products import Product
from app.domain.values import inputs as domain
from app.domain.values.pages import Page, with_items
from app.graphql import connections
from app.graphql.compatibility import constant_input, without_constants
from app.graphql.context import Info
from app.graphql.root_fields.payloads import MutationPayload, errors_of, mutation, query
from app.graphql.types.lists import (
    DateTimeRangeInput,
    DecimalFilterInput,
    Direction,
    PriceRangeInput,
    StringFilterInput,
)
from app.graphql.types.products import SORT_FIELDS, in_channel
from app.services.commerce.products import (
    ProductFilter,
    create_product,
    delete_product,
    list_products,
    show_product,
    update_product,
)
from app.services.commerce.products import ProductInput as Said


class JSON(GenericScalar):
    """Any JSON value."""


class Upload(graphene.Scalar):
    """A file, sent as a variable as defined by the GraphQL multipart request specification."""

    @staticmethod
    def parse_value(value: object) -> domain.Upload:
        if not isinstance(value, domain.Upload):
            raise GraphQLError("A file is expected, sent as multipart/form-data.")
        return value

    @staticmethod
    def parse_literal(
        node: ValueNode, _variables: dict[str, object] | None = None
    ) -> domain.Upload:
        raise GraphQLError("A file is sent as a variable, by multipart/form-data.", node)

    @staticmethod
    def serialize(value: object) -> str:
        raise GraphQLError("Files can't be part of a response.")


_PRODUCT = "app.graphql.types.products.Product"
_ID = graphene.NonNull(graphene.ID)


class ProductInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    name = graphene.String()
    slug = graphene.String()
    description = graphene.String()
    price = graphene.InputField("app.graphql.types.money.PositiveDecimal")
    currency = graphene.String(description="Must be the shop's currency, which is the default.")
    is_published = graphene.Boolean()
    attributes = constant_input("ProductInput.attributes", graphene.List(graphene.NonNull(JSON)))
    category = constant_input("ProductInput.category", graphene.ID)
    collections = constant_input("ProductInput.collections", graphene.List(_ID))
    rating = constant_input("ProductInput.rating", graphene.Float)
    seo = constant_input("ProductInput.seo", JSON)
    tax_class = constant_input("ProductInput.taxClass", graphene.ID)
    weight = constant_input("ProductInput.weight", JSON)


class ProductCreateInput(ProductInput):
    """A new product. The slug is derived from the name. It isn't public until it's published."""

    name = graphene.String(description="Required.")


class _ProductPayload(MutationPayload, abstract=True):
    product = graphene.Field(_PRODUCT)
    errors = errors_of("problems.ProductError")


class ProductCreate(_ProductPayload):
    """The new product."""


class ProductUpdate(_ProductPayload):
    """The updated product."""


class ProductDelete(_ProductPayload):
    """The deleted product."""


class ProductMutations(graphene.ObjectType):
    """What the shop sells."""

    @mutation(
        "Creates a product, unpublished by default. Requires MANAGE_PRODUCTS.",
        input=graphene.NonNull(ProductCreateInput),
    )
    def product_create(_root: object, info: Info, input: dict[str, Any]) -> ProductCreate:
        values = Said(**without_constants("ProductCreateInput", input))
        product = create_product(*info.context.caller, values)
        return ProductCreate(product=product)

    @mutation(
        "Updates a product. Omitted fields keep their values. Requires MANAGE_PRODUCTS.",
        id=_ID,
        input=graphene.NonNull(ProductInput),
    )
    def product_update(_root: object, info: Info, id: str, input: dict[str, Any]) -> ProductUpdate:
        values = Said(**without_constants("ProductInput", input))
        product = update_product(*info.context.caller, id, values)
        return ProductUpdate(product=product)

    @mutation(
        "Deletes a product. Orders keep its details, and checkouts that contain it can "
        "no longer be completed. Requires MANAGE_PRODUCTS.",
        id=_ID,
    )
    def product_delete(_root: object, info: Info, id: str) -> ProductDelete:
        return ProductDelete(product=delete_product(*info.context.caller, id))


_UNUSED = "Returned as the products' `channel`, and otherwise ignored."


class _Stock(StrEnum):
    IN_STOCK = "IN_STOCK"
    OUT_OF_STOCK = "OUT_OF_STOCK"


StockAvailability = graphene.Enum.from_enum(
    _Stock, name="StockAvailability", description="Whether a product can be bought."
)


class _ProductConditions(graphene.InputObjectType):
    """What both inputs for finding products have."""

    ids = graphene.List(graphene.NonNull(graphene.ID))
    is_published = graphene.Boolean()
    is_available = graphene.Boolean(description="Whether it is published and has a price.")
    is_visible_in_listing = graphene.Boolean(description="Same as `isPublished`.")
    stock_availability = graphene.InputField(
        StockAvailability, description="Stock isn't kept: all products are IN_STOCK."
    )
    has_category = graphene.Boolean(description="No product has a category here.")
    gift_card = graphene.Boolean(description="No product is a gift card here.")
    has_preordered_variants = graphene.Boolean(description="No product has variants here.")


class ProductFilterInput(_ProductConditions):
    """Filters for products."""

    search = graphene.String(description="Matches part of the name, ignoring case and accents.")
    slugs = graphene.List(graphene.NonNull(graphene.String))
    price = PriceRangeInput()
    updated_at = DateTimeRangeInput()


class ProductWhereInput(_ProductConditions):
    """Conditions on products, all of which must be met."""

    slug = StringFilterInput()
    price = DecimalFilterInput()
    AND = graphene.List(graphene.NonNull(lambda: ProductWhereInput), description="All of these.")
    OR = graphene.List(graphene.NonNull(lambda: ProductWhereInput), description="One of these.")


ProductOrder = connections.sorting_input(
    "ProductOrder", "products", "app.graphql.types.products.ProductOrderField"
)


ProductCountableConnection = connections.make_connection("Product", _PRODUCT)


class ProductQueries(graphene.ObjectType):
    """What the shop sells."""

    @query(
        _PRODUCT,
        description="A product by ID or slug. Unpublished products require MANAGE_PRODUCTS.",
        id=graphene.ID(),
        slug=graphene.String(),
        channel=graphene.String(description=_UNUSED),
    )
    def product(
        _root: object,
        info: Info,
        id: str | None = None,
        slug: str | None = None,
        channel: str | None = None,
    ) -> Product | None:
        product = show_product(*info.context.caller, product_id=id, slug=slug)
        return None if product is None else in_channel(product, channel)

    @query(
        ProductCountableConnection,
        filter=ProductFilterInput(),
        where=ProductWhereInput(description="Return only products that match."),
        sort_by=ProductOrder(),
        search=graphene.String(description="Same as `search` in the filter."),
        channel=graphene.String(description=_UNUSED),
        **connections.connection_arguments(),
        description="Published products, and with MANAGE_PRODUCTS unpublished ones too.",
    )
    def products(_root: object, info: Info, **arguments: Any) -> Page[Product]:
        page = connections.page_request("products", arguments)
        filter_ = arguments.get("filter") or {}
        sort, where = arguments.get("sort_by") or {}, arguments.get("where")
        found = list_products(
            *info.context.caller,
            page,
            _product_filter(filter_, arguments.get("search")),
            SORT_FIELDS[sort["field"].value] if sort else None,
            where=None if where is None else connections.where_in(where, _product_where),
            descending=sort.get("direction") is Direction.DESC,
        )
        channel = arguments.get("channel")
        return with_items(found, (in_channel(product, channel) for product in found.items))


def _product_where(sent: Mapping[str, Any]) -> ProductFilter:
    """Return the conditions of a ``ProductWhereInput`` but for its ``AND`` and ``OR``."""
    price, prices = connections.range_or_chosen(sent.get("price"))
    slugs = connections.chosen_in(sent.get("slug"))
    return replace(_conditions(sent), slugs=slugs, price=price, prices=prices)


def _product_filter(filter_: dict[str, Any], search: str | None) -> ProductFilter:
    return replace(
        _conditions(filter_),
        search=search or filter_.get("search") or "",
        slugs=connections.values_in(filter_.get("slugs")),
        price=connections.prices_in(filter_.get("price")),
        updated_at=connections.times_in(filter_.get("updated_at")),
    )


_NEVER = ("has_category", "gift_card", "has_preordered_variants")


def _conditions(sent: Mapping[str, Any]) -> ProductFilter:
    """Return what ``_ProductConditions`` means."""
    published, listed = sent.get("is_published"), sent.get("is_visible_in_listing")
    opposite = published is not None and listed is not None and published is not listed
    return ProductFilter(
        ids=connections.values_in(sent.get("ids")),
        is_published=listed if published is None else published,
        is_available=sent.get("is_available"),
        has_other=opposite
        or sent.get("stock_availability") is _Stock.OUT_OF_STOCK
        or any(sent.get(name) for name in _NEVER),
    )
