"""Counting uses against rate limits, where all processes see the counts."""

from typing import Protocol

from app.domain.sign_in.rate_limits import Rates


class RateLimiter(Protocol):
    """Counts in the store that processes share; an unreachable store never refuses anyone.

    Unlike the login throttle, which fails closed, these limits only bound cost: while the shared
    store is unreachable, each process counts by itself.
    """

    def count(self, name: str, client: str, rates: Rates) -> int:
        """Count one use of ``name`` by ``client`` against all ``rates``.

        Returns 0 when it is within them; otherwise after how many seconds a new one can be, at
        least 1. A refused use does not extend the wait.
        """
