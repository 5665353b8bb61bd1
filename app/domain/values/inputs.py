"""Inputs: an uploaded file, and the difference between a field left out and one sent as null."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

from app.domain.values.errors import Problem

Value = TypeVar("Value")


class Absent(Enum):
    """The value of a field that wasn't sent."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def present(value: Value | Absent, otherwise: Value) -> Value:
    """``value`` when it was sent, else ``otherwise``."""
    return otherwise if isinstance(value, Absent) else value


NO_FILE = Problem("REQUIRED", "Choose a file.", "image")


@dataclass(frozen=True, slots=True)
class Upload:
    """``filename`` (its last part) and ``content_type`` are claims of the sender's."""

    filename: str
    content_type: str
    data: bytes = field(repr=False)
