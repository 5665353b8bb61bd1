"""The errors of mutations: one type and one enum per family."""

from typing import Any

import graphene

from app.graphql.fields import MutationError, attribute, part_or_null
from app.graphql.unavailable import with_unavailable


def _ids(name: str, **options: Any) -> graphene.Field:
    """Return the field with the IDs that the problem names; null for none."""
    of_ids = graphene.List(graphene.NonNull(graphene.ID))
    return graphene.Field(of_ids, resolver=part_or_null(name), **options)


_PERMISSIONS = graphene.List(
    graphene.NonNull("app.graphql.types.permissions.PermissionEnum"),
    resolver=part_or_null("permissions"),
)
_GROUPS, _USERS = _ids("groups"), _ids("users")
_ADDRESS_TYPE = graphene.Field(
    "app.graphql.types.addresses.AddressTypeEnum",
    description="Which address the error is about, if the input has an address of each type.",
    resolver=part_or_null("address_type"),
)


class AccountError(graphene.ObjectType):
    """An error of an account mutation."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.AccountErrorCode")
    address_type = _ADDRESS_TYPE


class CustomerBulkUpdateError(graphene.ObjectType):
    """An error of a change of one of several customers."""

    path = graphene.String(
        description="The invalid input, such as `input.email`.", resolver=attribute("field")
    )
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.CustomerBulkUpdateErrorCode")


class SendConfirmationEmailError(MutationError, graphene.ObjectType):
    """Why no link was sent."""

    code = graphene.NonNull("app.graphql.types.error_codes.SendConfirmationEmailErrorCode")


class StaffError(graphene.ObjectType):
    """An error of a staff mutation, with the items it is about."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.AccountErrorCode")
    permissions = _PERMISSIONS
    groups = _GROUPS
    users = _USERS
    address_type = _ADDRESS_TYPE


class PermissionGroupError(graphene.ObjectType):
    """An error of a permission group mutation, with the items it is about."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()
    code = graphene.NonNull("app.graphql.types.error_codes.PermissionGroupErrorCode")
    permissions = _PERMISSIONS
    users = _USERS
    channels = _ids("channels", description="The channels that the problem is about.")


class ChannelError(MutationError, graphene.ObjectType):
    """An error of a channel mutation."""

    code = graphene.NonNull("app.graphql.types.error_codes.ChannelErrorCode")


class ShopError(MutationError, graphene.ObjectType):
    """Errors of shop settings."""

    code = graphene.NonNull("app.graphql.types.error_codes.ShopErrorCode")


@with_unavailable
class ProductError(MutationError, graphene.ObjectType):
    """An error of a product mutation."""

    code = graphene.NonNull("app.graphql.types.error_codes.ProductErrorCode")


class PluginError(MutationError, graphene.ObjectType):
    """An error of a plugin mutation."""

    field = graphene.String(description="The invalid setting, if a single one caused the error.")
    code = graphene.NonNull("app.graphql.types.error_codes.PluginErrorCode")


class MetadataError(MutationError, graphene.ObjectType):
    """Why metadata was not changed."""

    field = graphene.String(description="The input at fault, if it is one alone.")
    code = graphene.NonNull("app.graphql.types.error_codes.MetadataErrorCode")


class CheckoutError(MutationError, graphene.ObjectType):
    """Errors of checkout mutations."""

    code = graphene.NonNull("app.graphql.types.error_codes.CheckoutErrorCode")


@with_unavailable
class OrderError(MutationError, graphene.ObjectType):
    """Errors of order mutations."""

    code = graphene.NonNull("app.graphql.types.error_codes.OrderErrorCode")


class WebhookError(MutationError, graphene.ObjectType):
    """An error of a webhook mutation."""

    code = graphene.NonNull("app.graphql.types.error_codes.WebhookErrorCode")


class WebhookDryRunError(MutationError, graphene.ObjectType):
    """An error of a dry run."""

    code = graphene.NonNull("app.graphql.types.error_codes.WebhookDryRunErrorCode")


class WebhookTriggerError(MutationError, graphene.ObjectType):
    """An error of a webhook trigger."""

    code = graphene.NonNull("app.graphql.types.error_codes.WebhookTriggerErrorCode")
