"""Times: in tokens, in words, in charts, on hosts with different clocks, and of retries.

Moments that are stored are within ``EARLIEST`` and ``LATEST``, so that every time zone can show
them: what reads one from outside asks ``moment_problem`` or ``showable``.
"""

from datetime import UTC, datetime, timedelta, tzinfo

from app.domain.values.errors import Problem

CLOCK_LEEWAY = 60
"""Seconds that ``iat`` and ``nbf`` can be ahead of our clock; ``exp`` has no leeway (contract,
part 3)."""

MAX_TIME = 10**11
"""Unix seconds (the year 5138) beyond which a number is no time, infinity among them."""

EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC)
"""A day within what Python can hold: no time zone is further from UTC."""


def showable(moment: datetime) -> datetime:
    """Return ``moment`` in UTC, which it is taken to be in where it names no zone.

    Raises ``ValueError`` for one that not every time zone can show.
    """
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    if not EARLIEST <= aware <= LATEST:
        raise ValueError("The moment can't be shown in every time zone.")
    return aware.astimezone(UTC)


def moment_problem(moment: datetime, field: str) -> Problem | None:
    """Return INVALID for a moment that not every time zone can show, or ``None``."""
    try:
        showable(moment)
    except ValueError:
        message = "Enter a date from {earliest} to {latest}."
        ends = {"earliest": EARLIEST.date().isoformat(), "latest": LATEST.date().isoformat()}
        return Problem("INVALID", message, field, values=ends)
    return None


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """Return ``moment`` in ``zone``; one that ``zone`` can't show becomes the nearest that it can.

    For what was stored before such moments were refused, or comes from another installation.
    """
    return max(EARLIEST, min(moment, LATEST)).astimezone(zone)


def is_time(value: object) -> bool:
    """Whether ``value`` is a number that can be a time in Unix seconds."""
    # A boolean is a number to Python; NaN fails every comparison.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -MAX_TIME <= value <= MAX_TIME


def span_edges(now: datetime, step: timedelta, number: int) -> tuple[datetime, ...]:
    """Return the begins of ``number`` spans, oldest first, and the end of the last: in UTC.

    ``now`` is in the last one. They begin at full hours or, if they are a day or longer, at
    midnight in the time zone of ``now``, where a day can have 23 or 25 hours.
    """
    last = now.replace(minute=0, second=0, microsecond=0)
    last = last.replace(hour=0) if step >= timedelta(days=1) else last.astimezone(UTC)
    places = reversed(range(-1, number))
    return tuple((last - place * step).astimezone(UTC) for place in places)


def seconds_since(moment: datetime | None, now: datetime) -> float:
    """Return how long ago ``moment`` was; 0 if there is none, or another clock is ahead."""
    return 0.0 if moment is None else max(0.0, (now - moment).total_seconds())


def date_in_words(moment: datetime) -> str:
    """Return ``moment``, which is in UTC, with minutes and its zone."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


MAIL_DELAYS = (0, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 43200, 86400)
"""Seconds before each attempt to hand a mail over: about two and a half days in all."""

FAULT_DELAYS = (0, 30, 120, 600, 1800, 3600, 10_800)
"""Seconds before each attempt to make a payload after an internal error.

About five hours in all: long enough for a store that restarts, or for an operator who repairs.
"""

JITTER = 0.1
"""How much of a wait is added to it at most, at random, to spread what failed together."""


def delay_before(attempt: int, delays: tuple[int, ...], chance: float) -> float | None:
    """Seconds to wait before attempt number ``attempt`` (from 0), or ``None`` to give up.

    ``chance``, from 0 to 1, spreads what failed together: up to a tenth later.
    """
    if attempt >= len(delays):
        return None
    return delays[attempt] * (1 + JITTER * chance)
