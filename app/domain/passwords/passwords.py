"""Rules for new passwords, and their messages."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from app.domain.values.errors import Problem

MIN_LENGTH = 8
MAX_LENGTH = 1024
"""Characters: longer than typed passwords, and hashed in milliseconds."""

_MAX_NORMALIZED = 2 * MAX_LENGTH
"""Characters, as typed: each letter of the longest password can have an accent."""

_TOO_SIMILAR = 0.7
"""The share of matching characters from which one text reads like another."""

_MIN_WORD_LENGTH = 3
_MAX_WORD_LENGTH = 256
_MAX_COMPARED_LENGTH = 100
"""Characters; comparing takes time that grows with the square. Longer words count if they are
contained in the password as they are.
"""

_MAX_REST = 4
"""A password with no more letters and digits apart from the account's words is too similar."""

_LOOKALIKES = (
    str.maketrans("@4301!|$57", "aaeoiiisst"),
    str.maketrans("@4301!|$57", "aaeolllsst"),
)


@dataclass(frozen=True, slots=True)
class Strength:
    """What a password is worth: ``is_guessable`` takes the account's words into account."""

    is_leaked: bool
    is_guessable: bool


def password_problems(
    password: str, strength: Strength, field: str = "password", words: Iterable[str] = ()
) -> tuple[Problem, ...]:
    """Return the problems of ``password`` as a new one, given its ``strength``.

    PASSWORD_TOO_SHORT and INVALID (too long) come alone; PASSWORD_TOO_COMMON, PASSWORD_TOO_SIMILAR
    (to ``words``: the account's own, in any spelling) and PASSWORD_ENTIRELY_NUMERIC together. A
    password that is guessable because it is similar to them is too similar, not too common.
    Every Unicode character is allowed and counts as one, in the NFC form that is hashed
    (NIST SP 800-63B-4, 3.1.1.2); the password is folded only here, for comparison.
    """
    password = normalize_password(password)
    values = {"min_length": MIN_LENGTH, "max_length": MAX_LENGTH, "count": len(password)}
    if len(password) < MIN_LENGTH:
        message = "Use at least {min_length} characters; this has {count}."
        return (Problem("PASSWORD_TOO_SHORT", message, field, values=values),)
    if len(password) > MAX_LENGTH:
        message = "Use at most {max_length} characters; this has {count}."
        return (Problem("INVALID", message, field, values=values),)
    problems = []
    similar = similar_word(password, words)
    if strength.is_leaked or (strength.is_guessable and similar is None):
        message = "This password is too common. Choose one that's harder to guess."
        problems.append(Problem("PASSWORD_TOO_COMMON", message, field))
    if similar is not None:
        message = "This is too similar to {similar} of this account."
        problems.append(
            Problem("PASSWORD_TOO_SIMILAR", message, field, values={"similar": repr(similar)})
        )
    if password.isdecimal():
        message = "Use more than digits."
        problems.append(Problem("PASSWORD_ENTIRELY_NUMERIC", message, field))
    return tuple(problems)


def normalize_password(password: str) -> str:
    """Return the NFC form: the same letter can be typed composed or decomposed.

    What is too long for a new password stays as it is: normalizing takes time that grows with the
    square of its marks.
    """
    if len(password) > _MAX_NORMALIZED:
        return password
    return unicodedata.normalize("NFC", password)


def own_words(email: str = "", *names: str) -> tuple[str, ...]:
    """Return the words that others know about an account: its address, its names, and their parts.

    Only the beginning of a text counts that is longer than any that is stored.
    """
    words = [text[:_MAX_WORD_LENGTH] for text in (email, *names)]
    parts = [part for word in words for part in re.split(r"[\W_]+", word)]
    return tuple(dict.fromkeys(word for word in (*words, *parts) if len(word) >= _MIN_WORD_LENGTH))


def similar_word(password: str, words: Iterable[str]) -> str | None:
    """Return the one of ``words`` to which ``password`` is too similar, if any.

    Also the first of them in a ``password`` that consists of little else.
    """
    folded = _fold(password)
    folded_words = [(word, _fold(word)) for word in words if len(word) >= _MIN_WORD_LENGTH]
    for word, plain in folded_words:
        if _is_similar(folded, plain):
            return word
    rest = folded
    for _, plain in sorted(folded_words, key=lambda pair: -len(pair[1])):
        rest = rest.replace(plain, " ")
    if sum(character.isalnum() for character in rest) > _MAX_REST:
        return None
    return next((word for word, plain in folded_words if plain in folded), None)


def _is_similar(password: str, word: str) -> bool:
    # Where the lengths alone rule it out, the costly comparison is spared.
    if max(len(password), len(word)) > _MAX_COMPARED_LENGTH:
        return False
    if 2 * min(len(password), len(word)) < _TOO_SIMILAR * (len(password) + len(word)):
        return False
    return any(
        matcher.quick_ratio() >= _TOO_SIMILAR and matcher.ratio() >= _TOO_SIMILAR
        for text in (password, *(password.translate(table) for table in _LOOKALIKES))
        for matcher in [SequenceMatcher(None, text, word)]
    )


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
