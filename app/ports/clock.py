"""The current time."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, in UTC."""

    def timestamp(self) -> float:
        """The present moment in Unix seconds."""
