"""Attempts to sign in with a password, counted and spaced out by the login throttle."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from app.domain.audit import SecurityEvent
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.ports.monitoring import THROTTLE_BLOCKS
from app.ports.throttle import ThrottleUnavailable
from app.services.authorization.register import part

_NO_ADDRESS = Problem("UNKNOWN_IP_ADDRESS", "Can't determine the IP address of this request.")
UNCOUNTABLE = Problem(
    "LOGIN_ATTEMPT_DELAYED", "Sign-in is temporarily unavailable. Try again in a minute."
)


@dataclass(slots=True)
class Attempt:
    """The result of an attempt; without success or failure it doesn't count."""

    succeeded_as: int | None = None
    failed: bool = False
    failed_against: int | None = None

    def succeed(self, user_id: int) -> None:
        self.succeeded_as = user_id

    def fail(self, user_id: int | None) -> None:
        """Record a failure; ``user_id`` is that of the email, ``None`` if unknown."""
        self.failed = True
        self.failed_against = user_id


@part
@contextmanager
def attempt(ports: Ports, address: str | None) -> Iterator[Attempt]:
    """Run one attempt from ``address``; no other runs from there until the block ends.

    The throttle is updated however the block ends. Refuses UNKNOWN_IP_ADDRESS, and
    LOGIN_ATTEMPT_DELAYED for a blocked address, one with a running attempt, and while attempts
    can't be counted: without the throttle passwords could be guessed freely.
    """
    if address is None:
        raise Refused(_NO_ADDRESS)
    try:
        lease = _begin(ports, address)
        this = Attempt()
        try:
            yield this
        finally:
            _end(ports, address, lease, this)
    except ThrottleUnavailable as error:
        raise Refused(UNCOUNTABLE) from error


def _begin(ports: Ports, address: str) -> str:
    now = ports.throttle.timestamp(ports.shared_clock)
    begun = ports.throttle.begin(address, now)
    if begun.lease:
        return begun.lease
    until = datetime.fromtimestamp(ceil(now + begun.wait), UTC)
    raise Refused(
        Problem(
            "LOGIN_ATTEMPT_DELAYED",
            "Too many attempts from this IP address. Try again after {until} UTC (in {wait} s).",
            values={"until": f"{until:%Y-%m-%d %H:%M:%S}", "wait": ceil(begun.wait)},
        )
    )


def _end(ports: Ports, address: str, lease: str, this: Attempt) -> None:
    if this.succeeded_as is None and not this.failed:
        ports.throttle.release(address, lease)
        return
    now = ports.throttle.timestamp(ports.shared_clock)
    if this.succeeded_as is not None:
        ports.throttle.succeed(address, lease, this.succeeded_as, now)
        return
    seconds = ports.throttle.fail(address, lease, this.failed_against, now)
    if seconds > 0:
        ports.metrics.count(THROTTLE_BLOCKS)
        ports.security_log.write(
            SecurityEvent.LOGIN_LOCK, client_ip=address, seconds=ceil(seconds)
        )
