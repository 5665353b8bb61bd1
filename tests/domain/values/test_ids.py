"""Global ids: base64 of type and key."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.values.errors import Refused
from app.domain.values.ids import given_key, key_of, parse_global_id, parse_key, to_global_id
from tests.fixtures.cases import cases

GARBAGE = [
    "",
    "1",
    "User:1",
    "VXNlcjox ",
    "VXNlcjo",
    "VXNlcg==",  # User
    "Og==",  # :
    "VXNlcjo=",  # User:
    "OjE=",  # :1
    "//79",  # no UTF-8
    "ÄÖÜ",
    "\0",
    "\ud800",
]


@given(st.integers(min_value=0, max_value=10**18 - 1))
def test_global_id_round_trips(key: int) -> None:
    assert key_of(to_global_id("User", key), "User") == key


def test_global_id_has_the_stable_format() -> None:
    assert to_global_id("User", 4) == "VXNlcjo0"
    assert parse_global_id("VXNlcjo0") == ("User", "4")


@cases("value", GARBAGE)
def test_invalid_global_id_is_recognized_without_exception(value: str) -> None:
    assert parse_global_id(value) is None


@given(st.text())
def test_reader_accepts_any_text(value: str) -> None:
    parsed = parse_global_id(value)
    assert parsed is None or all(parsed)


@cases(
    "value",
    [
        *GARBAGE,
        to_global_id("App", 1),
        to_global_id("user", 1),
        to_global_id("User", "one"),
        to_global_id("User", "-1"),
        to_global_id("User", "1.0"),
        to_global_id("User", "٤"),  # a digit, but of another alphabet
        to_global_id("User", "9" * 19),
    ],
)
def test_id_of_another_type_is_refused_on_its_field(value: str) -> None:
    with pytest.raises(Refused) as refused:
        key_of(value, "User", field="userId", code="INVALID_ID")

    [problem] = refused.value.problems
    assert (problem.code, problem.field) == ("INVALID_ID", "userId")


def test_refusal_quotes_only_the_start_of_a_long_id() -> None:
    with pytest.raises(Refused) as refused:
        key_of(base64.b64encode(b"x" * 10_000).decode(), "User")

    assert len(str(refused.value)) < 200


@cases("text", ["", "-1", "+1", " 1", "1e3", "²", "9" * 19])
def test_key_is_an_integer_in_the_databases_range(text: str) -> None:
    assert parse_key(text) is None


@cases(
    ("given", "name"),
    [
        ({"id": "a", "slug": None}, "id"),
        ({"id": None, "slug": "a"}, "slug"),
        ({"id": None, "slug": None}, "id"),
        ({"id": "a", "slug": ""}, "id"),
        ({"id": "", "slug": "a"}, "slug"),
        ({"id": None, "slug": ""}, "slug"),
        ({"id": "", "slug": ""}, "id"),
    ],
)
def test_only_given_key_is_named(given: dict[str, str | None], name: str) -> None:
    assert given_key(**given) == name


def test_two_keys_cannot_be_combined() -> None:
    with pytest.raises(Refused) as refused:
        given_key(id="a", slug="b")
    [problem] = refused.value.problems
    assert (problem.field, problem.code) == ("id", "GRAPHQL_ERROR")
    assert problem.message == "Argument `id` cannot be combined with `slug`."
