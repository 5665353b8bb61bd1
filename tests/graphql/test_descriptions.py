"""Whoever reads the schema is told what each operation does and whom it is for."""

import re

from graphql import GraphQLEnumType, GraphQLField

from app.domain.authorization.permissions import Permission
from app.graphql.schema import schema
from tests.fixtures.cases import cases
from tests.graphql.matrix.mutations import EVENT_HOLDERS, HOLDERS_OF_THE_APP, MUTATIONS
from tests.graphql.matrix.queries import QUERIES
from tests.graphql.matrix.rules import (
    APP_MANAGERS,
    APP_MANAGERS_BUT_NO_APP,
    DENIED,
    FINE,
    HOLDING_PEOPLE,
    Row,
)

SCHEMA = schema.graphql_schema
ROWS = {**QUERIES, **MUTATIONS}
PLACEHOLDER = "An enumeration."
"""What graphene says of an enum that nobody has described."""
NAMED = re.compile("|".join(sorted(Permission, key=len, reverse=True)))


def fields() -> dict[str, GraphQLField]:
    assert SCHEMA.query_type is not None
    assert SCHEMA.mutation_type is not None
    return {**SCHEMA.query_type.fields, **SCHEMA.mutation_type.fields}


def description_of(name: str) -> str:
    """What the operation of a row says; behind its name may stand which case the row is."""
    return fields()[name.partition(" ")[0]].description or ""


def required_permissions(row: Row) -> set[str]:
    if row.rule in (EVENT_HOLDERS, HOLDERS_OF_THE_APP):
        return set()  # the permission is that of whichever event is tried
    return {
        permission.value
        for permission in (*row.permissions, *row.rule.kinds)
        if isinstance(permission, Permission)
    }


def open_to_all_staff() -> set[str]:
    """Where a permission shows more, or lets an app in, too."""
    return {
        name.partition(" ")[0]
        for name, row in ROWS.items()
        if row.rule.outcomes["staff without"] == FINE
    }


def test_every_operation_has_a_description() -> None:
    assert [name for name, field in fields().items() if not field.description] == []


def test_every_type_has_a_description() -> None:
    dumb = [
        name
        for name, kind in SCHEMA.type_map.items()
        if kind.description in (None, "", PLACEHOLDER)
    ]
    assert dumb == []


def test_described_enums_describe_every_value() -> None:
    enums = [kind for kind in SCHEMA.type_map.values() if isinstance(kind, GraphQLEnumType)]
    described = [
        kind for kind in enums if any(value.description for value in kind.values.values())
    ]
    assert described
    for kind in described:
        assert all(value.description for value in kind.values.values()), kind.name


def test_operation_description_names_its_permissions() -> None:
    unnamed = {
        name: required_permissions(row) - set(NAMED.findall(description_of(name)))
        for name, row in ROWS.items()
    }
    assert {name: missing for name, missing in unnamed.items() if missing} == {}


def test_operation_description_names_no_other_permission() -> None:
    others: dict[str, set[str]] = {}
    for operation in fields().keys() - open_to_all_staff():
        rows = [row for name, row in ROWS.items() if name.partition(" ")[0] == operation]
        admitting = set().union(*map(required_permissions, rows))
        others[operation] = set(NAMED.findall(description_of(operation))) - admitting
    assert {operation: found for operation, found in others.items() if found} == {}


@cases(
    "name",
    [
        name
        for name, row in ROWS.items()
        if row.rule in (APP_MANAGERS, APP_MANAGERS_BUT_NO_APP, HOLDING_PEOPLE)
    ],
)
def test_description_says_that_apps_cannot_call_the_operation(name: str) -> None:
    assert re.search(r"staff with MANAGE_\w+", description_of(name))


@cases(
    "name",
    [
        name
        for name, row in ROWS.items()
        if row.rule.outcomes["customer"] != DENIED
        and row.rule.outcomes["extension with"] == DENIED
    ],
)
def test_description_says_that_extensions_cannot_call_the_operation(name: str) -> None:
    assert "Not available to dashboard extensions" in description_of(name)
