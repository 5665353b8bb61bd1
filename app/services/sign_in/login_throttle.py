"""Count and space out password attempts; show operators which addresses wait, and release them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil

from sqlalchemy import ColumnElement, Integer, literal, select

from app import models
from app.domain.audit import SecurityEvent
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.domain.values.ip_addresses import parse_address
from app.ports import Ports
from app.ports.monitoring import THROTTLE_BLOCKS
from app.ports.throttle import BlockedIp, ThrottleUnavailable
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, requires

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


@building_block
def count_guess(ports: Ports, user_id: int, too_many: Problem) -> int:
    """Count a guess at an account's password or codes; return how many there were in a row.

    Refuses ``too_many``, with the minutes to wait, after ``MAX_GUESSES``.
    """
    guess = ports.throttle.guess(user_id, ports.throttle.timestamp(ports.shared_clock))
    if not guess.number:
        raise Refused(replace(too_many, values={"count": ceil(guess.wait / 60)}))
    return guess.number


@building_block
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
    message = "Too many attempts from this IP address. Try again after {until} UTC (in {wait} s)."
    values = {"until": f"{until:%Y-%m-%d %H:%M:%S}", "wait": ceil(begun.wait)}
    raise Refused(Problem("LOGIN_ATTEMPT_DELAYED", message, values=values))


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


_LISTED_MAX = 100
_NAMED = 5


@dataclass(frozen=True, slots=True)
class AccountFailures:
    """Failures against the account of ``user_id``; the email is empty once it is deleted."""

    user_id: int
    email: str
    failures: int


@dataclass(frozen=True, slots=True)
class BlockDetails:
    """An address that has to wait until ``until``, and for which failures.

    ``failures`` are all; ``wrong_passwords`` were for accounts that exist, ``unknown_emails`` for
    none. ``against`` names the accounts that failed most, at most five, of ``accounts`` in all.
    """

    address: str
    until: datetime
    failures: int
    wrong_passwords: int
    against: tuple[AccountFailures, ...]
    accounts: int

    @property
    def unknown_emails(self) -> int:
        return self.failures - self.wrong_passwords


@requires(Permission.MANAGE_STAFF)
def list_block_details(
    ports: Ports, actor: Actor, *, limit: int = _LISTED_MAX, address: str = ""
) -> tuple[BlockDetails, ...]:
    """The addresses that have to wait now and why, the longest wait first; three statements.

    With ``address`` that one alone, however many wait longer. Raises ``ThrottleUnavailable``.
    """
    now = ports.throttle.timestamp(ports.shared_clock)
    blocked = _if_blocked(ports, address, now) if address else ports.throttle.blocked(now, limit)
    if not blocked:
        return ()
    against = ports.throttle.failures_against([one.address for one in blocked], now)
    most = {address: _most_failed(failures) for address, failures in against.items()}
    emails = _emails(ports, {user_id for named in most.values() for user_id, _ in named})
    return tuple(
        BlockDetails(
            address=one.address,
            until=datetime.fromtimestamp(one.blocked_until, UTC),
            failures=one.failures,
            wrong_passwords=one.known_failures,
            against=tuple(
                AccountFailures(user_id, emails.get(user_id, ""), failures)
                for user_id, failures in most.get(one.address, ())
            ),
            accounts=len(against.get(one.address, ())),
        )
        for one in blocked
    )


@building_block
def blocked_count(ports: Ports) -> ColumnElement[int | None]:
    """Return how many addresses have to wait now, as a part of a statement that asks for more.

    NULL while the store of the counters does not answer: a page shows the rest.
    """
    try:
        counted = ports.throttle.count_blocked(ports.throttle.timestamp(ports.shared_clock))
    except ThrottleUnavailable:
        return literal(None, Integer)
    return literal(counted) if isinstance(counted, int) else counted.scalar_subquery()


@requires(Permission.MANAGE_STAFF)
def unblock_ip(ports: Ports, actor: Actor, address: str) -> None:
    """Forget everything that is held against ``address``; an attempt is possible at once.

    Refuses what is no address (INVALID) and an address that nothing is held against (NOT_FOUND).
    Raises ``ThrottleUnavailable``.
    """
    parsed = parse_address(address)
    if parsed is None:
        raise Refused(Problem("INVALID", "Enter a valid IP address.", "address"))
    held = ports.throttle.find(str(parsed), ports.throttle.timestamp(ports.shared_clock))
    if held is None:
        raise Refused(Problem("NOT_FOUND", "This IP address has no failed sign-ins.", "address"))
    # The counters may live in Redis, beyond this transaction. Written first, the row misleads at
    # worst about an unblocking that a crash prevented; afterwards, it could be missing.
    with ports.database.transaction() as session:
        ip, until = held.address, datetime.fromtimestamp(held.blocked_until, UTC)
        before: dict[str, object] = {
            "blocked_until": until.isoformat(),
            "failures": held.failures,
            "known_failures": held.known_failures,
        }
        record(ports, actor, session, Change("throttle.unblock", "Address", ip, ip, before))
    ports.throttle.unblock(held.address)


def _if_blocked(ports: Ports, address: str, now: float) -> Sequence[BlockedIp]:
    """``address``, if it is one and has to wait."""
    parsed = parse_address(address)
    held = None if parsed is None else ports.throttle.find(str(parsed), now)
    return () if held is None or held.blocked_until <= now else (held,)


def _most_failed(failures: Mapping[int, int]) -> list[tuple[int, int]]:
    """Return the accounts that failed most, by key, with how often."""
    return sorted(failures.items(), key=lambda one: (-one[1], one[0]))[:_NAMED]


def _emails(ports: Ports, keys: Collection[int]) -> Mapping[int, str]:
    query = select(models.User.id, models.User.email).where(models.User.id.in_(keys))
    with ports.database.reading() as session:
        return {row.id: row.email for row in session.execute(query)}
