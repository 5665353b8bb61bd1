"""Products."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.commerce import products as domain
from app.domain.values.ids import to_global_id

ProductOrderField = graphene.Enum.from_enum(domain.ProductSortField, name="ProductOrderField")


class Product(graphene.ObjectType):
    """Something that the shop sells."""

    id = graphene.NonNull(graphene.ID)
    name = graphene.NonNull(graphene.String)
    slug = graphene.NonNull(graphene.String, description="Its name in addresses, unique.")
    description = graphene.String()
    price = graphene.Field(
        "app.graphql.types.money.Money",
        description="What one costs; without a price it cannot be put into a cart.",
    )
    is_published = graphene.NonNull(
        graphene.Boolean,
        description="Whether everybody sees it, or only who holds MANAGE_PRODUCTS.",
    )
    created = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)

    def resolve_id(self: domain.Product, _info: GraphQLResolveInfo) -> str:
        return to_global_id("Product", self.id)

    def resolve_created(self: domain.Product, _info: GraphQLResolveInfo) -> object:
        return self.created_at
