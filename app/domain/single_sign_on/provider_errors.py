"""Errors with which a provider sends the browser back, instead of with a code.

RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.values.errors import Problem
from app.domain.values.text import translatable
from app.domain.values.text_rules import is_storable

MAX_LENGTH = 120
"""Characters of a provider's error, and of its description, that are shown and logged."""

_AGAIN = translatable("{provider} couldn't complete the sign-in. Try again later. ({error})")
_ASKS = translatable("{provider} needs you to sign in there first. Try again. ({error})")
_CLIENT = translatable(
    "{provider} refused the request. An administrator must check how this client is set up there. "
    "({error})"
)
_OTHER = translatable("{provider} refused the sign-in. ({error})")
_WORDS: Mapping[str, str] = {
    "access_denied": translatable(
        "The sign-in was canceled, or {provider} doesn't allow this account to sign in here. "
        "({error})"
    ),
    "login_required": _ASKS,
    "interaction_required": _ASKS,
    "account_selection_required": _ASKS,
    "consent_required": _ASKS,
    "server_error": _AGAIN,
    "temporarily_unavailable": _AGAIN,
    "invalid_request": _CLIENT,
    "invalid_scope": _CLIENT,
    "unauthorized_client": _CLIENT,
    "unsupported_response_type": _CLIENT,
}


@dataclass(frozen=True, slots=True)
class ProviderError:
    """A provider's error, by its code, and what it says about it."""

    code: str
    description: str = ""

    @property
    def is_temporary(self) -> bool:
        return _WORDS.get(self.code) == _AGAIN

    def problem(self, provider: str) -> Problem:
        """Return the refusal, in words that name the ``provider``."""
        said = f"{self.code}: {self.description}" if self.description else self.code
        template = _WORDS.get(self.code, _OTHER)
        return Problem("INVALID", template, "error", values={"provider": provider, "error": said})


def read_provider_error(code: str | None, description: str | None) -> ProviderError | None:
    """Read the parameters ``error`` and ``error_description``; ``None`` without an error."""
    if not code:
        return None
    return ProviderError(_line(code), _line(description or ""))


def _line(said: str) -> str:
    """Return ``said`` as one line of limited length that can be stored."""
    line = " ".join(said[: 2 * MAX_LENGTH].split())
    shown = "".join(mark for mark in line if mark.isprintable() and is_storable(mark))
    return shown if len(shown) <= MAX_LENGTH else f"{shown[: MAX_LENGTH - 1]}…"
