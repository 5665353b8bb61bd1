"""The machine: its clock, its randomness, and files that only this process's account can read."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, in UTC."""

    def timestamp(self) -> float:
        """The present moment in Unix seconds."""


class Randomness(Protocol):
    def token(self, length: int) -> str:
        """``length`` random letters and digits (5.95 bits each)."""

    def secret(self, size: int) -> bytes:
        """``size`` random bytes."""


class PrivateFiles(Protocol):
    def write(self, file: Path, lines: Iterable[str]) -> int:
        """Write ``lines``, each with a line end, and return the size in bytes.

        ``file`` is complete or not there; an older one is replaced. Raises ``ExportFailed``.
        """
