"""What is wrong with the input of a mutation about carts and orders."""

import graphene

CheckoutErrorCode = graphene.Enum(
    "CheckoutErrorCode",
    {
        name: name
        for name in (
            "DUPLICATED_INPUT_ITEM",
            "EMAIL_NOT_SET",
            "GRAPHQL_ERROR",
            "INVALID",
            "NOT_FOUND",
            "NO_LINES",
            "PRODUCT_NOT_PUBLISHED",
            "PRODUCT_UNAVAILABLE_FOR_PURCHASE",
            "QUANTITY_GREATER_THAN_LIMIT",
            "REQUIRED",
            "ZERO_QUANTITY",
        )
    },
    description="Why a cart was not changed, or not ordered.",
)

OrderErrorCode = graphene.Enum(
    "OrderErrorCode",
    {
        name: name
        for name in (
            "CANNOT_CANCEL_ORDER",
            "GRAPHQL_ERROR",
            "INVALID",
            "NOT_FOUND",
            "PAYMENT_ERROR",
            "REQUIRED",
        )
    },
    description="Why a step was not taken with an order.",
)


class CheckoutError(graphene.ObjectType):
    """Why a cart was not changed, or not ordered."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(CheckoutErrorCode)


class OrderError(graphene.ObjectType):
    """Why a step was not taken with an order."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(OrderErrorCode)
