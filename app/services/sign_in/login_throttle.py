"""Addresses whose logins have to wait: for operators to see, and to let go."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Integer, literal, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.domain.values.ip_addresses import parse_address
from app.models import UserRecord
from app.ports import Ports
from app.ports.throttle import BlockedIp, ThrottleUnavailable
from app.services.audit.log import Change, record
from app.services.authorization.register import part, requires

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
def list_blocked(ports: Ports, actor: Actor, *, limit: int = _LISTED_MAX) -> Sequence[BlockedIp]:
    """The addresses that have to wait now, at most ``limit``, the longest wait first.

    Raises ``ThrottleUnavailable``.
    """
    return ports.throttle.blocked(ports.throttle.timestamp(ports.shared_clock), limit)


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


@part
def blocked_count(ports: Ports) -> ColumnElement[int | None]:
    """How many addresses have to wait now, as a part of a statement that asks for more.

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
        record(
            ports,
            actor,
            session,
            Change("throttle.unblock", "Address", held.address, held.address, before=_held(held)),
        )
    ports.throttle.unblock(held.address)


def _if_blocked(ports: Ports, address: str, now: float) -> Sequence[BlockedIp]:
    """``address``, if it is one and has to wait."""
    parsed = parse_address(address)
    held = None if parsed is None else ports.throttle.find(str(parsed), now)
    return () if held is None or held.blocked_until <= now else (held,)


def _held(held: BlockedIp) -> dict[str, object]:
    return {
        "blocked_until": held.blocked_until,
        "failures": held.failures,
        "known_failures": held.known_failures,
    }


def _most_failed(failures: Mapping[int, int]) -> list[tuple[int, int]]:
    """The accounts that failed most, by key, with how often."""
    return sorted(failures.items(), key=lambda one: (-one[1], one[0]))[:_NAMED]


def _emails(ports: Ports, keys: Collection[int]) -> Mapping[int, str]:
    query = select(UserRecord.id, UserRecord.email).where(UserRecord.id.in_(keys))
    with ports.database.reading() as session:
        return {row.id: row.email for row in session.execute(query)}
