"""Sample values for the arguments of the collection's requests."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    get_named_type,
)

from app.domain.values.ids import to_global_id
from app.graphql.schema import schema

_PAGE = "http://localhost:3000/account"
_TEXTS = {
    "email": "{{email}}",
    "newEmail": "new@example.com",
    "password": "{{password}}",
    "oldPassword": "{{password}}",
    "newPassword": "{{password}}",
    "token": "{{token}}",
    "refreshToken": "{{refreshToken}}",
    "redirectUrl": _PAGE,
    "channel": "default-channel",
    "firstName": "Ada",
    "lastName": "Lovelace",
    "companyName": "Analytical Engines",
    "streetAddress1": "1600 Amphitheatre Parkway",
    "streetAddress2": "",
    "city": "Mountain View",
    "cityArea": "",
    "postalCode": "94043",
    "countryArea": "CA",
    "phone": "+16502530000",
    "pluginId": "latchkey.authentication.openidconnect",
    "manifestUrl": "https://app.example.com/api/manifest",
    "targetUrl": "https://app.example.com/api/webhooks",
    "query": "subscription { event { issuedAt ... on ProductUpdated { product { id name } } } }",
    "id": "latchkey.authentication.openidconnect",
    "key": "color",
    "keys": "color",
    "value": "blue",
    "search": "ada",
    "ipAddress": "203.0.113.7",
    "currency": "EUR",
    "secretKey": "",
    "identifier": "sample",
    "customHeaders": "{}",
    "slug": "sample",
    "appName": "Sample",
    "description": "A sample.",
}
_CHANGE = re.compile("^(add|remove)(?=[A-Z])")
_NUMBERS = {"first": 10, "quantity": 1, "size": 128, "timeout": 10}
_SCALARS = {
    "Boolean": True,
    "Date": "2026-01-31",
    "DateTime": "2026-01-31T12:00:00Z",
    "Decimal": "12.50",
    "PositiveDecimal": "12.50",
    "Float": 12.5,
    "Minute": 60,
    "PositiveInt": 5,
    "JSONString": '{"redirectUri": "http://localhost:3000/callback"}',
    "UUID": "00000000-0000-4000-8000-000000000000",
    "Upload": ...,
    "_Any": {"__typename": "User", "id": to_global_id("User", 1)},
}
_ENUMS = {
    "CountryCode": "US",
    "LanguageCodeEnum": "EN",
    "PasswordLoginModeEnum": "ENABLED",
    "WebhookEventTypeAsyncEnum": "PRODUCT_UPDATED",
    "WebhookEventTypeEnum": "PRODUCT_UPDATED",
    "PermissionEnum": "MANAGE_PRODUCTS",
}
_SUBJECTS = {
    "customer": "User",
    "line": "CheckoutLine",
    "lines": "CheckoutLine",
    "object": "Product",
}
_NAMED = frozenset({"plugin", "pluginUpdate"})
"""Operations whose IDs are names."""

_ENDS = ("Ids", "Id", "IDs", "s")
_IN_INPUTS = {"email": "ada@example.com", "name": "Sample", "slug": "sample"}
_LEFT_OUT = frozenset(
    {
        "skipValidation",
        "customerType",
        "externalReference",
        "events",
        "syncEvents",
        "storefrontNote",
        "storefrontOpensAt",
        "defaultMailSenderName",
        "defaultMailSenderAddress",
        "customerSetPasswordUrl",
        "enableAccountConfirmationByEmail",
        "allowLoginWithoutConfirmation",
    }
)
"""Inputs that few readers need."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A query or mutation: its name and what it returns."""

    name: str
    result: GraphQLOutputType


def sample_value(name: str, kind: GraphQLInputType, operation: Operation) -> Any:
    """Return a value for an argument of ``operation``; ``...`` stands for a file."""
    if isinstance(kind, GraphQLNonNull):
        return sample_value(name, kind.of_type, operation)
    if isinstance(kind, GraphQLList):
        return [sample_value(name, kind.of_type, operation)]
    if isinstance(kind, GraphQLInputObjectType):
        return {
            field: _IN_INPUTS.get(field) or sample_value(field, one.type, operation)
            for field, one in kind.fields.items()
            if field not in _LEFT_OUT and one.deprecation_reason is None
        }
    if isinstance(kind, GraphQLEnumType):
        return _ENUMS.get(kind.name) or next(iter(kind.values))
    return _scalar(name, str(kind), operation)


def _scalar(name: str, kind: str, operation: Operation) -> Any:
    if kind == "ID" and operation.name not in _NAMED:
        return to_global_id(_subject(name, operation), 1)
    if kind == "Int":
        return _NUMBERS.get(name, 1)
    return _TEXTS[name] if name in _TEXTS else _SCALARS.get(kind, f"Sample {name}")


def _subject(name: str, operation: Operation) -> str:
    """Return the type that an ID is of: by the argument's name, or the operation's subject."""
    stem = next((name.removesuffix(end) for end in _ENDS if name.endswith(end)), name)
    stem = _CHANGE.sub("", stem)
    named = _SUBJECTS.get(stem) or stem[:1].upper() + stem[1:]
    if named in schema.graphql_schema.type_map:
        return named
    returned = [kind.name for kind in _returned(operation.result)]
    in_name = [kind for kind in _objects() if kind.lower() in operation.name.lower()]
    both = [kind for kind in returned if kind in in_name]
    return next(iter([*both, *returned, *sorted(in_name, key=len, reverse=True)]), "User")


def _returned(result: GraphQLOutputType) -> Iterator[GraphQLObjectType]:
    kind = get_named_type(result)
    if isinstance(kind, GraphQLObjectType):
        found = [kind, *(get_named_type(field.type) for field in kind.fields.values())]
        for one in found:
            if isinstance(one, GraphQLObjectType) and "id" in one.fields:
                yield one


def _objects() -> Iterator[str]:
    for name, kind in schema.graphql_schema.type_map.items():
        if isinstance(kind, GraphQLObjectType) and "id" in kind.fields:
            yield name
