"""What Saleor's public schema says each operation requires, and what an anonymous caller is told.

The tables are the sentences "Requires one of the following permissions" of the descriptions of
Saleor 3.23, of the operations that Latchkey has for real.
"""

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
)

from app.graphql.schema import schema
from tests.spec.client import Client

pytestmark = pytest.mark.xdist_group("spec")

SCHEMA = schema.graphql_schema

REQUIRED = {
    "AUTHENTICATED_APP": "appProblemCreate",
    "AUTHENTICATED_APP AUTHENTICATED_STAFF_USER": "app appExtension appExtensions channels",
    "AUTHENTICATED_STAFF_USER": "webhookDryRun webhookTrigger",
    "AUTHENTICATED_USER": "accountDelete accountRequestDeletion accountSetDefaultAddress"
    " confirmEmailChange passwordChange requestEmailChange sendConfirmationEmail"
    " tokensDeactivateAll",
    "MANAGE_APPS": "appActivate appDeactivate appDelete appDeleteFailedInstallation"
    " appFetchManifest appRetryInstall appTokenCreate appTokenDelete appUpdate appsInstallations"
    " webhookEvents",
    "MANAGE_CHANNELS": "channelActivate channelCreate channelDeactivate channelDelete"
    " channelUpdate",
    "MANAGE_ORDERS": "orderCancel orderConfirm orderFulfill orderMarkAsPaid orders",
    "MANAGE_ORDERS MANAGE_STAFF MANAGE_USERS": "user",
    "MANAGE_ORDERS MANAGE_USERS": "customers",
    "MANAGE_PLUGINS": "plugin pluginUpdate plugins",
    "MANAGE_PRODUCTS": "productCreate productDelete productUpdate",
    "MANAGE_SETTINGS": "shopAddressUpdate shopSettingsUpdate",
    "MANAGE_STAFF": "permissionGroup permissionGroupCreate permissionGroupDelete"
    " permissionGroupUpdate permissionGroups staffBulkDelete staffCreate staffDelete staffUpdate"
    " staffUsers",
    "MANAGE_USERS": "addressCreate addressDelete addressSetDefault addressUpdate"
    " customerBulkDelete customerBulkUpdate customerCreate customerDelete customerUpdate"
    " userBulkSetActive",
}
"""What is named, and the operations that need one of them."""

DIFFERENT = {
    # What both staff and apps can do names both; which of their permissions they lack comes after.
    "AUTHENTICATED_APP AUTHENTICATED_STAFF_USER": "appProblemDismiss eventDeliveryRetry webhook"
    " webhookCreate webhookDelete webhookUpdate",
    # Apps list apps with MANAGE_APPS, which no app can be given any more.
    "AUTHENTICATED_STAFF_USER": "apps",
    # Saleor calls the owner of an address OWNER or IS_OWNER: somebody who is signed in.
    "AUTHENTICATED_USER MANAGE_USERS": "address accountAddressDelete accountAddressUpdate",
    # Customers have pictures too.
    "AUTHENTICATED_USER": "userAvatarDelete",
    # Apps attach a customer with the permission that lets them act for one.
    "AUTHENTICATED_USER IMPERSONATE_USER": "checkoutCustomerAttach",
    # Payments are made elsewhere; apps handle carts.
    "HANDLE_CHECKOUTS MANAGE_CHECKOUTS": "checkouts",
}
"""What is named here instead, and why."""

_VALUES = {"Int": "1", "Boolean": "true", "Float": "1.5", "ID": '"VXNlcjox"', "JSONString": '"{}"'}


def literal(kind: GraphQLInputType) -> str:
    """Return the smallest value of a type."""
    if isinstance(kind, GraphQLNonNull):
        return literal(kind.of_type)
    if isinstance(kind, GraphQLList):
        return f"[{literal(kind.of_type)}]"
    if isinstance(kind, GraphQLEnumType):
        return next(iter(kind.values))
    if isinstance(kind, GraphQLInputObjectType):
        fields = kind.fields.items()
        named = (f"{name}: {literal(f.type)}" for name, f in fields if is_required_input_field(f))
        return f"{{{' '.join(named)}}}"
    assert isinstance(kind, GraphQLScalarType)
    return _VALUES.get(kind.name, '"a"')


def document(name: str) -> str:
    """Return an operation with the arguments that it can't do without."""
    assert SCHEMA.query_type is not None
    assert SCHEMA.mutation_type is not None
    shown = SCHEMA.query_type.fields.get(name)
    root = "query" if shown else "mutation"
    field: GraphQLField = shown or SCHEMA.mutation_type.fields[name]
    given = ", ".join(
        f"{key}: {literal(argument.type)}"
        for key, argument in field.args.items()
        if is_required_argument(argument) or key == "id"
    )
    inner = "" if is_leaf_type(get_named_type(field.type)) else " { __typename }"
    return f"{root} {{ {name}{f'({given})' if given else ''}{inner} }}"


def test_anonymous_caller_is_told_what_the_public_schema_says(client: Client) -> None:
    told = {}
    for table in (REQUIRED, DIFFERENT):
        for names, operations in table.items():
            for operation in operations.split():
                (error,) = client.run(document(operation)).errors
                required = error["extensions"].get("requiredPermissions", error["message"])
                if sorted(required) != names.split():
                    told[operation] = required
    assert not told


def test_public_operations_require_nothing(client: Client) -> None:
    """The control: the same documents of what anyone can ask for aren't denied."""
    for operation in ("shop", "me", "product", "products", "tokenCreate", "_service"):
        answer = client.run(document(operation).replace('id: "VXNlcjox"', 'slug: "a"'))
        assert "errors" not in answer.body, operation
