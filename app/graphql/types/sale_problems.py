"""What is wrong with the input of a mutation about carts and orders."""

import graphene


class CheckoutError(graphene.ObjectType):
    """Errors of checkout mutations."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.CheckoutErrorCode")


class OrderError(graphene.ObjectType):
    """Errors of order mutations."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.OrderErrorCode")
