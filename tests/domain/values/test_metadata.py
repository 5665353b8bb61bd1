"""Metadata is set and deleted by key, within limits."""

import pytest

from app.domain.values.errors import Refused
from app.domain.values.metadata import (
    MAX_KEY_LENGTH,
    MAX_KEYS,
    MAX_SIZE,
    MAX_VALUE_LENGTH,
    MetadataChange,
    changed_metadata,
    metadata_problems,
    read_metadata,
)
from tests.fixtures.cases import cases

FULL = {f"key {number}": "" for number in range(MAX_KEYS)}
LARGE = {str(number): "x" * MAX_VALUE_LENGTH for number in range(6)}


def test_set_keys_are_added_and_replaced() -> None:
    change = MetadataChange(values=(("b", "2"), ("c", "3"), ("b", "4")))
    assert changed_metadata({"a": "1", "b": "1"}, change) == {"a": "1", "b": "4", "c": "3"}


def test_deleted_keys_may_be_missing() -> None:
    change = MetadataChange(deleted_keys=("a", "none"))
    assert changed_metadata({"a": "1", "b": "1"}, change) == {"b": "1"}


@cases(
    ("key", "value", "code"),
    [
        ("", "1", "REQUIRED"),
        (" \t", "1", "REQUIRED"),
        ("a\0", "1", "INVALID"),
        ("a", "\ud800", "INVALID"),
        ("a" * (MAX_KEY_LENGTH + 1), "1", "INVALID"),
        ("a", "1" * (MAX_VALUE_LENGTH + 1), "INVALID"),
    ],
)
def test_invalid_item_is_refused(key: str, value: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        changed_metadata({}, MetadataChange(values=((key, value),)))
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [
        ("input", code)
    ]


def test_longest_key_and_value_are_accepted() -> None:
    pair = ("a" * MAX_KEY_LENGTH, "1" * MAX_VALUE_LENGTH)
    assert changed_metadata({}, MetadataChange(values=(pair,))) == dict([pair])


@cases(("stored", "added"), [(FULL, ("new", "")), (LARGE, ("new", "x" * (MAX_SIZE - 60_000)))])
def test_object_cannot_have_more_than_the_limits(
    stored: dict[str, str], added: tuple[str, str]
) -> None:
    with pytest.raises(Refused) as refused:
        changed_metadata(stored, MetadataChange(values=(added,)))
    assert [problem.code for problem in refused.value.problems] == ["INVALID"]


def test_key_is_deleted_from_an_object_over_the_limits() -> None:
    stored = {**FULL, "one more": ""}
    assert changed_metadata(stored, MetadataChange(deleted_keys=("one more",))) == FULL


@cases(
    ("values", "codes"),
    [([("a", "1")], []), ([("", "1")], ["REQUIRED"]), ([*FULL.items(), ("b", "")], ["INVALID"])],
)
def test_metadata_of_a_new_object_has_the_same_limits(
    values: list[tuple[str, str]], codes: list[str]
) -> None:
    problems = metadata_problems(values)
    assert [(problem.field, problem.code) for problem in problems] == [
        ("metadata", code) for code in codes
    ]


def test_metadata_is_read_sorted_and_as_text() -> None:
    assert list(read_metadata({"b": 1, "a": "x"}).items()) == [("a", "x"), ("b", "1")]
