"""Files that only this process's account can read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol


class PrivateFiles(Protocol):
    def write(self, file: Path, lines: Iterable[str]) -> int:
        """Write ``lines``, each with a line end, and return the size in bytes.

        ``file`` is complete or not there; an older one is replaced. Raises ``ExportFailed``.
        """
