"""Left out is not the same as null."""

from app.domain.values.unset import ABSENT, present


def test_what_was_left_out_is_replaced() -> None:
    assert present(ABSENT, "as before") == "as before"


def test_what_was_sent_stays_even_when_it_is_null_or_empty() -> None:
    sent_as_null: str | None = None
    assert present(sent_as_null, "as before") is None
    assert present("", "as before") == ""
