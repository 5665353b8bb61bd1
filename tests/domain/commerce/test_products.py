"""What products may be called, and what their slugs are."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import Permission
from app.domain.commerce.products import (
    MAX_NAME_LENGTH,
    MAX_SLUG_LENGTH,
    name_problem,
    sees_unpublished,
    slug_of,
    slug_problem,
)
from tests.fixtures.cases import cases

PRODUCTS = frozenset({Permission.MANAGE_PRODUCTS})


@cases(
    ("name", "slug"),
    [
        ("Ash bowl", "ash-bowl"),
        ("  Ash   bowl  ", "ash-bowl"),
        ("Crème Brûlée (for 2)", "creme-brulee-for-2"),
        ("Łódź_mug", "łodz-mug"),
        ("Чашка", "чашка"),
        ("茶碗", "茶碗"),
        ("STRASSE Straße", "strasse-strasse"),
        ("!!!", "product"),
        ("", "product"),
        ("a" * MAX_NAME_LENGTH, "a" * (MAX_SLUG_LENGTH - 20)),
    ],
)
def test_slug_is_made_of_the_names_words(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@given(st.text(max_size=400))
def test_slug_of_any_name_is_valid(name: str) -> None:
    assert slug_problem(slug_of(name)) is None
    assert slug_problem(slug_of(name) + "-" + "9" * 18) is None


@cases(
    ("slug", "code"),
    [
        ("ash-bowl_2", None),
        ("çay", None),
        ("a" * MAX_SLUG_LENGTH, None),
        ("a" * (MAX_SLUG_LENGTH + 1), "INVALID"),
        ("", "INVALID"),
        ("ash bowl", "INVALID"),
        ("ash/bowl", "INVALID"),
        ("../etc", "INVALID"),
        ("ash\n", "INVALID"),
        ("a\0", "INVALID"),
        ("\ud800", "INVALID"),
    ],
)
def test_slug_fits_into_a_url(slug: str, code: str | None) -> None:
    problem = slug_problem(slug)
    assert (problem.code if problem else None) == code


@cases(
    ("name", "code"),
    [
        ("Ash bowl", None),
        ("a" * MAX_NAME_LENGTH, None),
        ("", "REQUIRED"),
        ("a" * (MAX_NAME_LENGTH + 1), "INVALID"),
        ("Ash\nbowl", "INVALID"),
        ("Ash\0bowl", "INVALID"),
        ("\ud800", "INVALID"),
    ],
)
def test_name_must_be_one_line(name: str, code: str | None) -> None:
    problem = name_problem(name)
    assert (problem.code if problem else None) == code


@cases(
    ("actor", "sees"),
    [
        (anonymous(), False),
        (Actor(ActorKind.USER, user_id=1), False),
        (Actor(ActorKind.USER, user_id=1, is_staff=True), False),
        (Actor(ActorKind.USER, user_id=1, is_staff=True, permissions=PRODUCTS), True),
        (Actor(ActorKind.APP, app_id=1), False),
        (Actor(ActorKind.APP, app_id=1, permissions=PRODUCTS), True),
        (OPERATOR, True),
    ],
)
def test_unpublished_products_require_manage_products(actor: Actor, sees: bool) -> None:
    assert sees_unpublished(actor) is sees
