"""Rules for short texts that people type and that end up on pages and in mail headers."""

import unicodedata

from app.domain.errors import Problem


def line_problem(text: str, field: str, *, longest: int, code: str = "INVALID") -> Problem | None:
    """Why ``text`` cannot be one line of at most ``longest`` characters, or ``None``.

    Control characters and line breaks are refused everywhere: what reaches a mail header must
    never be able to end one.
    """
    if len(text) > longest:
        return Problem(code, f"Use at most {longest} characters; this has {len(text)}.", field)
    if any(_breaks(character) for character in text):
        return Problem(code, "Line breaks and control characters are not allowed here.", field)
    return None


def _breaks(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
