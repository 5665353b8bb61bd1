"""The comparison with the floor sees what would break a client, and only that."""

import re
from functools import cache

import pytest
from graphql import build_schema, print_schema

from docs import printed_schema
from tests.spec.floor import floor, incompatible, missing

_DESCRIPTION = re.compile(r'"""(.*?)"""', re.DOTALL)


@cache
def without_descriptions() -> str:
    """The printed schema, with the arguments of a field on its line."""
    return print_schema(build_schema(_DESCRIPTION.sub("", printed_schema())))


@pytest.mark.parametrize(
    ("ours", "broken", "problem"),
    [
        ("schemaVersion: String!", "schemaVersion: String", "Shop.schemaVersion"),
        ("schemaVersion: String!", "schemaVersion: Int!", "Shop.schemaVersion"),
        ("isValid: Boolean!", "isValid(more: Int!): Boolean!", "VerifyToken.isValid(more)"),
        ("tokenVerify(token: String)", "tokenVerify(token: String!)", "Mutation.tokenVerify"),
        ("tokenVerify(token: String)", "tokenVerify", "Mutation.tokenVerify(token)"),
        ("user(id: ID,", "user(more: Int!, id: ID,", "Query.user(more)"),
    ],
)
def test_breaking_schema_change_is_reported(ours: str, broken: str, problem: str) -> None:
    printed = without_descriptions()
    assert ours in printed
    assert any(found.startswith(problem) for found in incompatible(printed.replace(ours, broken)))


def test_removed_enum_value_is_reported() -> None:
    printed = printed_schema().replace("MANAGE_PLUGINS", "MANAGE_PLUG_INS")
    assert "PermissionEnum.MANAGE_PLUGINS" in missing(printed)


def test_changed_type_kind_is_reported() -> None:
    printed = printed_schema().replace("type Image {", "interface Image {")
    assert "Image is of another kind" in incompatible(printed)


def test_floor_satisfies_itself() -> None:
    assert missing(print_schema(floor())) == frozenset()
    assert incompatible(print_schema(floor())) == []
