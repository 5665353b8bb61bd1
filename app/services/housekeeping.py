"""Forgetting what nobody will look at again, so that tables grow with the shop, not with time."""

from dataclasses import dataclass

from sqlalchemy import delete, select

from app.domain.actor import Actor
from app.models import SessionRecord
from app.ports import Ports
from app.services.access import internal
from app.services.rotation import forget_old_keys

_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Tidied:
    """How many of each were forgotten."""

    sessions: int
    throttle_counters: int
    keys: int


@internal
def tidy(ports: Ports, actor: Actor) -> Tidied:
    """Forget sessions that have expired, login failures that have faded, keys that verify nothing.

    Safe to repeat, and to run in several processes at once.
    """
    return Tidied(
        sessions=_forget_sessions(ports),
        throttle_counters=ports.throttle.forget_faded(ports.clock.timestamp()),
        keys=forget_old_keys(ports, actor),
    )


def _forget_sessions(ports: Ports) -> int:
    """In small transactions: whoever signs in meanwhile waits for one of them at most."""
    expired = (
        select(SessionRecord.id)
        .where(SessionRecord.expires_at <= ports.clock.now())
        .order_by(SessionRecord.expires_at)
        .limit(_AT_ONCE)
    )
    forget = delete(SessionRecord).where(SessionRecord.id.in_(expired))
    total = 0
    while True:
        with ports.database.transaction() as session:
            gone = len(session.scalars(forget.returning(SessionRecord.id)).all())
        total += gone
        if gone < _AT_ONCE:
            return total
