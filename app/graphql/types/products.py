"""Products."""

from dataclasses import dataclass, fields

import graphene

from app.domain.commerce import products as domain
from app.domain.values.ids import to_global_id
from app.graphql.connections import Node
from app.graphql.context import Info

ProductOrderField = graphene.Enum.from_enum(domain.ProductSortField, name="ProductOrderField")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductInChannel(domain.Product):
    """A product, and the channel that it was requested in."""

    channel: str


def in_channel(product: domain.Product, channel: str | None) -> domain.Product:
    """Return ``product`` as it was requested in a channel, if it was."""
    if channel is None:
        return product
    values = {field.name: getattr(product, field.name) for field in fields(product)}
    return ProductInChannel(**values, channel=channel)


class Product(graphene.ObjectType):
    """A product of the shop."""

    class Meta:
        interfaces = (Node,)

    id = graphene.NonNull(graphene.ID)
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
    channel = graphene.String(
        description="The channel that the product was requested in; null for none."
    )
    created = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)

    def resolve_id(self: domain.Product, _info: Info) -> str:
        return to_global_id("Product", self.id)

    def resolve_channel(self: domain.Product, _info: Info) -> str | None:
        return self.channel if isinstance(self, ProductInChannel) else None

    def resolve_created(self: domain.Product, _info: Info) -> object:
        return self.created_at
