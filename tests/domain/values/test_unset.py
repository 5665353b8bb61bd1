"""Left out is not the same as null."""

from app.domain.values.inputs import ABSENT, present


def test_absent_value_is_replaced() -> None:
    assert present(ABSENT, "as before") == "as before"


def test_sent_null_or_empty_value_stays() -> None:
    sent_as_null: str | None = None
    assert present(sent_as_null, "as before") is None
    assert present("", "as before") == ""
