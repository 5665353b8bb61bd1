"""Passwords: hashing, slow on purpose and never inside a transaction; and how strong they are."""

from collections.abc import Collection
from enum import IntEnum
from typing import Protocol

from app.domain.passwords.passwords import Strength
from app.domain.values.errors import Problem, Refused


class PasswordStrength(Protocol):
    def estimate(self, password: str, words: Collection[str] = ()) -> Strength:
        """How hard ``password`` is to guess for someone who has the account's ``words``.

        The beginning of a long password decides: estimating takes more than linear time.
        """

    def is_leaked(self, password: str) -> bool:
        """Whether ``password`` is on a list of leaked ones; takes a fraction of a millisecond."""


_SECONDS = 2
_BUSY = Problem(
    "LOGIN_ATTEMPT_DELAYED",
    f"Too many passwords are being checked right now. Try again in {_SECONDS} s.",
)


class PasswordsBusy(Refused):
    """More passwords wait to be hashed than can be in good time; known addresses and unknown."""

    def __init__(self) -> None:
        super().__init__(_BUSY)


class Match(IntEnum):
    """How a password compares with a hash; only ``NONE`` is false."""

    NONE = 0
    RIGHT = 1
    AS_TYPED = 2
    """The hash is of what was typed, which isn't its NFC form: a new hash should replace it."""


class PasswordHasher(Protocol):
    """Hashing uses a whole processor: so many can wait for it, more raise ``PasswordsBusy``.

    Sign-ins have a separate share, so that a flood of registrations or of app tokens doesn't
    delay them. In a process that doesn't serve, everything waits for its turn.
    """

    def hash(self, password: str) -> str:
        """The hash of the NFC form to store, with its parameters and salt in it."""

    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        """Compare ``password``; without a hash it takes just as long and matches nothing.

        It is compared as typed, then, only if that differs, in its NFC form: keyboards send the
        same letter composed or decomposed (NIST SP 800-63B-4, 3.1.1.2).
        ``imported_seconds`` is what an imported hash costs (``HashFormat.seconds``). Every refusal
        then costs that much and an argon2id hash, so its time doesn't tell which the user has.
        """

    def verify_sign_in(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        """The same as ``verify``, in the share that is reserved for sign-ins."""

    def verify_token(self, token_hash: str, token: str) -> bool:
        """Whether ``token`` is the imported app token of that hash; in a separate share."""

    def needs_rehash(self, password_hash: str, match: Match = Match.RIGHT) -> bool:
        """Whether the hash was imported, made at another cost than today's, or ``AS_TYPED``."""
