"""Rules for texts that people type and that end up on pages and in mail headers."""

import unicodedata

from app.domain.errors import Problem


def line_problem(text: str, field: str, *, longest: int, code: str = "INVALID") -> Problem | None:
    """Why ``text`` cannot be one line of at most ``longest`` characters, or ``None``.

    Control characters and line breaks are refused everywhere: what reaches a mail header must
    never be able to end one.
    """
    if len(text) > longest:
        return _too_long(text, field, longest, code)
    if has_control_characters(text):
        return Problem(code, "Line breaks and control characters are not allowed here.", field)
    return None


def prose_problem(text: str, field: str, *, longest: int, code: str = "INVALID") -> Problem | None:
    """Why ``text`` cannot be prose of at most ``longest`` characters, or ``None``."""
    if len(text) > longest:
        return _too_long(text, field, longest, code)
    if not is_storable(text):
        return Problem(code, "It holds characters that cannot be stored.", field)
    return None


def is_storable(text: str) -> bool:
    """Whether every database can hold ``text``: PostgreSQL knows no NUL, UTF-8 no half a pair."""
    return not any(character == "\0" or _is_surrogate(character) for character in text)


def has_control_characters(text: str) -> bool:
    """Whether ``text`` holds a control character, a line break, or half a surrogate pair."""
    return any(_breaks(character) for character in text)


def _too_long(text: str, field: str, longest: int, code: str) -> Problem:
    return Problem(code, f"Use at most {longest} characters; this has {len(text)}.", field)


def _breaks(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def _is_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"
