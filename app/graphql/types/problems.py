"""The errors of mutations: one type and one enum per family."""

import graphene

AccountErrorCode = graphene.Enum(
    "AccountErrorCode",
    {
        name: name
        for name in (
            "ACTIVATE_OWN_ACCOUNT",
            "ACTIVATE_SUPERUSER_ACCOUNT",
            "DUPLICATED_INPUT_ITEM",
            "DEACTIVATE_OWN_ACCOUNT",
            "DEACTIVATE_SUPERUSER_ACCOUNT",
            "DELETE_NON_STAFF_USER",
            "DELETE_OWN_ACCOUNT",
            "DELETE_STAFF_ACCOUNT",
            "DELETE_SUPERUSER_ACCOUNT",
            "GRAPHQL_ERROR",
            "INACTIVE",
            "INVALID",
            "INVALID_PASSWORD",
            "LEFT_NOT_MANAGEABLE_PERMISSION",
            "INVALID_CREDENTIALS",
            "NOT_FOUND",
            "OUT_OF_SCOPE_USER",
            "OUT_OF_SCOPE_GROUP",
            "OUT_OF_SCOPE_PERMISSION",
            "PASSWORD_ENTIRELY_NUMERIC",
            "PASSWORD_TOO_COMMON",
            "PASSWORD_TOO_SHORT",
            "PASSWORD_TOO_SIMILAR",
            "PASSWORD_RESET_ALREADY_REQUESTED",
            "REQUIRED",
            "UNIQUE",
            "JWT_SIGNATURE_EXPIRED",
            "JWT_INVALID_TOKEN",
            "JWT_DECODE_ERROR",
            "JWT_MISSING_TOKEN",
            "JWT_INVALID_CSRF_TOKEN",
            "CHANNEL_INACTIVE",
            "MISSING_CHANNEL_SLUG",
            "ACCOUNT_NOT_CONFIRMED",
            "LOGIN_ATTEMPT_DELAYED",
            "DISABLED_AUTHENTICATION_METHOD",
            "UNKNOWN_IP_ADDRESS",
            "FILE_SIZE_LIMIT_EXCEEDED",
            "TOO_MANY_REQUESTS",
        )
    },
    description="Why a mutation about an account, a session or the staff was refused.",
)

ShopErrorCode = graphene.Enum(
    "ShopErrorCode",
    {
        name: name
        for name in (
            "ALREADY_EXISTS",
            "CANNOT_FETCH_TAX_RATES",
            "GRAPHQL_ERROR",
            "INVALID",
            "NOT_FOUND",
            "REQUIRED",
            "UNIQUE",
            "PASSWORD_AUTH_RESTRICTION",
        )
    },
    description="Why the shop's settings were not changed.",
)

ProductErrorCode = graphene.Enum(
    "ProductErrorCode",
    {name: name for name in ("GRAPHQL_ERROR", "INVALID", "NOT_FOUND", "REQUIRED", "UNIQUE")},
    description="Why a mutation about products was refused.",
)


PluginErrorCode = graphene.Enum(
    "PluginErrorCode",
    {
        name: name
        for name in (
            "GRAPHQL_ERROR",
            "INVALID",
            "PLUGIN_MISCONFIGURED",
            "NOT_FOUND",
            "REQUIRED",
            "UNIQUE",
        )
    },
    description="Why the settings of an identity provider were not changed.",
)


PermissionGroupErrorCode = graphene.Enum(
    "PermissionGroupErrorCode",
    {
        name: name
        for name in (
            "REQUIRED",
            "UNIQUE",
            "ASSIGN_NON_STAFF_MEMBER",
            "DUPLICATED_INPUT_ITEM",
            "CANNOT_REMOVE_FROM_LAST_GROUP",
            "LEFT_NOT_MANAGEABLE_PERMISSION",
            "OUT_OF_SCOPE_PERMISSION",
            "OUT_OF_SCOPE_USER",
            "OUT_OF_SCOPE_CHANNEL",
            "INVALID",
            "NOT_FOUND",
        )
    },
    description="Why a mutation about permission groups was refused.",
)

_PERMISSIONS = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))
_IDS = graphene.List(graphene.NonNull(graphene.ID))


class AccountError(graphene.ObjectType):
    """Why an account mutation changed nothing."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(AccountErrorCode)


class StaffError(graphene.ObjectType):
    """Why the staff was not changed; the lists name what the code is about."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(AccountErrorCode)
    permissions = _PERMISSIONS
    groups = _IDS
    users = _IDS


class PermissionGroupError(graphene.ObjectType):
    """Why a group was not made, changed or deleted; the lists name what the code is about."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(PermissionGroupErrorCode)
    permissions = _PERMISSIONS
    users = _IDS
    channels = graphene.List(
        graphene.NonNull(graphene.ID), description="Always null: there are no channels here."
    )


class ShopError(graphene.ObjectType):
    """Why the shop's settings were not changed."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(ShopErrorCode)


class ProductError(graphene.ObjectType):
    """Why a product was not made, changed or deleted."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(ProductErrorCode)


class PluginError(graphene.ObjectType):
    """Why a plugin was not changed."""

    field = graphene.String(description="The setting at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull(PluginErrorCode)
