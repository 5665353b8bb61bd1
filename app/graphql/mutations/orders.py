"""What the staff does with orders."""

import graphene

from app.graphql.context import Info
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of
from app.services.commerce.orders import (
    cancel_order,
    confirm_order,
    fulfill_order,
    mark_order_paid,
)

_ID = graphene.NonNull(graphene.ID)


class _OrderPayload(MutationPayload):
    class Meta:
        abstract = True

    order = graphene.Field("app.graphql.types.orders.Order")
    errors = errors_of("problems.OrderError")


class OrderConfirm(_OrderPayload):
    """The confirmed order: `UNCONFIRMED` becomes `UNFULFILLED`."""


class OrderMarkAsPaid(_OrderPayload):
    """The order, marked as paid."""


class OrderCancel(_OrderPayload):
    """The canceled order. Fulfilled orders can't be canceled."""


class OrderFulfill(_OrderPayload):
    """The fulfilled order: `UNFULFILLED` becomes `FULFILLED`."""


class OrderMutations(graphene.ObjectType):
    """The steps of an order; they need MANAGE_ORDERS."""

    order_confirm = graphene.Field(
        OrderConfirm,
        description="Confirms a new order. Requires MANAGE_ORDERS.",
        id=_ID,
    )
    order_mark_as_paid = graphene.Field(
        OrderMarkAsPaid,
        description="Marks an order as paid outside the shop. No payment is made. Requires "
        "MANAGE_ORDERS.",
        id=_ID,
    )
    order_cancel = graphene.Field(
        OrderCancel,
        description="Cancels an order that hasn't been fulfilled. Requires MANAGE_ORDERS.",
        id=_ID,
    )
    order_fulfill = graphene.Field(
        OrderFulfill,
        description="Marks a confirmed order as fulfilled. Requires MANAGE_ORDERS.",
        order=_ID,
    )

    @staticmethod
    @answers(OrderConfirm)
    def resolve_order_confirm(_root: object, info: Info, id: str) -> OrderConfirm:
        return OrderConfirm(order=confirm_order(info.context.ports, info.context.actor, id))

    @staticmethod
    @answers(OrderMarkAsPaid)
    def resolve_order_mark_as_paid(_root: object, info: Info, id: str) -> OrderMarkAsPaid:
        return OrderMarkAsPaid(order=mark_order_paid(info.context.ports, info.context.actor, id))

    @staticmethod
    @answers(OrderCancel)
    def resolve_order_cancel(_root: object, info: Info, id: str) -> OrderCancel:
        return OrderCancel(order=cancel_order(info.context.ports, info.context.actor, id))

    @staticmethod
    @answers(OrderFulfill)
    def resolve_order_fulfill(_root: object, info: Info, order: str) -> OrderFulfill:
        return OrderFulfill(order=fulfill_order(info.context.ports, info.context.actor, order))
