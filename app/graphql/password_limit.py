"""A limit on password hashes per request, over all its aliases and batch entries."""

from app.domain.values.errors import TooManyRequests
from app.ports import PasswordHasher

MAX_HASHES = 2
"""Enough for every single mutation; one hash takes as much CPU as hundreds of requests."""

_RETRY_AFTER = 1


class LimitedHasher:
    """A password hasher for one request; raises ``TooManyRequests`` beyond ``MAX_HASHES``."""

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self._left = MAX_HASHES

    def hash(self, password: str) -> str:
        self._count()
        return self._hasher.hash(password)

    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> bool:
        self._count()
        return self._hasher.verify(password_hash, password, imported_seconds)

    def verify_sign_in(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> bool:
        self._count()
        return self._hasher.verify_sign_in(password_hash, password, imported_seconds)

    def verify_token(self, token_hash: str, token: str) -> bool:
        self._count()
        return self._hasher.verify_token(token_hash, token)

    def needs_rehash(self, password_hash: str) -> bool:
        # Without a hash left, an outdated one is renewed at the next sign-in.
        return self._left > 0 and self._hasher.needs_rehash(password_hash)

    def _count(self) -> None:
        if not self._left:
            raise TooManyRequests(_RETRY_AFTER)
        self._left -= 1
