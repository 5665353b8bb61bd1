"""Rules for texts that people type and that end up on pages, in mail headers and spreadsheets."""

import re
import unicodedata

import idna

from app.domain.values.errors import Problem

_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")
_CONTROL = re.compile(r"[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Unicode's categories Cc, Cs, Zl and Zp; scanning by a pattern keeps long texts cheap."""

_BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
"""Characters that show nothing although Unicode counts them as letters, marks or symbols."""

_JOINERS = "\u200c\u200d"
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_IGNORED = re.compile("[\ufff0-\ufff8\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]")
_KEYCAPS = "0123456789#*"
_TURNS_TEXT_AROUND = re.compile("[\u202a-\u202e\u2066-\u2069]")


MAX_NAME_LENGTH = 256
"""Characters of the names of apps, webhooks, identity providers and the like."""


def line_problem(
    text: str, field: str, *, max_length: int = MAX_NAME_LENGTH, code: str = "INVALID"
) -> Problem | None:
    """Return why ``text`` cannot be one line of at most ``max_length`` characters, or ``None``.

    The rule for every name and label that others see. Control characters and line breaks are
    refused everywhere: what reaches a mail header must never be able to end one. So are
    bidirectional controls and invisible characters, which make one name look like another.
    """
    if len(text) > max_length:
        return _too_long(text, field, max_length, code)
    if has_control_characters(text):
        return Problem(code, "Line breaks and control characters are not allowed here.", field)
    if not text.isascii() and any(_is_invisible(text, place) for place in range(len(text))):
        return Problem(code, "Invisible characters are not allowed here.", field)
    return None


def prose_problem(
    text: str, field: str, *, max_length: int, code: str = "INVALID"
) -> Problem | None:
    """Return why ``text`` cannot be prose of at most ``max_length`` characters, or ``None``.

    Characters that reverse the order of the text around them are refused: what is shown would
    not be what is stored.
    """
    if len(text) > max_length:
        return _too_long(text, field, max_length, code)
    if not is_storable(text):
        return Problem(code, "Contains characters that can't be stored.", field)
    if turns_text_around(text):
        return Problem(code, "Characters that change the text direction are not allowed.", field)
    return None


def turns_text_around(text: str) -> bool:
    """Whether ``text`` holds a character that reverses the order of the text around it."""
    return _TURNS_TEXT_AROUND.search(text) is not None


def is_storable(text: str) -> bool:
    """Whether every database can hold ``text``: PostgreSQL knows no NUL, UTF-8 no half a pair."""
    return _UNSTORABLE.search(text) is None


def has_control_characters(text: str) -> bool:
    """Whether ``text`` holds a control character, a line break, or half a surrogate pair."""
    return _CONTROL.search(text) is not None


def _too_long(text: str, field: str, max_length: int, code: str) -> Problem:
    return Problem(
        code,
        "Use at most {max_length} characters; this has {count}.",
        field,
        values={"max_length": max_length, "count": len(text)},
    )


def _is_invisible(text: str, place: int) -> bool:
    """Whether the character at ``place`` can't be seen and doesn't shape its neighbors either."""
    character, before = text[place], text[place - 1 : place]
    if character in _JOINERS:
        return not _joins(text, place)
    if _SELECTORS.match(character):
        is_shown = not before.isascii() and not before.isspace() and not _SELECTORS.match(before)
        return not (is_shown or (before and before in _KEYCAPS))
    if character in _BLANK_LETTERS or _IGNORED.match(character):
        return True
    return unicodedata.category(character) == "Cf"


def _joins(text: str, place: int) -> bool:
    """Whether a joiner is needed by a script (RFC 5892, A.1 and A.2) or an emoji."""
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    if text[place] == "\u200d" and len(around) == 2:  # noqa: PLR2004 - one on each side
        kinds = [unicodedata.category(character) for character in around]
        if (kinds[0] in ("So", "Sk") or _SELECTORS.match(around[0])) and kinds[1] == "So":
            return True
    try:
        return idna.valid_contextj(text, place)
    except (ValueError, IndexError):
        return False


_SIGNS = r"=+\-@\uFF1D\uFF0B\uFF0D\uFF20"
"""What formulas begin with, also as wide letters."""

_BLANKS = r"\s\"\uFEFF\u200B-\u200F\u2060-\u2064"
_CELL_START = r"(?:\A|(?<=[;\t\n])|(?<=\r)(?!\n))"
"""Where a cell can begin: programs whose separator is ``;`` or a tab split a cell there.

They don't see that it is quoted, because a comma doesn't begin a cell for them.
"""

_NUMBER = r"[+-]\d+(?:[.,]\d+)?(?=[;\t\r\n]|\Z)"
_FORMULA = re.compile(rf"{_CELL_START}(?!{_NUMBER})(?=[{_BLANKS}]*[{_SIGNS}])|\A(?=[\t\r])")


def safe_cell(value: str) -> str:
    """Return ``value`` as the cell of a CSV file that no spreadsheet runs as a formula.

    An apostrophe in front makes it a text (OWASP, "CSV injection"). Numbers stay as they are.
    """
    return _FORMULA.sub("'", value)
