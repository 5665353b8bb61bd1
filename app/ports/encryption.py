"""Keeping secrets that have to be read back: encrypted under the installation's own secret."""

from typing import Protocol


class SealBroken(Exception):
    """What was sealed cannot be read: another ``SECRET_KEY``, another purpose, or damage."""


class Sealing(Protocol):
    def seal(self, purpose: str, text: str) -> str:
        """``text`` encrypted and authenticated, fit to be stored; bound to ``purpose``."""

    def unseal(self, purpose: str, sealed: str) -> str:
        """The text again; raises ``SealBroken``."""
