"""Channels."""

import graphene

from app.domain.accounts.addresses import Country, country_of
from app.domain.commerce import channels as domain
from app.graphql.connections import Node
from app.graphql.context import Info
from app.graphql.fields import own_id
from app.graphql.metadata_fields import ObjectWithMetadata
from app.graphql.unavailable import with_unavailable
from app.services.commerce.channels import show_channel_details

_FOR_STAFF = "For staff and apps."


class AllocationStrategyEnum(graphene.Enum):
    """From which warehouses Saleor takes goods first. There are no warehouses here."""

    PRIORITIZE_SORTING_ORDER = "prioritize-sorting-order"
    PRIORITIZE_HIGH_STOCK = "prioritize-high-stock"


class StockSettings(graphene.ObjectType):
    """How Saleor allocates stock in a channel."""

    allocation_strategy = graphene.NonNull(
        AllocationStrategyEnum,
        description="Always PRIORITIZE_SORTING_ORDER, Saleor's default: there are no warehouses.",
    )


@with_unavailable
class Channel(graphene.ObjectType):
    """A channel: a place where the shop sells. Carts and orders belong to one."""

    class Meta:
        interfaces = (Node, ObjectWithMetadata)

    id = own_id("Channel")
    slug = graphene.NonNull(graphene.String, description="The name that clients send.")
    name = graphene.NonNull(graphene.String, description=f"The name. {_FOR_STAFF}")
    is_active = graphene.NonNull(
        graphene.Boolean, description=f"Whether carts can be created in it. {_FOR_STAFF}"
    )
    currency_code = graphene.NonNull(
        graphene.String, description=f"The currency by its code of ISO 4217. {_FOR_STAFF}"
    )
    has_orders = graphene.NonNull(
        graphene.Boolean, description="Whether it has orders. Requires MANAGE_CHANNELS."
    )
    default_country = graphene.NonNull(
        "app.graphql.types.addresses.CountryDisplay",
        description=f"The country that it is meant for. {_FOR_STAFF}",
    )
    stock_settings = graphene.NonNull(
        StockSettings, description=f"How stock is allocated. {_FOR_STAFF}"
    )

    def resolve_name(self: domain.Channel, info: Info) -> str:
        return _details(self, info).name

    def resolve_is_active(self: domain.Channel, info: Info) -> bool:
        return _details(self, info).is_active

    def resolve_currency_code(self: domain.Channel, info: Info) -> str:
        return _details(self, info).currency

    def resolve_has_orders(self: domain.Channel, info: Info) -> bool:
        return self.id in info.context.loaders(info).channels.with_orders

    def resolve_default_country(self: domain.Channel, info: Info) -> Country:
        return country_of(_details(self, info).country)

    def resolve_stock_settings(self: domain.Channel, info: Info) -> StockSettings:
        _details(self, info)
        strategy = AllocationStrategyEnum.PRIORITIZE_SORTING_ORDER
        return StockSettings(allocation_strategy=strategy)


def _details(channel: domain.Channel, info: Info) -> domain.Channel:
    """Return the channel; raises ``PermissionDenied`` to callers who see its slug alone."""
    return show_channel_details(info.context.ports, info.context.actor, channel)
