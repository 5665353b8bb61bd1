"""Forgetting what nobody will look at again, so that tables grow with the shop, not with time."""

from dataclasses import dataclass

from sqlalchemy import delete, select

from app.domain.actor import Actor
from app.models import AccountLinkRecord, SessionRecord
from app.ports import Ports
from app.services.access import internal
from app.services.rotation import forget_old_keys
from app.services.traffic import forget_old_traffic

_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Tidied:
    """How many of each were forgotten."""

    sessions: int
    links: int
    traffic_counts: int
    throttle_counters: int
    keys: int


@internal
def tidy(ports: Ports, actor: Actor) -> Tidied:
    """Forget expired sessions and links, old traffic, faded login failures, useless keys.

    Safe to repeat, and to run in several processes at once.
    """
    return Tidied(
        sessions=_forget_expired(ports, SessionRecord),
        links=_forget_expired(ports, AccountLinkRecord),
        traffic_counts=forget_old_traffic(ports),
        throttle_counters=ports.throttle.forget_faded(ports.clock.timestamp()),
        keys=forget_old_keys(ports, actor),
    )


def _forget_expired(ports: Ports, kind: type[SessionRecord | AccountLinkRecord]) -> int:
    """In small transactions: whoever signs in meanwhile waits for one of them at most."""
    expired = (
        select(kind.id)
        .where(kind.expires_at <= ports.clock.now())
        .order_by(kind.expires_at)
        .limit(_AT_ONCE)
    )
    forget = delete(kind).where(kind.id.in_(expired))
    total = 0
    while True:
        with ports.database.transaction() as session:
            gone = len(session.scalars(forget.returning(kind.id)).all())
        total += gone
        if gone < _AT_ONCE:
            return total
