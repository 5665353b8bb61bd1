"""Times in signed tokens, and how far the clocks of two hosts can be apart."""

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
