"""Lines and rows of files: none is lost without a word."""

import csv
import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.imports import text_files
from app.domain.imports.text_files import Line, read_csv, read_lines, split_lines
from app.domain.values.errors import Refused
from tests.fixtures.cases import cases


def rows(text: str, columns: int = 2) -> list[tuple[int, list[str]]]:
    lines = read_lines("people.csv", [text.encode()])
    return [
        (row.line, list(row.cells) or [row.problem])
        for row in read_csv("people.csv", lines, ",", columns)
    ]


def refusal_of(text: str, columns: int = 2) -> str:
    with pytest.raises(Refused) as refused:
        rows(text, columns)
    return str(refused.value)


@given(st.binary(max_size=200), st.lists(st.integers(1, 40), max_size=10))
def test_lines_are_the_same_however_a_file_is_read(data: bytes, sizes: Sequence[int]) -> None:
    chunks, rest = [], data
    for size in sizes:
        chunks.append(rest[:size])
        rest = rest[size:]
    assert [*split_lines("a", [*chunks, rest])] == data.splitlines(keepends=True)


@cases("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_one(end: str) -> None:
    text = end.join(["a@example.com,A", 'b@example.com,"B', 'C"', "d@example.com,D"])
    assert rows(text) == [
        (1, ["a@example.com", "A"]),
        (2, ["b@example.com", f"B{end}C"]),
        (4, ["d@example.com", "D"]),
    ]


@cases(
    "broken",
    [
        'b@example.com,"B',
        'b@example.com,"B,x',
        'b@example.com,"B ""C"" D',
        '"b@example.com,B',
        'b@example.com,  "B',
    ],
)
@cases(
    "later",
    [
        "",
        'c@example.com,"C"\n',
        'c@example.com,C"\n',
        '"c@example.com","C"\n',
        'c@example.com,"C, ""D"""\n',
        'c@example.com,""\n',
    ],
)
def test_quote_that_is_not_closed_is_named_with_its_line(broken: str, later: str) -> None:
    text = f"a@example.com,A\n{broken}\n" + "x@example.com,X\n" * 3 + later
    message = refusal_of(text)
    assert f"The quote at character {broken.index(chr(34)) + 1} of line 2 of people.csv" in message


def test_quote_in_a_file_of_emails_alone_is_named() -> None:
    text = '"a@example.com\nb@example.com\nc@example.com"\n'
    assert "character 1 of line 1 of people.csv" in refusal_of(text, columns=1)


def test_quote_after_a_cell_of_several_lines_is_named_with_its_own_line() -> None:
    text = 'a@example.com,"A\nB","C\nb@example.com,B,D\n'
    assert "character 4 of line 2 of people.csv" in refusal_of(text)


def test_quote_that_is_not_closed_within_the_limit_is_named() -> None:
    text = 'a@example.com,"A\n' + "b@example.com,B\n" * 20_000
    assert "character 15 of line 1 of people.csv" in refusal_of(text)


@cases(
    ("text", "cells"),
    [
        ('a@example.com,Ann "Annie" Lee\n', ["a@example.com", 'Ann "Annie" Lee']),
        ('a@example.com,"Ann ""Annie"" Lee"\n', ["a@example.com", 'Ann "Annie" Lee']),
        ('a@example.com,"Lee, Ann"\n', ["a@example.com", "Lee, Ann"]),
        ('a@example.com, "Lee, Ann"\n', ["a@example.com", "Lee, Ann"]),
        ('a@example.com,5" pipe\n', ["a@example.com", '5" pipe']),
        ('a@example.com,""\n', ["a@example.com", ""]),
        ('a@example.com,"One\ntwo, three\nb@example.com"\n', None),
        ('a@example.com,"Mail to\nb@example.com, please, soon"\n', None),
    ],
)
def test_quotes_in_their_place_are_read(text: str, cells: list[str] | None) -> None:
    [(line, found)] = rows(text)
    assert line == 1
    assert found == (cells or next(csv.reader(io.StringIO(text, newline=""))))


def test_row_with_a_quote_in_the_wrong_place_is_named_alone() -> None:
    text = 'a@example.com,"A" x\nb@example.com,B\n'
    problem = "a closing quote isn't followed by , or the end of the line"
    assert rows(text) == [(1, [problem]), (2, ["b@example.com", "B"])]


def test_value_that_is_too_long_is_named_alone() -> None:
    text = f"a@example.com,{'x' * 140_000}\nb@example.com,B\n"
    assert rows(text)[0] == (1, ["a value has more than 131,072 characters"])
    assert rows(text)[1] == (2, ["b@example.com", "B"])


@cases(
    ("data", "message"),
    [
        (b"email\na\0@example.com\n", "Line 2 of people.csv has a NUL byte"),
        ("email\nä@example.com\n".encode("latin-1"), "Line 2 of people.csv isn't UTF-8 text"),
        ("email\n".encode("utf-16"), "people.csv is in UTF-16"),
        ("email\n".encode("utf-16-le"), "Line 1 of people.csv has a NUL byte"),
        ("email\n".encode("utf-32"), "people.csv is in UTF-16"),
        (b"PK\x03\x04\x14\0", "people.csv is a ZIP archive or a workbook"),
        (b"\x1f\x8b\x08\0", "people.csv is compressed"),
        (b"PGDMP\x01\x0e", "people.csv is a dump of PostgreSQL"),
    ],
)
def test_file_that_is_no_text_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(Refused, match=message):
        [*read_lines("people.csv", [data])]


def test_line_without_an_end_is_refused_before_it_fills_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_files, "MAX_LINE", 1000)
    read = 0

    def endless() -> object:
        nonlocal read
        while True:
            read += 1
            yield b"x" * 100

    with pytest.raises(Refused, match="is longer than"):
        [*read_lines("people.csv", endless())]  # type: ignore[arg-type]
    assert read < 20


def test_byte_order_mark_is_no_part_of_the_text() -> None:
    data = b"\xef\xbb\xbfemail\n"
    assert [*read_lines("people.csv", [data])] == [Line(1, "email\n")]


@given(
    st.lists(
        st.lists(st.text(st.sampled_from('ab,;" \n\r@.é'), max_size=8), min_size=2, max_size=4),
        max_size=5,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_what_a_writer_quotes_is_read_back(table: list[list[str]], end: str) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(table)
    assert [cells for _, cells in rows(written.getvalue())] == table
