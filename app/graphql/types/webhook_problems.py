"""What is wrong with the input of a mutation about webhooks."""

import graphene


class WebhookError(graphene.ObjectType):
    """An error of a webhook mutation."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.WebhookErrorCode")


class WebhookDryRunError(graphene.ObjectType):
    """An error of a dry run."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.WebhookDryRunErrorCode")


class WebhookTriggerError(graphene.ObjectType):
    """An error of a webhook trigger."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.WebhookTriggerErrorCode")
