"""Addresses whose logins have to wait: for operators to see, and to let go."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Integer, literal

from app.domain.actor import Actor
from app.domain.addresses import parse_address
from app.domain.errors import Problem, Refused
from app.domain.permissions import Permission
from app.ports import Ports
from app.ports.throttle import BlockedAddress, ThrottleUnavailable
from app.services.access import part, requires
from app.services.audit import Change, record

_LISTED_MAX = 100


@requires(Permission.MANAGE_STAFF)
def list_blocked(
    ports: Ports, actor: Actor, *, limit: int = _LISTED_MAX
) -> Sequence[BlockedAddress]:
    """The addresses that have to wait now, at most ``limit``, the longest wait first.

    Raises ``ThrottleUnavailable``.
    """
    return ports.throttle.blocked(ports.clock.timestamp(), limit)


@part
def blocked_count(ports: Ports) -> ColumnElement[int | None]:
    """How many addresses have to wait now, as a part of a statement that asks for more.

    NULL while the store of the counters does not answer: a page shows the rest.
    """
    try:
        counted = ports.throttle.count_blocked(ports.clock.timestamp())
    except ThrottleUnavailable:
        return literal(None, Integer)
    return literal(counted) if isinstance(counted, int) else counted.scalar_subquery()


@requires(Permission.MANAGE_STAFF)
def unblock_address(ports: Ports, actor: Actor, address: str) -> None:
    """Forget everything that is held against ``address``; an attempt is possible at once.

    Refuses what is no address (INVALID) and an address that nothing is held against (NOT_FOUND).
    Raises ``ThrottleUnavailable``.
    """
    parsed = parse_address(address)
    if parsed is None:
        raise Refused(Problem("INVALID", "This is no IP address.", "address"))
    held = ports.throttle.find(str(parsed), ports.clock.timestamp())
    if held is None:
        raise Refused(Problem("NOT_FOUND", "Nothing is held against this address.", "address"))
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


def _held(held: BlockedAddress) -> dict[str, object]:
    return {
        "blocked_until": held.blocked_until,
        "failures": held.failures,
        "known_failures": held.known_failures,
    }
