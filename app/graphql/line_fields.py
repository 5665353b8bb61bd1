"""The fields that checkout lines and order lines share."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.commerce import products as domain
from app.domain.commerce.money import Money

_MONEY = "app.graphql.types.money.TaxedMoney"


class Line:
    """The fields of a line, for the type that it is."""

    id = graphene.NonNull(graphene.ID)
    product = graphene.Field(
        "app.graphql.types.products.Product", description="Null if the product was deleted."
    )
    product_name = graphene.NonNull(graphene.String)
    quantity = graphene.NonNull(graphene.Int)
    unit_price = graphene.NonNull(_MONEY)
    total_price = graphene.NonNull(_MONEY)

    def resolve_total_price(self: domain.Line, _info: GraphQLResolveInfo) -> Money:  # type: ignore[misc]
        return self.total
