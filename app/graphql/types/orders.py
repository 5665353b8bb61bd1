"""Carts and orders, and their lines."""

import graphene

from app.domain.accounts.users import User
from app.domain.commerce import products
from app.domain.commerce import sales as domain
from app.domain.commerce.channels import Channel
from app.domain.commerce.money import Money, of_units
from app.graphql.compatibility import constant
from app.graphql.connections import Node, make_connection
from app.graphql.context import Info
from app.graphql.fields import ObjectType, attribute, itself, own_id, part, text_or_null
from app.graphql.metadata_fields import ObjectWithMetadata
from app.graphql.unavailable import with_unavailable

_MONEY = "app.graphql.types.money.TaxedMoney"

_STATUSES = {
    "DRAFT": "Not placed yet. No order is that here.",
    "UNCONFIRMED": "Placed, and not confirmed by staff.",
    "UNFULFILLED": "Confirmed, and not sent.",
    "PARTIALLY_FULFILLED": "Sent in part. No order is that here.",
    "PARTIALLY_RETURNED": "Returned in part. No order is that here.",
    "RETURNED": "Returned. No order is that here.",
    "FULFILLED": "All items were sent.",
    "CANCELED": "Called off.",
    "EXPIRED": "Not paid in time. No order is that here.",
}
OrderStatus = graphene.Enum(
    "OrderStatus",
    [(name, name) for name in _STATUSES],
    description=lambda one: "The progress of an order." if one is None else _STATUSES[one.value],
)
OrderStatusFilter = graphene.Enum.from_enum(domain.OrderStatus, name="OrderStatusFilter")
PaymentChargeStatusEnum = graphene.Enum.from_enum(
    domain.PaymentStatus, name="PaymentChargeStatusEnum"
)
OrderSortField = graphene.Enum.from_enum(domain.OrderSortField, name="OrderSortField")


class OrderStatusEnumFilterInput(graphene.InputObjectType):
    """The status of orders."""

    eq = graphene.InputField(OrderStatus, description="This status.")
    one_of = graphene.List(graphene.NonNull(OrderStatus), description="One of these.")


class GlobalIDFilterInput(graphene.InputObjectType):
    """The global ID of an object."""

    eq = graphene.ID(description="This object.")
    one_of = graphene.List(graphene.NonNull(graphene.ID), description="One of these.")


class _OrderConditions:
    """What orders are looked for by."""

    ids = graphene.List(graphene.NonNull(graphene.ID))
    channel_id = GlobalIDFilterInput(description="The channel.")
    created_at = graphene.InputField(
        "app.graphql.types.lists.DateTimeRangeInput", description="When it was placed."
    )
    updated_at = graphene.InputField("app.graphql.types.lists.DateTimeRangeInput")
    status = OrderStatusEnumFilterInput()
    number = graphene.InputField(
        "app.graphql.types.lists.IntFilterInput", description="The order's number."
    )
    user_email = graphene.InputField(
        "app.graphql.types.lists.StringFilterInput", description="The buyer's email."
    )


class CustomerOrderWhereInput(_OrderConditions, graphene.InputObjectType):
    """Conditions on a customer's orders, all of which must be met."""

    AND = graphene.List(
        graphene.NonNull(lambda: CustomerOrderWhereInput), description="All of these."
    )
    OR = graphene.List(
        graphene.NonNull(lambda: CustomerOrderWhereInput), description="One of these."
    )


class OrderWhereInput(_OrderConditions, graphene.InputObjectType):
    """Conditions on orders, all of which must be met."""

    AND = graphene.List(graphene.NonNull(lambda: OrderWhereInput), description="All of these.")
    OR = graphene.List(graphene.NonNull(lambda: OrderWhereInput), description="One of these.")


class OrderChargeStatusEnum(graphene.Enum):
    """How much of an order is paid."""

    NONE = "none"
    PARTIAL = "partial"
    FULL = "full"
    OVERCHARGED = "overcharged"


def _zero(order: domain.OrderSummary, _info: Info) -> Money:
    return of_units(0, order.total.currency)


def _channel(sale: domain.OrderSummary | domain.Checkout, info: Info) -> Channel:
    return info.context.loaders(info).channels.by_key(sale.channel_id)


def _zero_field(reason: str) -> graphene.Field:
    """Return the field of an order that is always 0, in the order's currency."""
    return graphene.Field(
        graphene.NonNull("app.graphql.types.money.Money"),
        description=f"Always 0: {reason} elsewhere.",
        resolver=_zero,
    )


class _Line:
    """The fields that checkout lines and order lines share."""

    product = graphene.Field(
        "app.graphql.types.products.Product", description="Null if the product was deleted."
    )
    product_name = graphene.NonNull(graphene.String)
    quantity = graphene.NonNull(graphene.Int)
    unit_price = graphene.NonNull(_MONEY)
    total_price = graphene.NonNull(_MONEY, resolver=attribute("total"))


_PAID, _REFUNDED = "payments are made", "refunds are made"


@with_unavailable
class OrderLine(_Line, ObjectType, interfaces=(Node, ObjectWithMetadata)):
    """A product in an order, with its name and price at the time of the order."""

    id = own_id("OrderLine")
    quantity_fulfilled = graphene.NonNull(
        graphene.Int, description="How many were sent: orders are sent as a whole."
    )
    quantity_to_fulfill = graphene.NonNull(graphene.Int, description="How many weren't sent.")
    undiscounted_unit_price = graphene.NonNull(
        _MONEY,
        description="Same as `unitPrice`: discounts aren't given here.",
        resolver=attribute("unit_price"),
    )
    undiscounted_total_price = graphene.NonNull(
        _MONEY,
        description="Same as `totalPrice`: discounts aren't given here.",
        resolver=attribute("total"),
    )
    unit_discount = graphene.NonNull(
        "app.graphql.types.money.Money", description="Always 0: discounts aren't given here."
    )

    def resolve_unit_discount(self: products.Line, _info: Info) -> Money:
        return of_units(0, self.unit_price.currency)


def _lines(order: domain.OrderSummary, info: Info) -> tuple[domain.OrderLine, ...]:
    if isinstance(order, domain.Order):
        return order.lines
    return info.context.loaders(info).orders.lines(info, order)


@with_unavailable
class FulfillmentLine(ObjectType, interfaces=(Node,)):
    """A line of an order that was sent."""

    id = own_id("FulfillmentLine")
    order_line = graphene.Field(OrderLine, description="The line of the order.", resolver=itself)
    quantity = graphene.NonNull(graphene.Int)


@with_unavailable
class Fulfillment(ObjectType, interfaces=(Node, ObjectWithMetadata)):
    """What was sent of an order: all of it."""

    id = own_id("Fulfillment")
    fulfillment_order = graphene.NonNull(
        graphene.Int, description="Always 1.", resolver=lambda *_: 1
    )
    status = graphene.NonNull(
        graphene.String, description="Always FULFILLED.", resolver=lambda *_: "FULFILLED"
    )
    created = graphene.NonNull(
        graphene.DateTime,
        description="The order's last change: when it was sent isn't kept.",
        resolver=attribute("updated_at"),
    )
    lines = graphene.List(graphene.NonNull(FulfillmentLine), resolver=_lines)


@with_unavailable
class Order(ObjectType, interfaces=(Node, ObjectWithMetadata)):
    """An order."""

    id = own_id("Order")
    number = graphene.NonNull(graphene.String)
    status = graphene.NonNull(OrderStatus, resolver=part("status.value"))
    is_paid = graphene.NonNull(graphene.Boolean)
    payment_status = graphene.NonNull(PaymentChargeStatusEnum)
    user = graphene.Field(
        "app.graphql.types.users.User",
        description="The customer, if the caller can see them; null if the account was deleted.",
    )
    user_email = graphene.NonNull(graphene.String, description="Kept if the account is deleted.")
    lines = graphene.NonNull(graphene.List(graphene.NonNull(OrderLine)), resolver=_lines)
    total = graphene.NonNull(_MONEY)
    subtotal = graphene.NonNull(
        _MONEY, description="The price of all lines: the total.", resolver=attribute("total")
    )
    shipping_price = graphene.NonNull(
        _MONEY,
        description="Always 0: shipping isn't done here, and costs nothing.",
        resolver=_zero,
    )
    total_refunded = _zero_field(_REFUNDED)
    total_charged = graphene.NonNull(
        "app.graphql.types.money.Money", description="The total, if the order is paid, or 0."
    )
    total_balance = graphene.NonNull(
        "app.graphql.types.money.Money",
        description="What was paid, less the total: negative while the order isn't paid.",
    )
    total_authorized = _zero_field(_PAID)
    total_authorize_pending = _zero_field(_PAID)
    total_cancel_pending = _zero_field(_PAID)
    total_canceled = _zero_field(_PAID)
    total_charge_pending = _zero_field(_PAID)
    total_granted_refund = _zero_field(_REFUNDED)
    total_refund_pending = _zero_field(_REFUNDED)
    total_remaining_grant = _zero_field(_REFUNDED)
    undiscounted_total = graphene.NonNull(
        _MONEY,
        description="Same as `total`: discounts aren't given here.",
        resolver=attribute("total"),
    )
    fulfillments = graphene.NonNull(
        graphene.List(graphene.NonNull(Fulfillment)), description="One, if the order is fulfilled."
    )
    charge_status = graphene.NonNull(
        OrderChargeStatusEnum, description="How much of the order is paid: FULL or NONE."
    )
    channel = graphene.NonNull(
        "app.graphql.types.shop.Channel",
        description="Where the order was placed.",
        resolver=_channel,
    )
    created = graphene.NonNull(graphene.DateTime, resolver=attribute("created_at"))
    updated_at = graphene.NonNull(graphene.DateTime)
    invoices = constant(
        "Order.invoices",
        graphene.NonNull(graphene.List(graphene.NonNull("app.graphql.unavailable.Invoice"))),
    )

    def resolve_user(self: domain.OrderSummary, info: Info) -> User | None:
        own = info.context.identity.user
        if own is not None and own.id == self.user_id:
            return own
        if isinstance(self, domain.Order):
            return self.user
        return info.context.loaders(info).orders.buyer(info, self)

    def resolve_fulfillments(self: domain.OrderSummary, _info: Info) -> list[domain.OrderSummary]:
        return [self] if self.status is domain.OrderStatus.FULFILLED else []

    def resolve_total_charged(self: domain.OrderSummary, _info: Info) -> Money:
        return of_units(self.total.units if self.is_paid else 0, self.total.currency)

    def resolve_total_balance(self: domain.OrderSummary, _info: Info) -> Money:
        return of_units(0 if self.is_paid else -self.total.units, self.total.currency)

    def resolve_charge_status(self: domain.OrderSummary, _info: Info) -> object:
        return OrderChargeStatusEnum.FULL if self.is_paid else OrderChargeStatusEnum.NONE


OrderCountableConnection = make_connection("Order", "app.graphql.types.orders.Order")


class CheckoutLine(_Line, ObjectType, interfaces=(Node,)):
    """A product in a checkout, with its price when it was added."""

    id = own_id("CheckoutLine")


class Checkout(ObjectType, interfaces=(Node,)):
    """A checkout. Anyone with the ID of an anonymous checkout can access it."""

    id = own_id(
        "Checkout", "token", description="Unguessable; gives access to an anonymous checkout."
    )
    token = graphene.NonNull(graphene.String, description="The token in the ID.")
    email = text_or_null("email")
    lines = graphene.NonNull(graphene.List(graphene.NonNull(CheckoutLine)))
    quantity = graphene.NonNull(graphene.Int, description="Total quantity of all lines.")
    total_price = graphene.NonNull(_MONEY, resolver=attribute("total"))
    channel = graphene.NonNull(
        "app.graphql.types.shop.Channel", description="Where it was created.", resolver=_channel
    )
    created = graphene.NonNull(graphene.DateTime, resolver=attribute("created_at"))
    updated_at = graphene.NonNull(graphene.DateTime)


CheckoutCountableConnection = make_connection("Checkout", "app.graphql.types.orders.Checkout")
