"""How much background work waits, and for how long."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ScalarSelect, Select, func, literal, select

from app.domain.authorization.actor import Actor
from app.models import DeliveryRecord, OutboxEventRecord, OutboxMailRecord
from app.ports import Ports
from app.services.authorization.register import internal
from app.services.lists.index_hints import is_due
from app.services.operations.worker_heartbeat import read_worker_status

MAX_COUNTED = 100_000
"""Rows of a kind that are counted, so that a long queue isn't made longer by counting it."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """``number`` of things that wait, ``seconds`` of the oldest."""

    number: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits; ``heartbeat_age`` in seconds is ``None`` if no worker ever ran."""

    deliveries: Waiting
    events: Waiting
    mails: Waiting
    heartbeat_age: float | None


@internal
def read_backlog(ports: Ports, actor: Actor) -> Backlog:
    """Return what waits now, in two statements."""
    now = ports.shared_clock.now()
    status = read_worker_status(ports)
    one = select(literal(1).label("one"))
    query = select(
        _count(
            one.where(
                is_due(DeliveryRecord.next_attempt_at, now), DeliveryRecord.lease_until.is_(None)
            )
        ),
        _count(one.where(OutboxEventRecord.closed_at.is_(None))),
        _count(one.where(is_due(OutboxMailRecord.next_attempt_at, now))),
    )
    with ports.database.reading() as session:
        deliveries, events, mails = session.execute(query).one()

    def age(since: datetime | None) -> float:
        return 0.0 if since is None else max(0.0, (now - since).total_seconds())

    return Backlog(
        Waiting(deliveries, age(status.delivery_since)),
        Waiting(events, age(status.event_since)),
        Waiting(mails, age(status.mail_since)),
        None if status.beat_at is None else age(status.beat_at),
    )


def _count(rows: Select[Any]) -> ScalarSelect[int]:
    limited = rows.limit(MAX_COUNTED).subquery()
    return select(func.count()).select_from(limited).scalar_subquery()
