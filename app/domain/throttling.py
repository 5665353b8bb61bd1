"""How long a failed login waits (contract, "`tokenCreate` and friends: codes": the arithmetic)."""

LONGEST_BLOCK_SECONDS = 3600
"""No address ever waits longer."""

FADE_SECONDS = 2 * 3600
"""A counter that no failure has touched for so long counts as zero."""

LEASE_SECONDS = 30
"""How long the mark "an attempt is running" outlives a killed process.

Longer than any honest attempt, even on a machine so busy that a write waits for its lock: an
attempt whose lease ended early would let a second one run beside it.
"""

RUNNING_WAIT_SECONDS = 1
"""What an address is told to wait while another of its attempts runs: most are over by then."""

_UNKNOWN_STEP = 10
_LARGEST_EXPONENT = LONGEST_BLOCK_SECONDS.bit_length()


def block_seconds(*, failures: int, known_failures: int = 0, user_failures: int = 0) -> int:
    """How long an address waits after a failure; from 1 to ``LONGEST_BLOCK_SECONDS`` seconds.

    The longest of three counts, the failure itself included in each: ``failures`` (k) of the
    address with whatever email, which grows the wait at every tenth; ``known_failures`` (n) of
    the address with a wrong password of anybody, and ``user_failures`` (m) with a wrong password
    of this user, which both double it. After an attempt with an unknown email the last two do
    not apply and are zero.
    """
    return max(
        _power(-(-failures // _UNKNOWN_STEP) - 1),
        _power(known_failures - 1),
        _power(user_failures - 1),
    )


def faded_before(now: float) -> float:
    """The moment up to which a counter must have been touched last to count as zero at ``now``."""
    return now - FADE_SECONDS


def wait_seconds(*, blocked_until: float, lease_until: float, now: float) -> float:
    """How long an address has to wait before another attempt; 0 when it may try at ``now``."""
    if blocked_until > now:
        return blocked_until - now
    if lease_until > now:
        return min(lease_until - now, RUNNING_WAIT_SECONDS)
    return 0.0


def _power(exponent: int) -> int:
    # Limited before it is raised: an exponent is as large as somebody's patience.
    return min(1 << min(max(exponent, 0), _LARGEST_EXPONENT), LONGEST_BLOCK_SECONDS)
