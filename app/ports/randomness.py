"""Random values."""

from typing import Protocol


class Randomness(Protocol):
    def token(self, length: int) -> str:
        """``length`` random letters and digits (5.95 bits each)."""

    def secret(self, size: int) -> bytes:
        """``size`` random bytes."""
