"""What is wrong with the input of a mutation about webhooks."""

import graphene


class WebhookError(graphene.ObjectType):
    """Why a webhook was not made, changed or deleted."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.WebhookErrorCode")


class WebhookDryRunError(graphene.ObjectType):
    """Why there is no payload."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.WebhookDryRunErrorCode")


class WebhookTriggerError(graphene.ObjectType):
    """Why nothing was sent."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.WebhookTriggerErrorCode")
