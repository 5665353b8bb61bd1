"""The errors of mutations: one type and one enum per family."""

import graphene

_PERMISSIONS = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))
_IDS = graphene.List(graphene.NonNull(graphene.ID))


class AccountError(graphene.ObjectType):
    """Why an account mutation changed nothing."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.AccountErrorCode")


class StaffError(graphene.ObjectType):
    """Why the staff was not changed; the lists name what the code is about."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.AccountErrorCode")
    permissions = _PERMISSIONS
    groups = _IDS
    users = _IDS


class PermissionGroupError(graphene.ObjectType):
    """Why a group was not made, changed or deleted; the lists name what the code is about."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.PermissionGroupErrorCode")
    permissions = _PERMISSIONS
    users = _IDS
    channels = graphene.List(
        graphene.NonNull(graphene.ID), description="Always null: there are no channels here."
    )


class ShopError(graphene.ObjectType):
    """Why the shop's settings were not changed."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.ShopErrorCode")


class ProductError(graphene.ObjectType):
    """Why a product was not made, changed or deleted."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.ProductErrorCode")


class PluginError(graphene.ObjectType):
    """Why a plugin was not changed."""

    field = graphene.String(description="The setting at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.PluginErrorCode")


class MetadataError(graphene.ObjectType):
    """Why metadata was not changed."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.MetadataErrorCode")
