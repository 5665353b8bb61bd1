"""A shop's day: how many requests of each kind are due at which moment.

The peak is scaled to two cores. Quiet hours are shortened, so that most of the time goes to
the hours that matter.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

PEAK: Mapping[str, float] = {
    "sign-in": 5.0,
    "refresh": 100.0,
    "change": 20.0,
    "me": 20.0,
    "list": 2.0,
}
"""Requests a second of each kind in the busiest hour."""

HOURS = (
    *((0.20, 1), (0.08, 1), (0.05, 1), (0.04, 1), (0.04, 1), (0.06, 1)),
    *((0.12, 1), (0.25, 2), (0.40, 3), (0.50, 3), (0.58, 3), (0.62, 3)),
    *((0.66, 3), (0.62, 3), (0.58, 3), (0.58, 3), (0.62, 4), (0.70, 4)),
    *((0.82, 5), (0.95, 6), (1.00, 8), (0.95, 6), (0.60, 4), (0.30, 2)),
)
"""Of each hour from midnight: its share of the peak, and the minutes that it takes here."""

MINUTES = sum(minutes for _, minutes in HOURS)


@dataclass(frozen=True, slots=True)
class Day:
    """The hours of a day in ``minutes`` altogether."""

    minutes: int = MINUTES

    @property
    def seconds(self) -> float:
        return self.minutes * 60.0

    def hours(self) -> Iterator[tuple[float, float, float]]:
        """Yield of each hour when it begins and ends, in seconds, and its share of the peak."""
        begins = 0.0
        for share, minutes in HOURS:
            ends = begins + minutes * self.seconds / MINUTES
            yield begins, ends, share
            begins = ends

    def hour(self, seconds: float) -> int:
        """Return the hour of the day after so many ``seconds``."""
        hours = enumerate(self.hours())
        return next((hour for hour, (_, ends, _) in hours if seconds < ends), len(HOURS) - 1)

    def due(self, peak: float, chance: Random) -> Iterator[float]:
        """Yield when requests are due, in seconds, ``peak`` a second in the busiest hour.

        They come by chance, as from many people independent of each other.
        """
        wait = chance.expovariate(1.0)
        for begins, ends, share in self.hours():
            rate, now = peak * share, begins
            while wait <= (ends - now) * rate:
                now += wait / rate
                yield now
                wait = chance.expovariate(1.0)
            wait -= (ends - now) * rate
