"""The form of an app's token."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.apps.apps import (
    TOKEN_RANDOM_LENGTH,
    is_app_token,
    last_four,
    make_app_token,
    token_digest,
)
from tests.fixtures.cases import cases

LETTERS = st.text(
    string.ascii_letters + string.digits,
    min_size=TOKEN_RANDOM_LENGTH,
    max_size=TOKEN_RANDOM_LENGTH,
)
TOKEN = make_app_token("a" * TOKEN_RANDOM_LENGTH)


@given(LETTERS)
def test_app_token_is_recognized_by_its_format(random: str) -> None:
    token = make_app_token(random)
    assert token.startswith("lkapp_")
    assert len(token) == 6 + 43
    assert is_app_token(token)


@given(LETTERS, st.integers(6, 48), st.sampled_from(string.ascii_letters + string.digits))
def test_token_with_a_changed_character_is_invalid(random: str, place: int, other: str) -> None:
    token = make_app_token(random)
    mistyped = token[:place] + other + token[place + 1 :]
    assert is_app_token(mistyped) is (mistyped == token)


@cases(
    "text",
    [
        "",
        "lkapp_",
        "eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
        TOKEN[:-1],
        TOKEN + "0",
        TOKEN + "\n",
        TOKEN.upper(),
        TOKEN.replace("a", "ä", 1),
        TOKEN.replace("a", "\ud800", 1),
        "ghp_" + TOKEN.removeprefix("lkapp_"),
    ],
)
def test_other_text_is_not_an_app_token(text: str) -> None:
    assert not is_app_token(text)


@cases("random", ["", "a" * 36, "a" * 38, "-" * 37, "ä" * 37])
def test_token_has_a_fixed_number_of_letters_and_digits(random: str) -> None:
    with pytest.raises(ValueError, match="37 random letters and digits"):
        make_app_token(random)


def test_stored_and_shown_forms_do_not_reveal_the_token() -> None:
    assert last_four(TOKEN) == TOKEN[45:]
    assert len(token_digest(TOKEN)) == 64
    assert TOKEN[6:20] not in token_digest(TOKEN)


def test_any_text_has_a_digest() -> None:
    assert token_digest("\ud800") != token_digest("")
