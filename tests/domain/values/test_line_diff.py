"""A comparison leads from one text to the other, and `diff -u` writes it down the same way."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from app.domain.values.line_diff import diff_lines, unified_diff

LINES = st.lists(st.sampled_from("abcdefgh{},"), max_size=30)


def reference(before: list[str], after: list[str]) -> list[str]:
    return list(difflib.unified_diff(before, after, "a", "b", lineterm=""))  # noqa: TID251


def side(before: list[str], after: list[str], mark: str) -> list[str]:
    return [line.text for line in diff_lines(before, after) if line.mark in (" ", mark)]


@given(before=LINES, after=LINES)
def test_both_texts_can_be_read_from_the_difference(before: list[str], after: list[str]) -> None:
    assert side(before, after, "-") == before
    assert side(before, after, "+") == after


@given(before=LINES, after=LINES)
def test_diff_lines_are_numbered(before: list[str], after: list[str]) -> None:
    old = new = 0
    for line in diff_lines(before, after):
        assert (line.before, line.after) == (old, new)
        old += line.mark != "+"
        new += line.mark != "-"


@given(text=LINES)
def test_equal_texts_have_no_difference(text: list[str]) -> None:
    lines = diff_lines(text, text)
    assert {line.mark for line in lines} <= {" "}
    assert list(unified_diff(lines, "a", "b")) == []


@given(start=LINES, old=LINES, new=LINES, end=LINES)
def test_unified_diff_is_written_as_by_the_standard_library(
    start: list[str], old: list[str], new: list[str], end: list[str]
) -> None:
    # One change between lines that occur once: there is only one way to tell it.
    head = [f"head {number} {line}" for number, line in enumerate(start)]
    tail = [f"tail {number} {line}" for number, line in enumerate(end)]
    before = [*head, *(f"old {line}" for line in old), *tail]
    after = [*head, *(f"new {line}" for line in new), *tail]
    assert list(unified_diff(diff_lines(before, after), "a", "b")) == reference(before, after)


def test_distant_changes_are_separate_hunks() -> None:
    before = [f"line {number}" for number in range(40)]
    after = before.copy()
    after[5], after[30] = "changed", "changed too"
    assert list(unified_diff(diff_lines(before, after), "a", "b")) == reference(before, after)


def test_changed_payload_field_is_one_changed_line() -> None:
    before = ["{", '  "name": "a",', '  "id": 1', "},", "{", '  "name": "b",', '  "id": 2', "}"]
    after = [line.replace('"b"', '"c"') for line in before]
    changed = [str(line) for line in diff_lines(before, after) if line.mark != " "]
    assert changed == ['-  "name": "b",', '+  "name": "c",']
