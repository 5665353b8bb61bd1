"""The error codes of mutations: each enum's, declared once."""

import graphene


def _codes(name: str, description: str, codes: str) -> type[graphene.Enum]:
    members = {code: code for code in codes.split()}
    enum: type[graphene.Enum] = graphene.Enum(name, members, description=description)
    return enum


_READING = """
    GRAPHQL_ERROR NOT_FOUND INVALID_ID MISSING_PERMISSION TYPE_NOT_SUPPORTED SYNTAX
    MISSING_SUBSCRIPTION UNABLE_TO_PARSE
"""
"""Errors of dry runs and triggers."""

AccountErrorCode = _codes(
    "AccountErrorCode",
    "Errors of account, session and staff mutations.",
    """
    ACTIVATE_OWN_ACCOUNT ACTIVATE_SUPERUSER_ACCOUNT DUPLICATED_INPUT_ITEM DEACTIVATE_OWN_ACCOUNT
    DEACTIVATE_SUPERUSER_ACCOUNT DELETE_NON_STAFF_USER DELETE_OWN_ACCOUNT DELETE_STAFF_ACCOUNT
    DELETE_SUPERUSER_ACCOUNT GRAPHQL_ERROR INACTIVE INVALID INVALID_PASSWORD INVALID_SECOND_FACTOR
    LEFT_NOT_MANAGEABLE_PERMISSION INVALID_CREDENTIALS NOT_FOUND OUT_OF_SCOPE_USER
    OUT_OF_SCOPE_GROUP OUT_OF_SCOPE_PERMISSION PASSWORD_ENTIRELY_NUMERIC PASSWORD_TOO_COMMON
    PASSWORD_TOO_SHORT PASSWORD_TOO_SIMILAR PASSWORD_RESET_ALREADY_REQUESTED REQUIRED UNIQUE
    JWT_SIGNATURE_EXPIRED JWT_INVALID_TOKEN JWT_DECODE_ERROR JWT_MISSING_TOKEN
    JWT_INVALID_CSRF_TOKEN CHANNEL_INACTIVE MISSING_CHANNEL_SLUG ACCOUNT_NOT_CONFIRMED
    LOGIN_ATTEMPT_DELAYED SECOND_FACTOR_REQUIRED DISABLED_AUTHENTICATION_METHOD UNKNOWN_IP_ADDRESS
    FILE_SIZE_LIMIT_EXCEEDED TOO_MANY_REQUESTS
    """,
)
CustomerBulkUpdateErrorCode = _codes(
    "CustomerBulkUpdateErrorCode",
    "Errors of changes of several customers.",
    "BLANK DUPLICATED_INPUT_ITEM GRAPHQL_ERROR INVALID REQUIRED UNIQUE NOT_FOUND MAX_LENGTH",
)
SendConfirmationEmailErrorCode = _codes(
    "SendConfirmationEmailErrorCode",
    "Errors of `sendConfirmationEmail`.",
    "INVALID ACCOUNT_CONFIRMED CONFIRMATION_ALREADY_REQUESTED MISSING_CHANNEL_SLUG",
)
ShopErrorCode = _codes(
    "ShopErrorCode",
    "Errors of shop settings.",
    """
    ALREADY_EXISTS CANNOT_FETCH_TAX_RATES GRAPHQL_ERROR INVALID NOT_FOUND REQUIRED UNIQUE
    PASSWORD_AUTH_RESTRICTION FILE_SIZE_LIMIT_EXCEEDED
    """,
)
ProductErrorCode = _codes(
    "ProductErrorCode",
    "Errors of product mutations.",
    "GRAPHQL_ERROR INVALID NOT_FOUND REQUIRED UNIQUE",
)
PluginErrorCode = _codes(
    "PluginErrorCode",
    "Errors of identity provider settings.",
    "GRAPHQL_ERROR INVALID PLUGIN_MISCONFIGURED NOT_FOUND REQUIRED UNIQUE",
)
PermissionGroupErrorCode = _codes(
    "PermissionGroupErrorCode",
    "Errors of permission group mutations.",
    """
    REQUIRED UNIQUE ASSIGN_NON_STAFF_MEMBER DUPLICATED_INPUT_ITEM CANNOT_REMOVE_FROM_LAST_GROUP
    LEFT_NOT_MANAGEABLE_PERMISSION OUT_OF_SCOPE_PERMISSION OUT_OF_SCOPE_USER OUT_OF_SCOPE_CHANNEL
    INVALID NOT_FOUND
    """,
)
ChannelErrorCode = _codes(
    "ChannelErrorCode",
    "Errors of channel mutations.",
    """
    ALREADY_EXISTS GRAPHQL_ERROR INVALID NOT_FOUND REQUIRED UNIQUE
    CHANNELS_CURRENCY_MUST_BE_THE_SAME CHANNEL_WITH_ORDERS DUPLICATED_INPUT_ITEM
    """,
)
AppErrorCode = _codes(
    "AppErrorCode",
    "Errors of app mutations and manifests.",
    """
    FORBIDDEN GRAPHQL_ERROR INVALID INVALID_STATUS INVALID_PERMISSION INVALID_URL_FORMAT
    INVALID_MANIFEST_FORMAT INVALID_CUSTOM_HEADERS DUPLICATED_EXTENSION_IDENTIFIER
    DUPLICATED_WEBHOOK_IDENTIFIER MANIFEST_URL_CANT_CONNECT NOT_FOUND REQUIRED UNIQUE
    OUT_OF_SCOPE_APP OUT_OF_SCOPE_PERMISSION UNSUPPORTED_SALEOR_VERSION
    """,
)
CheckoutErrorCode = _codes(
    "CheckoutErrorCode",
    "Errors of checkout mutations.",
    """
    CHANNEL_INACTIVE DUPLICATED_INPUT_ITEM EMAIL_NOT_SET GRAPHQL_ERROR INVALID MISSING_CHANNEL_SLUG
    NOT_FOUND NO_LINES PRODUCT_NOT_PUBLISHED PRODUCT_UNAVAILABLE_FOR_PURCHASE
    QUANTITY_GREATER_THAN_LIMIT REQUIRED ZERO_QUANTITY
    """,
)
OrderErrorCode = _codes(
    "OrderErrorCode",
    "Errors of order mutations.",
    "CANNOT_CANCEL_ORDER GRAPHQL_ERROR INVALID NOT_FOUND PAYMENT_ERROR REQUIRED",
)
MetadataErrorCode = _codes(
    "MetadataErrorCode",
    "Why a mutation about metadata was refused.",
    "GRAPHQL_ERROR INVALID NOT_FOUND REQUIRED NOT_UPDATED OUT_OF_SCOPE_APP OUT_OF_SCOPE_USER",
)
WebhookErrorCode = _codes(
    "WebhookErrorCode",
    "Errors of webhook and delivery mutations.",
    """
    GRAPHQL_ERROR INVALID NOT_FOUND REQUIRED UNIQUE DELETE_FAILED SYNTAX MISSING_SUBSCRIPTION
    UNABLE_TO_PARSE MISSING_EVENT INVALID_CUSTOM_HEADERS INVALID_NOTIFY_WITH_SUBSCRIPTION
    """,
)
WebhookDryRunErrorCode = _codes(
    "WebhookDryRunErrorCode", "Errors of dry runs.", f"{_READING} MISSING_EVENT"
)
WebhookTriggerErrorCode = _codes(
    "WebhookTriggerErrorCode",
    "Errors of webhook triggers.",
    f"{_READING} MISSING_QUERY MISSING_EVENT",
)
AppProblemCreateErrorCode = _codes(
    "AppProblemCreateErrorCode",
    "Errors of reports of apps about themselves.",
    "GRAPHQL_ERROR INVALID REQUIRED NOT_FOUND",
)
AppProblemDismissErrorCode = _codes(
    "AppProblemDismissErrorCode",
    "Errors of dismissing problems of apps.",
    "GRAPHQL_ERROR INVALID REQUIRED NOT_FOUND OUT_OF_SCOPE_APP",
)
