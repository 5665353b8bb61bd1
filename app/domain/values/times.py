"""Times in signed tokens, how far the clocks of two hosts can be apart, and spans of charts."""

from datetime import datetime, timedelta

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


def span_begins(now: datetime, step: timedelta, number: int) -> tuple[datetime, ...]:
    """Return when each of ``number`` spans begins, oldest first; ``now`` is in the last one.

    They begin at full hours, or at midnight in UTC if they are a day or longer.
    """
    last = now.replace(minute=0, second=0, microsecond=0)
    if step >= timedelta(days=1):
        last = last.replace(hour=0)
    return tuple(last - place * step for place in reversed(range(number)))
