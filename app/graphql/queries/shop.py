"""Queries about the shop."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.shop.settings import Shop
from app.graphql.context import RequestContext


class ShopQueries(graphene.ObjectType):
    """What the shop is."""

    shop = graphene.NonNull(
        "app.graphql.types.shop.Shop",
        description=(
            "The shop and its settings. Anybody may ask; some of its fields need a permission."
        ),
    )

    @staticmethod
    def resolve_shop(_root: object, info: GraphQLResolveInfo) -> Shop:
        context: RequestContext = info.context
        return context.identity.shop
