"""A limit on password hashes per request, over all its aliases and batch entries."""

import threading

from app.domain.values.errors import TooManyRequests
from app.ports import PasswordHasher
from app.ports.passwords import Match

MAX_HASHES = 2
"""Enough for every single mutation; one hash takes as much CPU as hundreds of requests."""

_RETRY_AFTER = 1


class LimitedHasher:
    """A password hasher that raises ``TooManyRequests`` beyond ``MAX_HASHES`` of a request.

    A request is executed by one thread, which calls ``begin_request`` first.
    """

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self._request = threading.local()

    def begin_request(self) -> None:
        """Start to count for the next request of this thread."""
        self._request.left = MAX_HASHES

    def hash(self, password: str) -> str:
        self._count()
        return self._hasher.hash(password)

    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        self._count()
        return self._hasher.verify(password_hash, password, imported_seconds)

    def verify_sign_in(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        self._count()
        return self._hasher.verify_sign_in(password_hash, password, imported_seconds)

    def verify_token(self, token_hash: str, token: str) -> bool:
        self._count()
        return self._hasher.verify_token(token_hash, token)

    def needs_rehash(self, password_hash: str, match: Match = Match.RIGHT) -> bool:
        # Without a hash left, an outdated one is renewed at the next sign-in.
        return self._request.left > 0 and self._hasher.needs_rehash(password_hash, match)

    def _count(self) -> None:
        if not self._request.left:
            raise TooManyRequests(_RETRY_AFTER)
        self._request.left -= 1
