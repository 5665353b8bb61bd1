"""Products."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.commerce import products as domain
from app.domain.values.ids import to_global_id

ProductOrderField = graphene.Enum.from_enum(domain.ProductSortField, name="ProductOrderField")


class Product(graphene.ObjectType):
    """A product of the shop."""

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
    created = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)

    def resolve_id(self: domain.Product, _info: GraphQLResolveInfo) -> str:
        return to_global_id("Product", self.id)

    def resolve_created(self: domain.Product, _info: GraphQLResolveInfo) -> object:
        return self.created_at
