"""How long a failed login waits (contract, "`tokenCreate` and friends: codes": the arithmetic)."""

MAX_BLOCK_SECONDS = 3600
"""No address ever waits longer."""

EXPIRY_SECONDS = 2 * 3600
"""A counter that no failure has touched for so long counts as zero."""

LEASE_SECONDS = 30
"""How long the mark "an attempt is running" outlives a killed process.

Longer than any honest attempt, even on a machine so busy that a write waits for its lock: an
attempt whose lease ended early would let a second one run beside it.
"""

MAX_LEASE_SECONDS = 2 * LEASE_SECONDS
"""A lease that would last longer is from before the clock was put back, and counts as ended.

Twice a lease's length: clocks of several machines differ by seconds.
"""

RUNNING_WAIT_SECONDS = 1
"""What an address is told to wait while another of its attempts runs: most are over by then."""

MAX_GUESSES = 5
"""How often a signed-in person's own password is compared in a row before it was right."""

GUESSES_EXPIRY_SECONDS = 3600
"""After so long without another, the guesses at a signed-in person's password count as zero."""

CLOCK_DIFFERENCE_SECONDS = 300
"""What is further in the future than this is from before the clock was put back.

What is nearer may be due to another machine's clock, and no block gets too long by it.
"""

_UNKNOWN_STEP = 10
_MAX_EXPONENT = MAX_BLOCK_SECONDS.bit_length()


def block_seconds(*, failures: int, known_failures: int = 0, user_failures: int = 0) -> int:
    """Return how long an address is blocked after a failure: 1 to ``MAX_BLOCK_SECONDS`` seconds.

    The longest of three waits, this failure included: ``failures`` (k) of the address with any
    email doubles it at every tenth; ``known_failures`` (n) of the address with a wrong password of
    any user, and ``user_failures`` (m) with one of this user, double it each time. After an
    attempt with an unknown email the last two are zero.
    """
    return max(
        _power(-(-failures // _UNKNOWN_STEP) - 1),
        _power(known_failures - 1),
        _power(user_failures - 1),
    )


def expired_before(now: float) -> float:
    """The moment up to which a counter must have been touched last to count as zero at ``now``."""
    return now - EXPIRY_SECONDS


def is_in_future(*, blocked_until: float, counted_at: float, now: float) -> bool:
    """Whether the clock was put back since a block began with a failure at ``counted_at``."""
    too_long = blocked_until > now + MAX_BLOCK_SECONDS
    return too_long or counted_at > now + CLOCK_DIFFERENCE_SECONDS


def blocked_until_now(*, blocked_until: float, counted_at: float, now: float) -> float:
    """Return when a block ends that began with a failure counted at ``counted_at``.

    If the clock was put back since, it lasts as long from ``now`` as it was meant to last.
    """
    if not is_in_future(blocked_until=blocked_until, counted_at=counted_at, now=now):
        return blocked_until
    return now + min(max(blocked_until - counted_at, 0.0), MAX_BLOCK_SECONDS)


def guess_window(now: float) -> tuple[float, float]:
    """After which moment, and up to which, the last guess must be for the guesses to count.

    What is in the future, beyond what clocks of several machines differ by, is from before the
    clock was put back and counts no more.
    """
    return now - GUESSES_EXPIRY_SECONDS, now + CLOCK_DIFFERENCE_SECONDS


def guess_wait_seconds(*, guessed_at: float, now: float) -> float:
    """How long until another guess, when ``MAX_GUESSES`` count of which the last was then."""
    return min(guessed_at + GUESSES_EXPIRY_SECONDS - now, GUESSES_EXPIRY_SECONDS)


def wait_seconds(*, blocked_until: float, lease_until: float, now: float) -> float:
    """How long an address has to wait before another attempt; 0 when it may try at ``now``."""
    if blocked_until > now:
        return blocked_until - now
    if now < lease_until <= now + MAX_LEASE_SECONDS:
        return min(lease_until - now, RUNNING_WAIT_SECONDS)
    return 0.0


def _power(exponent: int) -> int:
    # Limited before it is raised: an exponent is as large as somebody's patience.
    return min(1 << min(max(exponent, 0), _MAX_EXPONENT), MAX_BLOCK_SECONDS)
