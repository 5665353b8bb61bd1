"""Hashing of passwords: slow on purpose, never inside a transaction."""

from typing import Protocol


class PasswordHasher(Protocol):
    def hash(self, password: str) -> str:
        """The hash to store, with its parameters and salt in it."""

    def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether ``password`` is the one; without a hash it takes just as long and is False."""

    def needs_rehash(self, password_hash: str) -> bool:
        """Whether the hash was made at another cost than today's."""
