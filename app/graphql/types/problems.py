"""The errors of mutations: one type and one enum per family."""

from typing import Any

import graphene

from app.graphql.fields import attribute, error_type, part_or_null
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


SendConfirmationEmailError = error_type("SendConfirmationEmailError", "Why no link was sent.")


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


ChannelError = error_type("ChannelError", "An error of a channel mutation.")
ShopError = error_type("ShopError", "Errors of shop settings.")
ProductError = with_unavailable(error_type("ProductError", "An error of a product mutation."))
PluginError = error_type(
    "PluginError",
    "An error of a plugin mutation.",
    "The invalid setting, if a single one caused the error.",
)
MetadataError = error_type(
    "MetadataError", "Why metadata was not changed.", "The input at fault, if it is one alone."
)
CheckoutError = error_type("CheckoutError", "Errors of checkout mutations.")
OrderError = with_unavailable(error_type("OrderError", "Errors of order mutations."))
WebhookError = error_type("WebhookError", "An error of a webhook mutation.")
WebhookDryRunError = error_type("WebhookDryRunError", "An error of a dry run.")
WebhookTriggerError = error_type("WebhookTriggerError", "An error of a webhook trigger.")
