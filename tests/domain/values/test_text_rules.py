"""What may be typed where a line, or some prose, is expected."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.values.text_rules import is_storable, line_problem, prose_problem
from tests.fixtures.cases import cases


@cases("text", ["", "Latchkey", "Früchte & Gemüse", "日本の店", "🛍️ shop"])
def test_line_can_be_in_any_script(text: str) -> None:
    assert line_problem(text, "name", max_length=100) is None


@cases(
    "text",
    ["two\nlines", "two\r\nlines", "a\ttab", "\0", "\x1b[31m", "a\u2028b", "a\u2029b", "\ud800"],
)
def test_line_has_no_line_breaks(text: str) -> None:
    problem = line_problem(text, "name", max_length=100, code="INVALID")

    assert problem is not None
    assert (problem.code, problem.field) == ("INVALID", "name")


@cases("check", [line_problem, prose_problem])
def test_text_has_a_maximum_length(check: object) -> None:
    assert callable(check)
    assert check("x" * 20, "name", max_length=20) is None
    problem = check("x" * 21, "name", max_length=20)
    assert problem is not None
    assert "20" in problem.message
    assert "21" in problem.message


@cases("text", ["two\nlines", "a\ttab", "a\u2028b", ""])
def test_prose_can_have_lines(text: str) -> None:
    assert prose_problem(text, "description", max_length=100) is None


@cases("text", ["\0", "before\0after", "\ud83d shop"])
def test_unstorable_cursor_is_refused_without_a_query(text: str) -> None:
    assert not is_storable(text)
    problem = prose_problem(text, "description", max_length=100)
    assert problem is not None
    assert (problem.code, problem.field) == ("INVALID", "description")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_other_text_can_be_stored(text: str) -> None:
    assert is_storable(text)
