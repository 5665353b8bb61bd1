"""Inputs: an uploaded file, fields left out or sent as null, and what a caller has seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias, TypeVar

from app.domain.values.errors import Problem, Refused, Stale

Value = TypeVar("Value")


class Absent(Enum):
    """The value of a field that wasn't sent."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def present(value: Value | Absent, otherwise: Value) -> Value:
    """``value`` when it was sent, else ``otherwise``."""
    return otherwise if isinstance(value, Absent) else value


def missing_problems(**arguments: object) -> list[Problem]:
    """Return REQUIRED for each argument that is ``None``."""
    return [
        Problem("REQUIRED", "This is required.", name)
        for name, value in arguments.items()
        if value is None
    ]


Seen: TypeAlias = Mapping[str, object]
"""What a caller has seen of a thing before changing it, by field; nothing if it doesn't matter."""


def require_unchanged(seen: Seen | None, stored: Mapping[str, object]) -> None:
    """Raise ``Stale`` unless each value of ``seen`` is still the stored one.

    For use in the transaction that writes, after the row was locked: so of two changes of the
    same thing that were made at the same time, one is refused.
    """
    if any(stored[name] != value for name, value in (seen or {}).items()):
        raise Stale


NO_FILE = Problem("REQUIRED", "Choose a file.", "image")


@dataclass(frozen=True, slots=True)
class Upload:
    """``filename`` (its last part) and ``content_type`` are claims of the sender's."""

    filename: str
    content_type: str
    data: bytes = field(repr=False)

    def require_at_most(self, size: int) -> None:
        """Refuse FILE_SIZE_LIMIT_EXCEEDED on ``image`` for more than ``size`` bytes."""
        if len(self.data) > size:
            message = "Use a file of at most {max_file_size} MiB."
            limit = {"max_file_size": size // (1024 * 1024)}
            raise Refused(Problem("FILE_SIZE_LIMIT_EXCEEDED", message, "image", values=limit))
