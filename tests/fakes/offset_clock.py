"""A clock beside a program that goes by the real time."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.adapters.clock import SystemClock


@dataclass(slots=True)
class Ahead:
    """The real time, which the provider goes by too, and what a test has let pass besides."""

    seconds: float = 0
    real: SystemClock = field(default_factory=SystemClock)

    def now(self) -> datetime:
        return self.real.now() + timedelta(seconds=self.seconds)

    def timestamp(self) -> float:
        return self.real.timestamp() + self.seconds
