"""The login throttle and the rate limits: their counters, where all processes see them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Select

from app.domain.sign_in.rate_limits import Rates
from app.domain.values.installation import Unreachable
from app.ports.system import Clock


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


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer to "may this address try now?".

    ``lease`` names the running attempt when it may; otherwise it is empty and ``wait`` is the
    number of seconds after which another try makes sense.
    """

    lease: str
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class Guess:
    """An answer to "can this person's password be compared now?".

    ``number`` counts the guesses in a row, this one included; 0 when it cannot, and ``wait`` is
    then the number of seconds after which it can.
    """

    number: int
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class BlockedIp:
    """An address that has to wait: until when (Unix seconds), and the failures behind it."""

    address: str
    blocked_until: float
    known_failures: int
    failures: int


@dataclass(frozen=True, slots=True)
class AccountBlocks:
    """What is blocked for an account: IP addresses, the longest first, and its own password.

    ``account_until`` is until when the password of a signed-in person isn't compared (Unix
    seconds), ``None`` if it is.
    """

    addresses: Sequence[BlockedIp] = ()
    account_until: float | None = None


class ThrottleUnavailable(Unreachable):
    """The store of the counters doesn't respond.

    A login then fails closed (``LOGIN_ATTEMPT_DELAYED``): without the throttle passwords could be
    guessed freely.
    """


class Throttle(Protocol):
    """Atomic in the store: of concurrent processes one gets the lease.

    Arithmetic: contract, "`tokenCreate` and friends: codes"; the rule is
    ``domain.sign_in.login_throttle``. ``now`` is in Unix seconds, from ``timestamp``. An
    attempt that outlived its lease is still counted, but doesn't affect a later lease. Every
    method raises ``ThrottleUnavailable`` when a separate store doesn't respond.
    """

    def timestamp(self, shared_clock: Clock) -> float:
        """The time by which blocks begin and end, in Unix seconds.

        A separate store's own, else that of the database's ``shared_clock``: never a host's, whose
        clock may differ from the other hosts' by longer than a block lasts.
        """

    def begin(self, address: str, now: float) -> Attempt:
        """Start an attempt, unless the address is blocked or has one running.

        A refused attempt extends nothing. The lease expires, so a killed process blocks no one.
        """

    def fail(self, address: str, lease: str, user_id: int | None, now: float) -> float:
        """Count a failure (``user_id`` if the email is a user's) and end the attempt.

        Returns for how many seconds the address is blocked from ``now``.
        """

    def succeed(self, address: str, lease: str, user_id: int, now: float) -> None:
        """Delete the block and failures of ``address``, and the failures against that user.

        And the guesses at that user's password, which the caller knows.
        """

    def release(self, address: str, lease: str) -> None:
        """End an attempt that neither failed nor succeeded; counts stay as they are."""

    def guess(self, user_id: int, now: float) -> Guess:
        """Count a guess at a signed-in person's own password, before it is compared.

        However many processes ask at once, ``MAX_GUESSES`` in a row are let through, whichever
        session or token they come with.
        """

    def undo_guess(self, user_id: int) -> None:
        """Uncount a guess that was not compared after all."""

    def reset_guesses(self, user_id: int) -> None:
        """Begin to count at zero again: the password was right."""

    def blocked(self, now: float, limit: int = 100) -> Sequence[BlockedIp]:
        """The addresses that have to wait at ``now``, the longest wait first."""

    def count_blocked(self, now: float) -> int | Select[int]:
        """Count the addresses blocked at ``now``.

        If the database holds them, return the query, to be part of another statement.
        """

    def failures_against(
        self, addresses: Collection[str], now: float
    ) -> Mapping[str, Mapping[int, int]]:
        """Return each address's failures by user, as far as they count.

        Addresses without failures against users are left out.
        """

    def find(self, address: str, now: float) -> BlockedIp | None:
        """Return the state of ``address`` at ``now``, blocked or not; ``None`` for no state."""

    def blocks_of(self, user_id: int, addresses: Collection[str], now: float) -> AccountBlocks:
        """Return which of ``addresses`` are blocked at ``now``, and whether the account is."""

    def unblock(self, address: str) -> bool:
        """Forget everything about ``address``; whether there was anything."""

    def eviction(self) -> str:
        """The store's word for how it loses counters when its memory is full; empty: never.

        Whose counters are lost may guess passwords without waiting.
        """

    def delete_expired(self, now: float) -> int:
        """Delete expired counters; return how many (0 if the store expires them)."""
