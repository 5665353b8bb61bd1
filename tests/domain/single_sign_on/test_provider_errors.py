"""Errors with which a provider sends the browser back."""

from app.domain.single_sign_on.providers import (
    MAX_ERROR_LENGTH,
    ProviderError,
    read_provider_error,
)
from tests.fixtures.cases import cases


@cases(
    ("code", "begins", "is_temporary"),
    [
        ("access_denied", "The sign-in was canceled, or Acme doesn't allow", False),
        ("login_required", "Acme needs you to sign in there first.", False),
        ("consent_required", "Acme needs you to sign in there first.", False),
        ("server_error", "Acme couldn't complete the sign-in.", True),
        ("temporarily_unavailable", "Acme couldn't complete the sign-in.", True),
        ("invalid_scope", "Acme refused the request.", False),
        ("a_new_one", "Acme refused the sign-in.", False),
    ],
)
def test_error_is_told_in_words(code: str, begins: str, *, is_temporary: bool) -> None:
    error = ProviderError(code)
    problem = error.problem("Acme")
    assert problem.message.startswith(begins)
    assert problem.message.endswith(f"({code})")
    assert (problem.code, problem.field) == ("INVALID", "error")
    assert error.is_temporary is is_temporary


def test_description_follows_the_code() -> None:
    error = read_provider_error("access_denied", "User did not\r\n consent.")
    assert error is not None
    assert error.problem("Acme").message.endswith("(access_denied: User did not consent.)")


@cases("code", [None, ""])
def test_no_error_is_none(code: str | None) -> None:
    assert read_provider_error(code, "something") is None


def test_what_a_provider_says_is_one_short_line_that_can_be_stored() -> None:
    error = read_provider_error("x" * 10_000, "a\0b\ud800c\u202e{provider}" + "y" * 10_000)
    assert error is not None
    assert len(error.code) == len(error.description) == MAX_ERROR_LENGTH
    assert error.description.startswith("abc{provider}yyy")
    assert "{provider}yyy" in error.problem("Acme").message
