"""Which page is asked for, and cursors: what is in one, and what is none."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.values.errors import Refused
from app.domain.values.pages import (
    Page,
    PageRequest,
    empty_page,
    make_cursor,
    read_cursor,
    read_page_request,
)
from tests.fixtures.cases import cases

storable = st.text(st.characters(exclude_characters="\0", codec="utf-8"))
values = st.lists(storable | st.integers(-(2**63) + 1, 2**63 - 1), min_size=1).map(tuple)


@given(values)
def test_cursor_round_trips(value: tuple[str | int, ...]) -> None:
    assert read_cursor(make_cursor(value), "after") == value


@cases(
    "text",
    [
        "garbage",
        "é",
        "\ud800",
        "=",
        " ",
        "MQ==",  # 1
        "W10=",  # []
        make_cursor((1,)) + "\n",
        make_cursor((12,)).rstrip("="),
        "*" + make_cursor((1,)),
    ],
)
def test_invalid_cursor_is_refused_on_its_argument(text: str) -> None:
    with pytest.raises(Refused) as refused:
        read_cursor(text, "before")

    [problem] = refused.value.problems
    assert (problem.code, problem.field) == ("GRAPHQL_ERROR", "before")


@cases(
    "value",
    [
        None,
        {},
        [],
        {"a": 1},
        [True],
        [None],
        [1.5],
        [[1]],
        ["\ud800"],
        ["nul \0"],
        [2**63],
        [-(2**63)],
        [10**4000],
        1,
        "text",
    ],
)
def test_cursor_holds_storable_text_and_numbers(value: object) -> None:
    text = base64.urlsafe_b64encode(json.dumps(value).encode()).decode()

    with pytest.raises(Refused):
        read_cursor(text, "after")


def test_deeply_nested_cursor_is_refused() -> None:
    text = base64.urlsafe_b64encode(b"[" * 100_000).decode()

    with pytest.raises(Refused):
        read_cursor(text, "after")


@given(st.text())
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    try:
        read = read_cursor(text, "after")
    except Refused:
        return
    assert make_cursor(read) == text


def test_page_is_selected_by_four_arguments() -> None:
    cursor = make_cursor(("a", 1))

    assert read_page_request("users", first=3) == PageRequest(3)
    assert read_page_request("users", first=100, after=cursor) == PageRequest(100, cursor=("a", 1))
    assert read_page_request("users", last=1) == PageRequest(1, backwards=True)
    assert read_page_request("users", last=2, before=cursor) == PageRequest(
        2, backwards=True, cursor=("a", 1)
    )


def test_empty_cursor_is_the_end_of_the_list() -> None:
    assert read_page_request("users", first=3, after="", before="") == PageRequest(3)


@cases(
    ("arguments", "field"),
    [
        ({"first": 1, "last": 1}, "last"),
        ({"first": 0}, "first"),
        ({"first": -1}, "first"),
        ({"first": 101}, "first"),
        ({"last": 0}, "last"),
        ({"last": 101}, "last"),
        ({"first": 1, "before": make_cursor((1,))}, "before"),
        ({"last": 1, "after": make_cursor((1,))}, "after"),
        ({"first": 1, "after": "x"}, "after"),
        ({"last": 1, "before": "x"}, "before"),
    ],
)
def test_invalid_page_is_refused_on_its_argument(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(Refused) as refused:
        read_page_request("users", **arguments)  # type: ignore[arg-type]

    [problem] = refused.value.problems
    assert (problem.code, problem.field) == ("GRAPHQL_ERROR", field)


def test_request_without_a_size_counts_and_shows_no_items() -> None:
    assert read_page_request("users") == PageRequest(0)
    assert read_page_request("users", after=make_cursor((1,))) == PageRequest(0)


def test_empty_list_has_an_empty_page() -> None:
    page: Page[str] = empty_page()

    assert page.items == page.cursors == ()
    assert not page.has_next
    assert not page.has_previous
    assert page.count() == 0
