"""How easily a password is guessed, and whether it has leaked: computed here, sent nowhere."""

from collections.abc import Collection
from typing import Protocol

from app.domain.passwords.passwords import Strength


class PasswordStrength(Protocol):
    def estimate(self, password: str, words: Collection[str] = ()) -> Strength:
        """How hard ``password`` is to guess for someone who has the account's ``words``.

        The beginning of a long password decides: estimating takes more than linear time.
        """

    def is_leaked(self, password: str) -> bool:
        """Whether ``password`` is on a list of leaked ones; takes a fraction of a millisecond."""
