"""A Postman collection of the API: one request per operation, grouped by subject.

Format 2.1, which Postman, Bruno and Insomnia import.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from graphql import GraphQLField, OperationType, is_required_argument

from app.graphql.schema import schema
from docs.collection_samples import Operation, sample_value
from docs.collection_selection import selection

FORMAT = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_ID = "6c6b0f6e-0000-4000-8000-6c617463686b"
_SUBJECTS = {
    "Sign-in and tokens": (
        "TokenMutations",
        "EmailCodeMutations",
        "SecondFactorMutations",
        "SessionMutations",
    ),
    "Single sign-on": ("ExternalMutations", "PluginQueries", "PluginMutations"),
    "Passwords": ("PasswordMutations",),
    "Own account": ("AccountMutations", "AvatarMutations"),
    "People": ("UserQueries", "StaffMutations", "CustomerMutations"),
    "Permission groups": ("GroupQueries", "GroupMutations"),
    "Addresses": ("OwnAddressMutations", "CustomerAddressMutations"),
    "Metadata": ("MetadataMutations",),
    "Federated graph": ("FederationQueries",),
    "Shop": ("ShopQueries", "ShopMutations"),
    "Apps": ("AppQueries", "AppMutations", "AppInstallationMutations", "AppTokenMutations"),
    "Webhooks": ("WebhookQueries", "WebhookMutations", "DryRunMutations"),
    "Channels": ("ChannelMutations",),
    "Products": ("ProductQueries", "ProductMutations"),
    "Checkouts and orders": ("SaleQueries", "CheckoutMutations", "OrderMutations"),
    "Sign-in log": ("SignInEventQueries",),
    "Mail log": ("MailQueries",),
}
"""The folders of the collection in order, each with the classes of its operations."""

_SUBJECT_OF = {name: subject for subject, names in _SUBJECTS.items() for name in names}
_INSTEAD_OF_ID = frozenset({"email", "externalReference"})
_LEFT_OUT = frozenset(
    {
        "before",
        "after",
        "last",
        "filter",
        "where",
        "search",
        "sortBy",
        "audience",
        "customerId",
        "channel",
        "channelId",
        "identifier",
        "slug",
    }
)
"""Arguments that a sample request leaves to the reader."""

_VARIABLES = {
    "url": "http://localhost:8000/graphql/",
    "email": "admin@example.com",
    "password": "",
    "token": "",
    "refreshToken": "",
}
_SCRIPTS = {
    "tokenCreate": (
        "const result = pm.response.json().data.tokenCreate;",
        'pm.test("signed in", () => pm.expect(result.errors).to.eql([]));',
        'pm.collectionVariables.set("token", result.token);',
        'pm.collectionVariables.set("refreshToken", result.refreshToken);',
    ),
    "tokenRefresh": (
        "const result = pm.response.json().data.tokenRefresh;",
        'pm.test("refreshed", () => pm.expect(result.errors).to.eql([]));',
        'pm.collectionVariables.set("token", result.token);',
    ),
}
"""What runs after a response: a sign-in stores its tokens for the other requests."""

_DESCRIPTION = """\
Every operation of the Latchkey API with sample values.

1. Set the collection's variables: `url`, `email` and `password`.
2. Send "tokenCreate" in "Sign-in and tokens". It stores the access token, which
   the other requests send.
3. When the token has expired after five minutes, send "tokenRefresh", or "tokenCreate" again.

The sample IDs are examples: replace them by IDs of your shop.
"""


def printed_collection() -> str:
    """Return the collection as JSON."""
    return f"{json.dumps(_collection(), indent=2, ensure_ascii=False)}\n"


def _collection() -> dict[str, Any]:
    folders: dict[str, list[dict[str, Any]]] = {title: [] for title in _SUBJECTS}
    for title, operation, field, name in _operations():
        folders[title].append(_item(operation, name, field))
    for requests in folders.values():
        requests.sort(key=lambda request: request["name"] not in _SCRIPTS)
    return {
        "info": {
            "_postman_id": _ID,
            "name": "Latchkey",
            "description": _DESCRIPTION,
            "schema": FORMAT,
        },
        "auth": {"type": "bearer", "bearer": [_variable("token", "{{token}}")]},
        "variable": [_variable(name, value) for name, value in _VARIABLES.items()],
        "item": [{"name": title, "item": requests} for title, requests in folders.items()],
    }


def _operations() -> Iterator[tuple[str, OperationType, GraphQLField, str]]:
    """Yield the subject, kind, field and name of every operation, queries first."""
    parts = (
        (OperationType.QUERY, schema.graphql_schema.query_type),
        (OperationType.MUTATION, schema.graphql_schema.mutation_type),
    )
    for operation, root in parts:
        for name, field in root.fields.items() if root else ():
            if getattr(field.resolve, "constant", False):
                continue
            declared_in = field.resolve.__qualname__.partition(".")[0]
            yield _SUBJECT_OF[declared_in], operation, field, name


def _item(operation: OperationType, name: str, field: GraphQLField) -> dict[str, Any]:
    values = {
        argument: sample_value(argument, one.type, Operation(name, field.type))
        for argument, one in field.args.items()
        if _is_sent(argument, field)
    }
    query = _document(operation, name, field, values)
    item: dict[str, Any] = {
        "name": name,
        "request": {
            "method": "POST",
            "header": [{"key": "GraphQL-Require-Preflight", "value": "1"}],
            "url": "{{url}}",
            "description": field.description or "",
            "body": _body(query, values),
        },
    }
    if name in _SCRIPTS:
        item["request"]["auth"] = {"type": "noauth"}
        script = {"type": "text/javascript", "exec": [*_SCRIPTS[name]]}
        item["event"] = [{"listen": "test", "script": script}]
    return item


def _is_sent(name: str, field: GraphQLField) -> bool:
    """Whether a request sends an argument: filters and other users' IDs are left to the reader."""
    if is_required_argument(field.args[name]):
        return True
    return name not in _LEFT_OUT and not (name in _INSTEAD_OF_ID and "id" in field.args)


def _document(
    operation: OperationType, name: str, field: GraphQLField, values: Mapping[str, Any]
) -> str:
    declared = ", ".join(f"${one}: {field.args[one].type}" for one in values)
    passed = ", ".join(f"{one}: ${one}" for one in values)
    title = name[:1].upper() + name[1:]
    head = f"{operation.value} {title}" + (f"({declared})" if declared else "")
    call = name + (f"({passed})" if passed else "")
    return f"{head} {{\n  {call}{selection(field.type)}\n}}"


def _body(query: str, values: Mapping[str, Any]) -> dict[str, Any]:
    files = [name for name, value in values.items() if value is ...]
    if not files:
        variables = json.dumps(values, indent=2, ensure_ascii=False)
        return {"mode": "graphql", "graphql": {"query": query, "variables": variables}}
    # The GraphQL multipart request specification.
    operations = {"query": query, "variables": dict.fromkeys(files)}
    parts = {
        "operations": json.dumps(operations),
        "map": json.dumps({"0": [f"variables.{files[0]}"]}),
    }
    texts = [{"key": key, "value": value, "type": "text"} for key, value in parts.items()]
    return {
        "mode": "formdata",
        "formdata": [*texts, {"key": "0", "type": "file", "src": "avatar.png"}],
    }


def _variable(name: str, value: str) -> dict[str, str]:
    return {"key": name, "value": value, "type": "string"}
