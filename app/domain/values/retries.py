"""When something that failed is tried again."""

MAIL_DELAYS = (0, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 43200, 86400)
"""Seconds before each attempt to hand a mail over: about two and a half days in all."""

FAULT_DELAYS = (0, 30, 120, 600, 1800, 3600, 10_800)
"""Seconds before each attempt to make a payload that a fault of ours stands in the way of.

About five hours in all: long enough for a store that restarts, or for an operator who repairs.
"""

_JITTER = 0.1


def delay_before(attempt: int, delays: tuple[int, ...], chance: float) -> float | None:
    """Seconds to wait before attempt number ``attempt`` (from 0), or ``None`` to give up.

    ``chance``, from 0 to 1, spreads what failed together: up to a tenth later.
    """
    if attempt >= len(delays):
        return None
    return delays[attempt] * (1 + _JITTER * chance)
