"""What is wrong with the input of a mutation about apps."""

import graphene


class AppError(graphene.ObjectType):
    """Why a mutation about apps changed nothing."""

    field = graphene.String(description="The input at fault, or the manifest's key.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.AppErrorCode")
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.PermissionEnum"),
        description="Those that the code is about.",
    )
