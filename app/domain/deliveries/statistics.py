"""Statistics of deliveries: of the last day for Home, and of one webhook by hour or day."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median, quantiles

from app.domain.values.times import span_edges

SPAN = timedelta(hours=24)
HOURS = 24


@dataclass(frozen=True, slots=True)
class DeliveryHour:
    """The deliveries that were made in one hour, by what has become of them until now.

    ``retried`` arrived, after more than one attempt; ``failing`` were tried and will be again;
    ``waiting`` have not been tried yet.
    """

    began: datetime
    at_first_try: int
    retried: int
    failed: int
    failing: int
    waiting: int

    @property
    def delivered(self) -> int:
        return self.at_first_try + self.retried

    @property
    def not_delivered(self) -> int:
        """Those that failed, for good or so far."""
        return self.failed + self.failing

    @property
    def total(self) -> int:
        return self.delivered + self.not_delivered + self.waiting


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """How long endpoints took to answer, in seconds, and the app whose endpoint was slowest."""

    median: float
    slowest: float
    slowest_app: str


@dataclass(frozen=True, slots=True)
class DeliveryDay:
    """The deliveries of the last 24 hours, hour by hour, and of the 24 before that together.

    ``times`` is ``None`` when nothing has answered.
    """

    hours: tuple[DeliveryHour, ...]
    day_before: DeliveryHour
    times: ResponseTimes | None

    @property
    def total(self) -> int:
        return sum(hour.total for hour in self.hours)

    @property
    def delivered(self) -> int:
        return sum(hour.delivered for hour in self.hours)

    @property
    def not_delivered(self) -> int:
        return sum(hour.not_delivered for hour in self.hours)

    @property
    def first_try_share(self) -> float | None:
        """Which part (0 to 1) of what was tried arrived at once; ``None`` if nothing was tried."""
        return _share(sum(hour.at_first_try for hour in self.hours), self.hours)

    @property
    def first_try_share_before(self) -> float | None:
        """The same of the day before."""
        return _share(self.day_before.at_first_try, (self.day_before,))

    @property
    def growth(self) -> float | None:
        """By which part there were more than the day before; ``None`` if there were none then."""
        before = self.day_before.total
        return (self.total - before) / before if before else None


def _share(at_first_try: int, hours: tuple[DeliveryHour, ...]) -> float | None:
    tried = sum(hour.delivered + hour.not_delivered for hour in hours)
    return at_first_try / tried if tried else None


_PARTS = 20
"""The last of so many equal parts begins at the 95th percentile."""


class ChartPeriod(StrEnum):
    """How far back a webhook's charts look."""

    DAY = "24h"
    TWO_WEEKS = "14d"

    @property
    def step(self) -> timedelta:
        """The length of one column."""
        return timedelta(hours=1) if self is ChartPeriod.DAY else timedelta(days=1)

    def edges(self, now: datetime) -> tuple[datetime, ...]:
        """Return when each column begins and the last one ends; see ``span_edges``."""
        return span_edges(now, self.step, 24 if self is ChartPeriod.DAY else 14)


@dataclass(frozen=True, slots=True)
class DeliverySpan:
    """The deliveries created in a span, by their state now.

    ``failed`` includes those that are retried; ``waiting`` haven't been sent yet. ``durations``
    are the response times in seconds, of the newest deliveries if there are many.
    """

    began: datetime
    delivered: int
    failed: int
    waiting: int
    durations: tuple[float, ...] = ()

    @property
    def median(self) -> float | None:
        """The median response time in seconds; ``None`` without responses."""
        return median(self.durations) if self.durations else None

    @property
    def slowest(self) -> float | None:
        """The 95th percentile in seconds; ``None`` without responses."""
        if len(self.durations) < 2:  # noqa: PLR2004 - a percentile needs two values
            return self.median
        return quantiles(self.durations, n=_PARTS, method="inclusive")[-1]


def success_rate(spans: tuple[DeliverySpan, ...]) -> float | None:
    """Return the share of delivered ones among those sent; ``None`` if none was sent."""
    delivered = sum(span.delivered for span in spans)
    sent = delivered + sum(span.failed for span in spans)
    return delivered / sent if sent else None


def all_durations(spans: tuple[DeliverySpan, ...]) -> DeliverySpan:
    """Return one span for the response times of all."""
    durations = tuple(duration for span in spans for duration in span.durations)
    return DeliverySpan(spans[0].began, 0, 0, 0, durations)
