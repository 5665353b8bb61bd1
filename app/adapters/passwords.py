"""Passwords by argon2id (RFC 9106) at argon2-cffi's current profile."""

from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError


class Argon2Hasher:
    """argon2id; without a stored hash a decoy is verified, so that the time tells nothing."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()

    @cached_property
    def _decoy(self) -> str:
        return self._hasher.hash("a password that nobody has")

    def hash(self, password: str) -> str:
        return self._hasher.hash(_bytes(password))

    def verify(self, password_hash: str | None, password: str) -> bool:
        decoy = self._decoy  # made by whichever login comes first, known address or not
        try:
            self._hasher.verify(password_hash or decoy, _bytes(password))
        except (VerificationError, InvalidHashError):
            return False
        return password_hash is not None

    def needs_rehash(self, password_hash: str) -> bool:
        return self._hasher.check_needs_rehash(password_hash)


def _bytes(password: str) -> bytes:
    # JSON can carry half a surrogate pair; it is hashed as it came, never refused or changed.
    return password.encode("utf-8", "surrogatepass")
