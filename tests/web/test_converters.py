"""What a query string or a form says is taken by its type, or counts as not said."""

from datetime import date

from werkzeug.datastructures import MultiDict

from app.web.converters import day, one_of, row_key
from tests.fixtures.cases import cases


@cases(("text", "key"), [("7", 7), (" 7 ", 7), ("0007", 7), ("9" * 18, 10**18 - 1)])
def test_key_is_read(text: str, key: int) -> None:
    assert MultiDict({"app": text}).get("app", type=row_key) == key


@cases("text", ["", "-1", "1e9", "1\0", "\u0663", "9" * 19, "x", "\ud800"])
def test_invalid_key_counts_as_absent(text: str) -> None:
    assert MultiDict({"app": text}).get("app", type=row_key) is None


def test_invalid_keys_are_left_out_of_a_list() -> None:
    values = MultiDict([("id", "1"), ("id", "x"), ("id", "2")])
    assert values.getlist("id", type=row_key) == [1, 2]


@cases("text", ["2026-03-01", " 2026-03-01 "])
def test_day_is_read(text: str) -> None:
    assert MultiDict({"from": text}).get("from", type=day) == date(2026, 3, 1)


@cases("text", ["", "0000-00-00", "2026-02-30", "20260301", "2026-W09-7", "1\0"])
def test_invalid_day_counts_as_absent(text: str) -> None:
    assert MultiDict({"from": text}).get("from", type=day) is None


def test_choice_must_be_one_of_the_offered_words() -> None:
    values = MultiDict({"sort": "name", "by": "nonsense"})
    assert values.get("sort", "", type=one_of({"name": "Name"})) == "name"
    assert values.get("by", "newest", type=one_of(("newest", "oldest"))) == "newest"
