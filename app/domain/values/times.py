"""Times in signed tokens, how far the clocks of two hosts can be apart, and spans of charts."""

from datetime import UTC, datetime, timedelta

CLOCK_LEEWAY = 60
"""Seconds that ``iat`` and ``nbf`` can be ahead of our clock; ``exp`` has no leeway (contract,
part 3)."""

MAX_TIME = 10**11
"""Unix seconds (the year 5138) beyond which a number is no time, infinity among them."""


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
