"""What is wrong with the input of a mutation about apps."""

import graphene

AppErrorCode = graphene.Enum(
    "AppErrorCode",
    {
        name: name
        for name in (
            "FORBIDDEN",
            "GRAPHQL_ERROR",
            "INVALID",
            "INVALID_STATUS",
            "INVALID_PERMISSION",
            "INVALID_URL_FORMAT",
            "INVALID_MANIFEST_FORMAT",
            "INVALID_CUSTOM_HEADERS",
            "DUPLICATED_EXTENSION_IDENTIFIER",
            "DUPLICATED_WEBHOOK_IDENTIFIER",
            "MANIFEST_URL_CANT_CONNECT",
            "NOT_FOUND",
            "REQUIRED",
            "UNIQUE",
            "OUT_OF_SCOPE_APP",
            "OUT_OF_SCOPE_PERMISSION",
            "UNSUPPORTED_SALEOR_VERSION",
        )
    },
    description="Why a mutation about apps was refused, or what is wrong with a manifest.",
)


class AppError(graphene.ObjectType):
    """Why a mutation about apps changed nothing."""

    field = graphene.String(description="The input at fault, or the manifest's key.")
    message = graphene.String()
    code = graphene.NonNull(AppErrorCode)
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.PermissionEnum"),
        description="Those that the code is about.",
    )
