"""Products."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import graphene

from app.domain.commerce import products as domain
from app.domain.commerce.channels import MAX_SLUG_LENGTH
from app.domain.values.errors import Problem, Refused
from app.graphql.connections import Node
from app.graphql.context import Info
from app.graphql.fields import ObjectType, attribute, own_id
from app.graphql.metadata_fields import ObjectWithMetadata
from app.graphql.unavailable import with_unavailable

SORT_FIELDS: Mapping[str, domain.ProductSortField | None] = {
    **{field.value: field for field in domain.ProductSortField},
    "COLLECTION": None,
    "DATE": domain.ProductSortField.LAST_MODIFIED_AT,
    "LAST_MODIFIED": domain.ProductSortField.LAST_MODIFIED_AT,
    "MINIMAL_PRICE": domain.ProductSortField.PRICE,
    "PUBLICATION_DATE": domain.ProductSortField.CREATED_AT,
    "PUBLISHED": None,
    "PUBLISHED_AT": domain.ProductSortField.CREATED_AT,
    "RANK": None,
    "RATING": None,
    "TYPE": None,
}
"""What each of Saleor's sort fields sorts by; ``None`` is the order in which they were made."""


def _describe_sort(value: Any) -> str:
    if value is None:
        return "The sort orders of products."
    field = SORT_FIELDS[value.value]
    if field is None:
        return "The same for all products: they are sorted by their creation."
    if field.value != value.value:
        return f"Same as {field.value}."
    return f"By the product's {field.value.lower().replace('_', ' ')}."


ProductOrderField = graphene.Enum(
    "ProductOrderField", [(name, name) for name in SORT_FIELDS], description=_describe_sort
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductInChannel(domain.Product):
    """A product, and the channel that it was requested in."""

    channel: str


def in_channel(product: domain.Product, channel: str | None) -> domain.Product:
    """Return ``product`` as it was requested in a channel, if it was.

    Refuses INVALID for a text that is too long for a slug: each product of a page repeats it.
    """
    if channel is None:
        return product
    if len(channel) > MAX_SLUG_LENGTH:
        message = "Channel slugs have at most {max_length} characters."
        limit = {"max_length": MAX_SLUG_LENGTH}
        raise Refused(Problem("INVALID", message, "channel", values=limit))
    values = {field.name: getattr(product, field.name) for field in fields(product)}
    return ProductInChannel(**values, channel=channel)


@with_unavailable
class Product(ObjectType, interfaces=(Node, ObjectWithMetadata)):
    """A product of the shop."""

    id = own_id("Product")
    name = graphene.NonNull(graphene.String)
    slug = graphene.NonNull(graphene.String, description="Unique name for use in URLs.")
    description = graphene.String()
    price = graphene.Field(
        "app.graphql.types.money.Money",
        description="Unit price. A product without a price can't be added to a checkout.",
    )
    is_published = graphene.NonNull(
        graphene.Boolean,
        description="Whether everyone can see the product. Unpublished products require "
        "MANAGE_PRODUCTS.",
    )
    is_available = graphene.Boolean(
        description="Whether customers can buy it: it is published and has a price."
    )
    is_available_for_purchase = graphene.Boolean(
        description="Same as `isAvailable`.", resolver=attribute("is_available")
    )
    channel = graphene.String(
        description="The channel that the product was requested in; null for none."
    )
    created = graphene.NonNull(graphene.DateTime, resolver=attribute("created_at"))
    updated_at = graphene.NonNull(graphene.DateTime)

    def resolve_channel(self: domain.Product, _info: Info) -> str | None:
        return self.channel if isinstance(self, ProductInChannel) else None
