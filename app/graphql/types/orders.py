"""Orders and their lines."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.accounts.users import User
from app.domain.commerce import products
from app.domain.commerce import sales as domain
from app.domain.commerce.channels import Channel
from app.domain.values.ids import to_global_id
from app.graphql.compatibility import constant
from app.graphql.connections import make_connection
from app.graphql.context import RequestContext
from app.graphql.line_fields import Line

_MONEY = "app.graphql.types.money.TaxedMoney"

OrderStatus = graphene.Enum.from_enum(domain.OrderStatus, name="OrderStatus")
OrderStatusFilter = graphene.Enum.from_enum(domain.OrderStatus, name="OrderStatusFilter")
PaymentChargeStatusEnum = graphene.Enum.from_enum(
    domain.PaymentStatus, name="PaymentChargeStatusEnum"
)
OrderSortField = graphene.Enum.from_enum(domain.OrderSortField, name="OrderSortField")


class OrderLine(Line, graphene.ObjectType):
    """A product in an order, with its name and price at the time of the order."""

    def resolve_id(self: products.Line, _info: GraphQLResolveInfo) -> str:
        return to_global_id("OrderLine", self.id)


class Order(graphene.ObjectType):
    """An order."""

    id = graphene.NonNull(graphene.ID)
    number = graphene.NonNull(graphene.String)
    status = graphene.NonNull(OrderStatus)
    is_paid = graphene.NonNull(graphene.Boolean)
    payment_status = graphene.NonNull(PaymentChargeStatusEnum)
    user = graphene.Field(
        "app.graphql.types.users.User",
        description="The customer, if the caller can see them; null if the account was deleted.",
    )
    user_email = graphene.NonNull(graphene.String, description="Kept if the account is deleted.")
    lines = graphene.NonNull(graphene.List(graphene.NonNull(OrderLine)))
    total = graphene.NonNull(_MONEY)
    channel = graphene.NonNull(
        "app.graphql.types.channels.Channel", description="Where the order was placed."
    )
    created = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)
    invoices = constant(
        "Order.invoices",
        graphene.NonNull(graphene.List(graphene.NonNull("app.graphql.types.unavailable.Invoice"))),
    )

    def resolve_id(self: domain.OrderSummary, _info: GraphQLResolveInfo) -> str:
        return to_global_id("Order", self.id)

    def resolve_user(self: domain.OrderSummary, info: GraphQLResolveInfo) -> User | None:
        context: RequestContext = info.context
        own = context.identity.user
        if own is not None and own.id == self.user_id:
            return own
        if isinstance(self, domain.Order):
            return self.user
        return context.loaders(info).orders.buyer(info, self)

    def resolve_lines(
        self: domain.OrderSummary, info: GraphQLResolveInfo
    ) -> tuple[domain.OrderLine, ...]:
        context: RequestContext = info.context
        if isinstance(self, domain.Order):
            return self.lines
        return context.loaders(info).orders.lines(info, self)

    def resolve_channel(self: domain.OrderSummary, info: GraphQLResolveInfo) -> Channel:
        context: RequestContext = info.context
        return context.loaders(info).channels.of(self.channel_id)

    def resolve_created(self: domain.OrderSummary, _info: GraphQLResolveInfo) -> object:
        return self.created_at


OrderCountableConnection = make_connection("Order", "app.graphql.types.orders.Order")
