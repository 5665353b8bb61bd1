"""Queries about carts and orders."""

from typing import Any

import graphene

from app.domain.commerce.channels import Channel
from app.domain.commerce.sales import Checkout, Order, OrderSummary
from app.domain.values.pages import Page
from app.graphql.connections import connection_arguments, page_request
from app.graphql.context import Info
from app.graphql.line_fields import order_where
from app.graphql.types.lists import (
    DateRangeInput,
    DateTimeRangeInput,
    Direction,
    days_in,
    moments_in,
)
from app.services.commerce.channels import list_channels, show_channel
from app.services.commerce.checkouts import list_checkouts, show_checkout
from app.services.commerce.orders import OrderFilter, list_orders, show_order

_ID = graphene.NonNull(graphene.ID)


class OrderFilterInput(graphene.InputObjectType):
    """Filters for orders."""

    search = graphene.String(description="An order number, or the beginning of an email.")
    customer = graphene.String(description="The beginning of an email.")
    ids = graphene.List(graphene.NonNull(graphene.ID))
    status = graphene.List(graphene.NonNull("app.graphql.types.orders.OrderStatusFilter"))
    payment_status = graphene.List(
        graphene.NonNull("app.graphql.types.orders.PaymentChargeStatusEnum")
    )
    created = DateRangeInput()
    updated_at = DateTimeRangeInput()


class OrderSortingInput(graphene.InputObjectType):
    """Sort order of orders."""

    direction = graphene.InputField("app.graphql.types.lists.OrderDirection", required=True)
    field = graphene.InputField("app.graphql.types.orders.OrderSortField", required=True)


class SaleQueries(graphene.ObjectType):
    """Channels, carts and orders."""

    channels = graphene.Field(
        graphene.List(graphene.NonNull("app.graphql.types.channels.Channel")),
        description="All channels, by slug. For staff and apps.",
    )
    channel = graphene.Field(
        "app.graphql.types.channels.Channel",
        id=graphene.ID(),
        slug=graphene.String(),
        description="A channel by ID or slug. Inactive ones are for staff and apps.",
    )

    checkout = graphene.Field(
        "app.graphql.types.checkouts.Checkout",
        description=(
            "The caller's or an anonymous checkout by ID; null once the order is placed. "
            "Checkouts of others require MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
    )
    order = graphene.Field(
        "app.graphql.types.orders.Order",
        id=_ID,
        description="An order of the caller, or any order with MANAGE_ORDERS.",
    )
    orders = graphene.Field(
        "app.graphql.types.orders.OrderCountableConnection",
        filter=OrderFilterInput(),
        sort_by=OrderSortingInput(),
        where=graphene.Argument(
            "app.graphql.types.orders.OrderWhereInput",
            description="Return only orders that match.",
        ),
        search=graphene.String(description="Same as `search` in the filter."),
        channel=graphene.String(description="The slug of a channel that the caller can access."),
        **connection_arguments(),
        description=(
            "The orders of all channels that the caller has access to, newest first. Requires "
            "MANAGE_ORDERS."
        ),
    )

    @staticmethod
    def resolve_channels(_root: object, info: Info) -> tuple[Channel, ...]:
        return list_channels(info.context.ports, info.context.actor)

    @staticmethod
    def resolve_channel(
        _root: object, info: Info, id: str | None = None, slug: str | None = None
    ) -> Channel | None:
        return show_channel(info.context.ports, info.context.actor, channel_id=id, slug=slug)

    checkouts = graphene.Field(
        "app.graphql.types.checkouts.CheckoutCountableConnection",
        channel=graphene.String(description="The slug of a channel."),
        **connection_arguments(),
        description=(
            "The open checkouts of all channels that the caller has access to, newest first. "
            "Requires MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
    )

    @staticmethod
    def resolve_checkouts(_root: object, info: Info, **arguments: Any) -> Page[Checkout]:
        request = page_request("checkouts", arguments)
        channel = arguments.get("channel") or ""
        return list_checkouts(info.context.ports, info.context.actor, request, channel)

    @staticmethod
    def resolve_checkout(_root: object, info: Info, id: str) -> Checkout | None:
        return show_checkout(info.context.ports, info.context.actor, id)

    @staticmethod
    def resolve_order(_root: object, info: Info, id: str) -> Order | None:
        return show_order(info.context.ports, info.context.actor, id)

    @staticmethod
    def resolve_orders(_root: object, info: Info, **arguments: Any) -> Page[OrderSummary]:
        sort, where = arguments.get("sort_by") or {}, arguments.get("where")
        filter_ = arguments.get("filter") or {}
        search = arguments.get("search") or filter_.get("search")
        page = list_orders(
            info.context.ports,
            info.context.actor,
            page_request("orders", arguments),
            _order_filter({**filter_, "search": search}, arguments.get("channel")),
            sort.get("field"),
            where=None if where is None else order_where(where),
            descending=sort.get("direction") is Direction.DESC,
        )
        info.context.loaders(info).orders.add_orders(info, page.items)
        return page


def _order_filter(filter_: dict[str, Any], channel: str | None) -> OrderFilter:
    ids, statuses, payments = (filter_.get(name) for name in ("ids", "status", "payment_status"))
    return OrderFilter(
        search=filter_.get("search") or "",
        customer=filter_.get("customer") or "",
        ids=None if ids is None else tuple(ids),
        statuses=None if statuses is None else tuple(statuses),
        payments=None if payments is None else tuple(payments),
        created_at=days_in(filter_.get("created")),
        updated_at=moments_in(filter_.get("updated_at")),
        channel=channel or "",
    )
