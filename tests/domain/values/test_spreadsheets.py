"""Cells of CSV files in spreadsheets of every language."""

import csv
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from app.domain.values.text_rules import safe_cell
from tests.fixtures.cases import cases


@cases(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("+49 30 1234", "'+49 30 1234"),
        (" =1+1", "' =1+1"),
        ("\u00a0\u200b=1+1", "'\u00a0\u200b=1+1"),
        ("\ufeff=1+1", "'\ufeff=1+1"),
        ('"=1+1"', '\'"=1+1"'),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff20SUM(A1)", "'\uff20SUM(A1)"),
        ("\tplain", "'\tplain"),
        ("\r=1+1", "'\r'=1+1"),
        ('a;=HYPERLINK("https://evil.example")', 'a;\'=HYPERLINK("https://evil.example")'),
        ('a; "=1+1"', 'a;\' "=1+1"'),
        ("a;b;-1+cmd", "a;b;'-1+cmd"),
        ("a\t=1+1", "a\t'=1+1"),
        ("a\n=1+1", "a\n'=1+1"),
        ("a\r\n\uff0b1+1", "a\r\n'\uff0b1+1"),
    ],
)
def test_formula_becomes_a_text(value: str, cell: str) -> None:
    assert safe_cell(value) == cell


@cases(
    "value",
    [
        *("", "Ann", "ann@example.com", "a;b", "a; b = c", "1+1=2", "5 - 3", "-5", "+7", "-3.25"),
        *("a;-5", "Lee, Ann", "x, =y", "it's", "Zoë - Köln", "2026-03-01T09:00:00+00:00", "a\nb"),
    ],
)
def test_harmless_text_stays(value: str) -> None:
    assert safe_cell(value) == value


@given(st.text(st.sampled_from("a1=+-@;\t\r\n\"', \uff1d"), max_size=20))
def test_no_separator_makes_a_formula(value: str) -> None:
    written = io.StringIO(newline="")
    csv.writer(written).writerow(["first", safe_cell(value)])
    for separator in (";", "\t"):
        # As a program reads it for which a comma is no separator: quotes within a cell are text.
        for line in re.split(r"\r\n|\r|\n", written.getvalue()):
            for cell in line.split(separator):
                start = cell.strip(' "\t')
                is_number = re.fullmatch(r"[+-]\d+", start)
                assert not start.startswith(("=", "@", "+", "-", "\uff1d")) or is_number
