"""What is wrong with the input of a mutation about carts and orders."""

import graphene


class CheckoutError(graphene.ObjectType):
    """Why a cart was not changed, or not ordered."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.CheckoutErrorCode")


class OrderError(graphene.ObjectType):
    """Why a step was not taken with an order."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.OrderErrorCode")
