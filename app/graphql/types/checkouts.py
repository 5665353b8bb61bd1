"""Carts and their lines."""

import graphene

from app.domain.commerce import products
from app.domain.commerce import sales as domain
from app.domain.commerce.channels import Channel
from app.domain.commerce.money import Money
from app.domain.values.ids import to_global_id
from app.graphql.connections import Node, make_connection
from app.graphql.context import Info
from app.graphql.line_fields import Line

_MONEY = "app.graphql.types.money.TaxedMoney"


class CheckoutLine(Line, graphene.ObjectType):
    """A product in a checkout, with its price when it was added."""

    class Meta:
        interfaces = (Node,)

    def resolve_id(self: products.Line, _info: Info) -> str:
        return to_global_id("CheckoutLine", self.id)


class Checkout(graphene.ObjectType):
    """A checkout. Anyone with the ID of an anonymous checkout can access it."""

    class Meta:
        interfaces = (Node,)

    id = graphene.NonNull(
        graphene.ID, description="Unguessable; gives access to an anonymous checkout."
    )
    token = graphene.NonNull(graphene.String, description="The token in the ID.")
    email = graphene.String()
    lines = graphene.NonNull(graphene.List(graphene.NonNull(CheckoutLine)))
    quantity = graphene.NonNull(graphene.Int, description="Total quantity of all lines.")
    total_price = graphene.NonNull(_MONEY)
    channel = graphene.NonNull(
        "app.graphql.types.channels.Channel", description="Where it was created."
    )
    created = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)

    def resolve_id(self: domain.Checkout, _info: Info) -> str:
        return to_global_id("Checkout", self.token)

    def resolve_email(self: domain.Checkout, _info: Info) -> str | None:
        return self.email or None

    def resolve_total_price(self: domain.Checkout, _info: Info) -> Money:
        return self.total

    def resolve_channel(self: domain.Checkout, info: Info) -> Channel:
        return info.context.loaders(info).channels.of(self.channel_id)

    def resolve_created(self: domain.Checkout, _info: Info) -> object:
        return self.created_at


CheckoutCountableConnection = make_connection("Checkout", "app.graphql.types.checkouts.Checkout")
