"""Bad input of any kind is a clear 4xx or a field error, never a fault of ours; nothing changes.

Generated from the schema: for every query and every mutation, by somebody who may do everything.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from string import Template

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    get_named_type,
)

from app.graphql.schema import schema
from app.ports import Ports
from tests.builders.people import make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.fixtures.one_of_each import InTurn
from tests.fixtures.ports import fake_ports
from tests.graphql.endpoint_client import Reply
from tests.graphql.matrix import mutations
from tests.graphql.matrix.invalid_values import absurd_calls, arguments_in
from tests.graphql.matrix.queries import QUERIES
from tests.graphql.matrix.rules import Row
from tests.graphql.matrix.sample_shop import one_of_everything
from tests.graphql.shop_client import ApiClient

pytestmark = pytest.mark.first

SCHEMA = schema.graphql_schema
TABLES = {
    "queries": {**QUERIES, **mutations.TOKENS},
    "people": {
        **mutations.ACCOUNTS,
        **mutations.PEOPLE_OF_THE_SHOP,
        **mutations.ADDRESSES,
        **mutations.METADATA,
    },
    "shop": {**mutations.SHOP, **mutations.CHANNELS, **mutations.INTEGRATIONS},
}
"""What is sent to one shop."""

RECORDED_NAMES = {
    ("staffUpdate", "permissions"),
    ("permissionGroupUpdate", "channels"),
    ("permissionGroupUpdate", "permissions"),
    ("permissionGroupUpdate", "users"),
}
"""What Saleor calls the two lists of things to add and to remove."""

ON_SQLITE = (True, *(False,) * 4, True, *(False,) * 5)
ON_POSTGRESQL = (*(False,) * 2, True, *(False,) * 5, True, *(False,) * 2)
"""Which of eleven requests are sent, others on each.

Of every second one, an operation with an even number of requests for each of the eleven texts
would never get the others.
"""

COUNT_FAILURES = {"tokenCreate", "passwordChange", "requestEmailChange"}
"""Where a wrong password leaves a mark, as it should."""


@pytest.mark.parametrize("table", TABLES)
def test_no_client_input_causes_an_internal_error_on_postgresql(
    postgresql_url: str, clock: FakeClock, table: str, in_turn: InTurn
) -> None:
    ports = fake_ports(postgresql_url, clock)
    api, faults = ApiClient(ports), []
    for _, body, credential in invalid_requests(ports, table):
        if any(in_turn(ON_POSTGRESQL)) and is_internal_error(
            response := api.send(body, credential)
        ):
            faults.append(shown(body, response))
    assert faults == []


@pytest.mark.parametrize("table", TABLES)
def test_invalid_input_causes_no_internal_error_and_changes_nothing(
    sqlite_url: str, clock: FakeClock, table: str, in_turn: InTurn
) -> None:
    ports = fake_ports(sqlite_url, clock)
    api, faults, changed, misnamed = ApiClient(ports), [], [], set[tuple[str, str]]()
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as file:
        for name, body, credential in invalid_requests(ports, table):
            if not any(in_turn(ON_SQLITE)):
                continue
            before = file.execute("PRAGMA data_version").fetchone()
            response = api.send(body, credential)
            after = file.execute("PRAGMA data_version").fetchone()
            if is_internal_error(response):
                faults.append(shown(body, response))
            if is_refusal(response) and before != after and name not in COUNT_FAILURES:
                changed.append(shown(body, response))
            misnamed |= misnamed_inputs(name, response)
    ports.database.close()
    assert faults == []
    assert changed == []
    assert misnamed - RECORDED_NAMES == set()


def invalid_requests(ports: Ports, table: str) -> Iterator[tuple[str, bytes, str]]:
    """Yield an operation's name, a request for it and a superuser's access token."""
    names = one_of_everything(ports)
    manager = make_user(ports, "boss@example.com", is_superuser=True)
    for name, row in TABLES[table].items():
        credential = sign_in(ports, manager).access
        for body in bodies(name, row, names):
            yield name, body, credential


def shown(body: bytes, response: Reply) -> str:
    return f"{body[:400]!r}: {response.text[:400]}"


def bodies(name: str, row: Row, names: Mapping[str, str]) -> Iterator[bytes]:
    """Requests for one operation, none of them as it should be."""
    is_query = name in QUERIES
    root = SCHEMA.query_type if is_query else SCHEMA.mutation_type
    assert root is not None
    field = name.partition(" ")[0]
    query = document("query" if is_query else "mutation", field, root.fields[field])
    good = arguments_in(Template(row.call.replace("$$file", "null")).substitute(names))
    for absurd in absurd_calls(root.fields[field].args, good):
        if absurd != good:
            # Escapes for whatever is not ASCII: half a pair of surrogates has no other form.
            yield json.dumps({"query": query, "variables": absurd}).encode()


def document(kind: str, name: str, field: GraphQLField) -> str:
    """The operation with all of its arguments as variables."""
    declared = ", ".join(f"${name}: {argument.type}" for name, argument in field.args.items())
    arguments = ", ".join(f"{argument}: ${argument}" for argument in field.args)
    shown = "__typename" if kind == "query" else "errors { field code message }"
    if not field.args:
        return f"{kind} {{ {name} {{ {shown} }} }}"
    return f"{kind}({declared}) {{ {name}({arguments}) {{ {shown} }} }}"


def misnamed_inputs(name: str, response: Reply) -> set[tuple[str, str]]:
    """Return the fields of payload errors that are no argument or member of an input.

    `pluginUpdate` names the setting instead, a value of its input.
    """
    field = name.partition(" ")[0]
    mutation = SCHEMA.mutation_type
    if mutation is None or field not in mutation.fields or field == "pluginUpdate":
        return set()
    inputs = set(input_names(mutation.fields[field].args))
    [payload] = (response.json.get("data") or {"": None}).values()
    problems = payload.get("errors") or () if isinstance(payload, dict) else ()
    named = {problem["field"] for problem in problems} - {None}
    return {(field, other) for other in named - inputs}


def input_names(members: Mapping[str, GraphQLArgument | GraphQLInputField]) -> Iterator[str]:
    """Yield the names of arguments and, at any depth, of the members of their inputs."""
    for name, member in members.items():
        yield name
        kind = get_named_type(member.type)
        if isinstance(kind, GraphQLInputObjectType):
            yield from input_names(kind.fields)


def is_internal_error(response: Reply) -> bool:
    return response.status_code not in (200, 400) or "Internal Server Error" in response.text


def is_refusal(response: Reply) -> bool:
    [value] = (response.json.get("data") or {"": None}).values()
    problems = value.get("errors") if isinstance(value, dict) else None
    return "errors" in response.json or bool(problems)
