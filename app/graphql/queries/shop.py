"""Queries about the shop."""

import graphene

from app.domain.shop.settings import PublicShop
from app.graphql.context import Info


class ShopQueries(graphene.ObjectType):
    """The shop."""

    shop = graphene.NonNull(
        "app.graphql.types.shop.Shop",
        description=(
            "The shop and its settings. Anyone can read it; some fields need a permission."
        ),
    )

    @staticmethod
    def resolve_shop(_root: object, info: Info) -> PublicShop:
        return info.context.identity.shop
