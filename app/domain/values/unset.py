"""The difference between an input that was left out and one that was sent as null."""

from enum import Enum
from typing import Final, TypeVar

Value = TypeVar("Value")


class Absent(Enum):
    """The value of a field that wasn't sent."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def present(value: Value | Absent, otherwise: Value) -> Value:
    """``value`` when it was sent, else ``otherwise``."""
    return otherwise if isinstance(value, Absent) else value
