"""The comparison with the floor sees what would break a client, and only that."""

import re
from functools import cache

from graphql import build_schema, print_schema

from docs import printed_schema
from tests.spec.floor import floor, incompatible, missing

_DESCRIPTION = re.compile(r'"""(.*?)"""', re.DOTALL)


@cache
def without_descriptions() -> str:
    """The printed schema, with the arguments of a field on its line."""
    return print_schema(build_schema(_DESCRIPTION.sub("", printed_schema())))


BREAKING = (
    {
        ("schemaVersion: String!", "schemaVersion: String"): "Shop.schemaVersion",
        ("isValid: Boolean!", "isValid(more: Int!): Boolean!"): "VerifyToken.isValid(more)",
        ("tokenVerify(token: String)", "tokenVerify(token: String!)"): "Mutation.tokenVerify",
        ("type Image {", "interface Image {"): "Image is of another kind",
    },
    {
        ("schemaVersion: String!", "schemaVersion: Int!"): "Shop.schemaVersion",
        ("tokenVerify(token: String)", "tokenVerify"): "Mutation.tokenVerify(token)",
        ("user(id: ID,", "user(more: Int!, id: ID,"): "Query.user(more)",
    },
)
"""What each change of the printed schema breaks; those of one member in turn."""


def test_breaking_schema_changes_are_reported() -> None:
    for changes in BREAKING:
        printed = without_descriptions()
        for ours, broken in changes:
            assert ours in printed, ours
            printed = printed.replace(ours, broken)
        found = incompatible(printed)
        for change, problem in changes.items():
            assert any(each.startswith(problem) for each in found), change


def test_removed_enum_value_is_reported() -> None:
    printed = printed_schema().replace("MANAGE_PLUGINS", "MANAGE_PLUG_INS")
    assert "PermissionEnum.MANAGE_PLUGINS" in missing(printed)


def test_floor_satisfies_itself() -> None:
    assert missing(print_schema(floor())) == frozenset()
    assert incompatible(print_schema(floor())) == []
