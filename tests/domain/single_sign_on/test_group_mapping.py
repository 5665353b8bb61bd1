"""The table of claim values and permission groups."""

import json
from collections.abc import Mapping

from app.domain.single_sign_on.group_mapping import (
    GroupOfClaim,
    groups_of_claims,
    parse_group_mapping,
    read_group_mapping,
    write_group_mapping,
)
from app.domain.single_sign_on.provider_settings import read_setting
from app.domain.values.errors import Problem
from tests.fixtures.cases import cases

TABLE = '{"admins": "Admins", "ops": ["Orders", "Stock"]}'


def test_table_reads_back_as_it_was_written() -> None:
    rows = read_group_mapping(TABLE)
    assert rows == (
        GroupOfClaim("admins", "Admins"),
        GroupOfClaim("ops", "Orders"),
        GroupOfClaim("ops", "Stock"),
    )
    assert write_group_mapping((*rows, rows[0])) == TABLE
    assert write_group_mapping(()) == ""
    assert parse_group_mapping('{" a ": ["B"]}') == '{"a": "B"}'
    assert read_setting("group_mapping", TABLE) == TABLE
    assert read_setting("group_mapping", " ") == ""


def test_what_is_no_table_is_refused_and_counts_as_none() -> None:
    many = json.dumps({str(number): "A" for number in range(201)})
    long = json.dumps({"x" * 256: "A"})
    for wrong in ("a", "[]", '{"a": 5}', '{"a": ""}', '{"": "A"}', '{"a": [["A"]]}', many, long):
        problem = read_setting("group_mapping", wrong)
        assert isinstance(problem, Problem)
        assert (problem.field, problem.code) == ("group_mapping", "INVALID")
        assert read_group_mapping(wrong) == ()
    assert isinstance(read_setting("group_mapping", "[" * 15_000), Problem)


@cases(
    ("claims", "groups"),
    [
        ({"groups": ["admins", "other", 5]}, {"Admins"}),
        ({"groups": "ops"}, {"Orders", "Stock"}),
        ({"groups": ["Admins", "ADMINS"]}, set()),
        ({"groups": []}, set()),
        ({"groups": {"admins": True}}, set()),
        ({}, set()),
        ({"_claim_names": {"groups": "src1"}}, None),
        ({"_claim_names": {"groups": "src1"}, "groups": ["ops"]}, {"Orders", "Stock"}),
        ({"_claim_names": ["groups"]}, set()),
    ],
)
def test_groups_are_those_of_the_claims_values(
    claims: dict[str, object], groups: set[str] | None
) -> None:
    assert groups_of_claims(TABLE, "groups", claims) == groups


def named(claim: str, *sources: Mapping[str, object]) -> set[str]:
    return set(groups_of_claims(TABLE, claim, *sources) or ())


def test_claim_can_be_a_path_or_a_name_with_dots() -> None:
    nested = {"realm_access": {"roles": ["admins"]}}
    assert named("realm_access.roles", nested) == {"Admins"}
    plain = {"https://shop.example/groups": ["admins"]}
    assert named("https://shop.example/groups", plain) == {"Admins"}
    assert named("realm_access.roles", {"realm_access": "admins"}) == set()


def test_first_claims_that_have_the_groups_decide() -> None:
    info, token = {"groups": ["ops"]}, {"groups": ["admins"]}
    assert named("groups", info, token) == {"Orders", "Stock"}
    assert named("groups", {}, token) == {"Admins"}
    assert named("groups", {"groups": []}, token) == set()
