"""Sign-in attempts in figures: by span of time and reason."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.values.times import span_edges


class Period(StrEnum):
    """How far back the log is looked at; the chart divides it evenly."""

    DAY = "24h"
    TWO_WEEKS = "14d"
    QUARTER = "90d"

    @property
    def spans(self) -> int:
        """The number of the chart's columns."""
        return {Period.DAY: 24, Period.TWO_WEEKS: 14, Period.QUARTER: 13}[self]

    @property
    def step(self) -> timedelta:
        """The length of one column."""
        return {
            Period.DAY: timedelta(hours=1),
            Period.TWO_WEEKS: timedelta(days=1),
            Period.QUARTER: timedelta(weeks=1),
        }[self]

    def edges(self, now: datetime) -> tuple[datetime, ...]:
        """Return when each column begins and the last one ends; see ``span_edges``."""
        return span_edges(now, self.step, self.spans)


@dataclass(frozen=True, slots=True)
class SignInSpan:
    """The attempts of a span of time: the successful ones, and the failed ones by reason."""

    began: datetime
    successful: int
    incorrect_password: int
    blocked: int
    other: int
