"""A clock that advances only on request."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


class FakeClock:
    """A clock whose time the test sets."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def timestamp(self) -> float:
        return self._now.timestamp()

    def pass_(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        """Advance the clock."""
        self._now += timedelta(seconds=seconds, minutes=minutes, hours=hours)
