"""Sentences with values and plural forms."""

from markupsafe import Markup, escape

from app.domain.values.errors import Problem
from app.domain.values.text import text
from tests.fixtures.cases import cases


def test_values_are_inserted_at_their_placeholders() -> None:
    assert text("{app} calls {url}.", url="https://x.example", app="Till") == (
        "Till calls https://x.example."
    )


@cases(("count", "written"), [(0, "0 apps"), (1, "1 app"), (2, "2 apps"), (1240, "1,240 apps")])
def test_count_chooses_the_plural_form(count: int, written: str) -> None:
    assert text("{count:,} app", "{count:,} apps", count=count) == written


def test_text_without_values_keeps_its_braces() -> None:
    assert text("subscription { event { id } }") == "subscription { event { id } }"


def test_braces_in_a_value_stay() -> None:
    assert text("Unexpected {found}.", found="{name}") == "Unexpected {name}."


def test_markup_escapes_its_values() -> None:
    written = text(escape("{name} & {link}"), name="<b>", link=Markup("<a>x</a>"))
    assert written == "&lt;b&gt; &amp; <a>x</a>"


def test_problem_is_written_with_its_values() -> None:
    problem = Problem("INVALID", "Use at most {longest} characters.", values={"longest": 5})
    assert problem.message == "Use at most 5 characters."


@cases(("count", "written"), [(1, "1 minute left."), (2, "2 minutes left.")])
def test_problem_chooses_its_plural_form(count: int, written: str) -> None:
    problem = Problem(
        "X", "{count} minute left.", plural="{count} minutes left.", values={"count": count}
    )
    assert problem.message == written


def test_template_of_a_problem_that_came_from_outside_is_not_formatted() -> None:
    assert Problem("GRAPHQL_ERROR", 'Expected "{".').message == 'Expected "{".'
