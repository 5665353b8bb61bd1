"""Names, slugs, currencies and countries of channels."""

from app.domain.commerce.channels import (
    MAX_NAME_LENGTH,
    MAX_SLUG_LENGTH,
    country_problem,
    currency_problem,
    name_problem,
    slug_problem,
)
from app.domain.values.errors import Problem
from tests.fixtures.cases import cases


def code(problem: Problem | None) -> str | None:
    return None if problem is None else problem.code


@cases(
    ("name", "found"),
    [
        ("Poland", None),
        ("Česko", None),
        ("", "REQUIRED"),
        ("a\nb", "INVALID"),
        ("a" * MAX_NAME_LENGTH, None),
        ("a" * (MAX_NAME_LENGTH + 1), "INVALID"),
    ],
)
def test_names(name: str, found: str | None) -> None:
    assert code(name_problem(name)) == found


@cases(
    ("slug", "found"),
    [
        ("default-channel", None),
        ("PL_2", None),
        ("", "REQUIRED"),
        ("a b", "INVALID"),
        ("česko", "INVALID"),
        ("a\x00", "INVALID"),
        ("a" * MAX_SLUG_LENGTH, None),
        ("a" * (MAX_SLUG_LENGTH + 1), "INVALID"),
    ],
)
def test_slugs(slug: str, found: str | None) -> None:
    assert code(slug_problem(slug)) == found


@cases(
    ("currency", "found"),
    [("EUR", None), ("PLN", None), ("eur", "INVALID"), ("", "INVALID"), ("ABC", "INVALID")],
)
def test_currencies(currency: str, found: str | None) -> None:
    assert code(currency_problem(currency)) == found


@cases(("country", "found"), [("PL", None), ("XK", None), ("EU", None), ("pl", "INVALID")])
def test_countries(country: str, found: str | None) -> None:
    assert code(country_problem(country)) == found
