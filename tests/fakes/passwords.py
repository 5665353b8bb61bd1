"""A fast hasher that refuses to work inside a transaction."""

import hashlib
from collections.abc import Callable
from threading import Event

from typing_extensions import override

from app.domain.passwords.passwords import normalize_password
from app.ports import Database
from app.ports.passwords import Match

_PREFIX = "fake$"


class FakeHasher:
    """SHA-256 with a visible cost, so that a test can change it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.cost = 1
        self.verifications = 0
        self.hashes = 0
        self.imported_seconds = 0.0

    def hash(self, password: str) -> str:
        self._outside()
        self.hashes += 1
        return f"{_PREFIX}{self.cost}${_digest(normalize_password(password))}"

    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        self._outside()
        self.imported_seconds = imported_seconds
        self.verifications += 1
        digest, normalized = (password_hash or "").split("$")[-1], normalize_password(password)
        if digest == _digest(password):
            return Match.RIGHT if password == normalized else Match.AS_TYPED
        return Match.RIGHT if digest == _digest(normalized) else Match.NONE

    def verify_sign_in(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        return self.verify(password_hash, password, imported_seconds)

    def verify_token(self, token_hash: str, token: str) -> bool:
        return bool(self.verify(token_hash, token))

    def needs_rehash(self, password_hash: str, match: Match = Match.RIGHT) -> bool:
        return match is Match.AS_TYPED or password_hash.split("$")[1] != str(self.cost)

    def _outside(self) -> None:
        assert not self._database.in_transaction, "no password hashing inside a transaction"


class InterruptedHasher(FakeHasher):
    """Runs an action while a password is compared."""

    def __init__(self, database: Database, meanwhile: Callable[[], object]) -> None:
        super().__init__(database)
        self._meanwhile = meanwhile

    @override
    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        verified = super().verify(password_hash, password, imported_seconds)
        self._meanwhile()
        return verified


class HeldHasher(FakeHasher):
    """Compares a password once ``go`` is set; ``begun`` tells that one waits for that."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.begun, self.go = Event(), Event()

    @override
    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        self.begun.set()
        assert self.go.wait(timeout=60)
        return super().verify(password_hash, password, imported_seconds)


def _digest(password: str) -> str:
    return hashlib.sha256(password.encode("utf-8", "surrogatepass")).hexdigest()
