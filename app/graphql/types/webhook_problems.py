"""What is wrong with the input of a mutation about webhooks."""

import graphene

_READING = (
    "GRAPHQL_ERROR",
    "NOT_FOUND",
    "INVALID_ID",
    "MISSING_PERMISSION",
    "TYPE_NOT_SUPPORTED",
    "SYNTAX",
    "MISSING_SUBSCRIPTION",
    "UNABLE_TO_PARSE",
)


def _codes(name: str, description: str, *codes: str) -> type[graphene.Enum]:
    members = {code: code for code in codes}
    enum: type[graphene.Enum] = graphene.Enum(name, members, description=description)
    return enum


WebhookErrorCode = _codes(
    "WebhookErrorCode",
    "Why a mutation about webhooks or deliveries was refused.",
    "GRAPHQL_ERROR",
    "INVALID",
    "NOT_FOUND",
    "REQUIRED",
    "UNIQUE",
    "DELETE_FAILED",
    "SYNTAX",
    "MISSING_SUBSCRIPTION",
    "UNABLE_TO_PARSE",
    "MISSING_EVENT",
    "INVALID_CUSTOM_HEADERS",
    "INVALID_NOTIFY_WITH_SUBSCRIPTION",
)
WebhookDryRunErrorCode = _codes(
    "WebhookDryRunErrorCode", "Why a dry run made no payload.", *_READING, "MISSING_EVENT"
)
WebhookTriggerErrorCode = _codes(
    "WebhookTriggerErrorCode",
    "Why a webhook was sent nothing.",
    *_READING,
    "MISSING_QUERY",
    "MISSING_EVENT",
)


class WebhookError(graphene.ObjectType):
    """Why a webhook was not made, changed or deleted."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(WebhookErrorCode)


class WebhookDryRunError(graphene.ObjectType):
    """Why there is no payload."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(WebhookDryRunErrorCode)


class WebhookTriggerError(graphene.ObjectType):
    """Why nothing was sent."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(WebhookTriggerErrorCode)
