"""A webhook's deliveries in figures: by hour or day, with response times."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median, quantiles

from app.domain.values.times import span_edges

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
