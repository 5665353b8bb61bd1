"""What is wrong with the input of a mutation about apps."""

import graphene


class AppError(graphene.ObjectType):
    """An error of an app mutation."""

    field = graphene.String(description="The invalid input or manifest key.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.AppErrorCode")
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.PermissionEnum"),
        description="The permissions the error is about.",
    )
