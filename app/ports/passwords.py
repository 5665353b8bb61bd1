"""Hashing of passwords: slow on purpose, never inside a transaction."""

from typing import Protocol

from app.domain.values.errors import Problem, Refused

_SECONDS = 2
_BUSY = Problem(
    "LOGIN_ATTEMPT_DELAYED",
    f"Too many passwords are being checked right now. Try again in {_SECONDS} s.",
)


class PasswordsBusy(Refused):
    """More passwords wait to be hashed than can be in good time; known addresses and unknown."""

    def __init__(self) -> None:
        super().__init__(_BUSY)


class PasswordHasher(Protocol):
    """Hashing uses a whole processor: so many can wait for it, more raise ``PasswordsBusy``.

    Sign-ins have a separate share, so that a flood of registrations or of app tokens doesn't
    delay them.
    """

    def hash(self, password: str) -> str:
        """The hash to store, with its parameters and salt in it."""

    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> bool:
        """Whether ``password`` is the one; without a hash it takes just as long and is False.

        ``imported_seconds`` is what an imported hash costs (``HashFormat.seconds``). Every refusal
        then costs that much and a hash of ours: so its time doesn't tell which the user has.
        """

    def verify_sign_in(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> bool:
        """The same as ``verify``, in the share that is reserved for sign-ins."""

    def verify_token(self, token_hash: str, token: str) -> bool:
        """Whether ``token`` is the imported app token of that hash; in a separate share."""

    def needs_rehash(self, password_hash: str) -> bool:
        """Whether the hash was imported, or made at another cost than today's."""
