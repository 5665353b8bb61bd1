"""Addresses whose logins have to wait: for operators to see, and to let go."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from app.domain.actor import Actor
from app.domain.addresses import parse_address
from app.domain.errors import Problem, Refused
from app.domain.permissions import Permission
from app.ports import Ports
from app.ports.throttle import BlockedAddress, ThrottleUnavailable
from app.services.access import internal, requires
from app.services.audit import Change, record

_LISTED_MAX = 100


@requires(Permission.MANAGE_STAFF)
def list_blocked(
    ports: Ports, actor: Actor, *, limit: int = _LISTED_MAX
) -> Sequence[BlockedAddress]:
    """The addresses that have to wait now, at most ``limit``, the longest wait first.

    Refuses (UNAVAILABLE) while the throttle's store does not answer.
    """
    with _reachable():
        return ports.throttle.blocked(ports.clock.timestamp(), limit)


@requires(Permission.MANAGE_STAFF)
def unblock_address(ports: Ports, actor: Actor, address: str) -> None:
    """Forget everything that is held against ``address``; an attempt is possible at once.

    Refuses what is no address (INVALID), an address that nothing is held against (NOT_FOUND), and
    everything while the throttle's store does not answer (UNAVAILABLE).
    """
    parsed = parse_address(address)
    if parsed is None:
        raise Refused(Problem("INVALID", "This is no IP address.", "address"))
    with _reachable():
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
    with _reachable():
        ports.throttle.unblock(held.address)


@internal
def forget_faded_failures(ports: Ports, actor: Actor) -> int:
    """Remove counters that have faded, so that the tables stay small; how many. Safe to repeat.

    Refuses (UNAVAILABLE) while the throttle's store does not answer.
    """
    with _reachable():
        return ports.throttle.forget_faded(ports.clock.timestamp())


def _held(held: BlockedAddress) -> dict[str, object]:
    return {
        "blocked_until": held.blocked_until,
        "failures": held.failures,
        "known_failures": held.known_failures,
    }


@contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except ThrottleUnavailable as error:
        message = "The store of the login throttle does not answer. Check REDIS_URL and try again."
        raise Refused(Problem("UNAVAILABLE", message)) from error
