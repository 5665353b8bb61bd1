"""A clock for tests with a process that uses the real time."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.adapters.system import SystemClock


@dataclass(slots=True)
class Ahead:
    """The real time, plus the time that the test added."""

    seconds: float = 0
    real: SystemClock = field(default_factory=SystemClock)

    def now(self) -> datetime:
        return self.real.now() + timedelta(seconds=self.seconds)

    def timestamp(self) -> float:
        return self.real.timestamp() + self.seconds
