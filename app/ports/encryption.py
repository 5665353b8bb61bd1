"""Keeping secrets that have to be read back: encrypted under the installation's own secret."""

from typing import Protocol


class DecryptionError(Exception):
    """A value can't be decrypted: another ``SECRET_KEY``, another purpose, or damage."""


class Encryption(Protocol):
    def encrypt(self, purpose: str, text: str) -> str:
        """``text`` encrypted and authenticated, fit to be stored; bound to ``purpose``."""

    def decrypt(self, purpose: str, encrypted: str) -> str:
        """The text again; raises ``DecryptionError``."""

    def reseal(self, purpose: str, encrypted: str) -> str | None:
        """Encrypt under the current key what a former one encrypted; ``None`` if it isn't needed.

        Raises ``DecryptionError`` for what no key opens.
        """

    def has_former_keys(self) -> bool:
        """Whether former keys open what the current one doesn't."""

    def fingerprint(self, purpose: str, text: str) -> str:
        """A keyed hash of ``text``, 64 characters: equal for equal texts of one purpose."""

    def known_fingerprints(self, purpose: str, text: str) -> tuple[str, ...]:
        """The hash of ``text`` under the current key and each former one, to search by."""
