"""Choosing which deliveries are made next, and for whom: leases, taken in the store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from app.domain.actor import Actor
from app.models import DeliveryRecord
from app.ports import Ports
from app.services.access import internal

BATCH = 16
"""Deliveries to one endpoint that one lease covers: they are made one after the other."""

MOST_LEASES = 4
"""Batches of one endpoint that may be under way at once, on all machines together."""

_LOOKED_AT = 500
_LEASE_NAME = 16
LEASE = timedelta(minutes=6)
"""Longer than a whole batch can take when its endpoint uses up its time for every one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Deliveries to one endpoint that whoever holds the lease may make."""

    lease: str
    webhook_id: int
    deliveries: tuple[int, ...]


@internal
def lease_due_deliveries(ports: Ports, actor: Actor) -> tuple[Batch, ...]:
    """Take what is due, oldest first; none twice, however many processes ask at once.

    A lease ends by itself: what a killed process had taken is due again, with the same
    ``webhook-id``. No endpoint gets more than ``MOST_LEASES`` batches at a time, so one that hangs
    holds up itself alone.
    """
    now = ports.clock.now()
    with ports.database.transaction() as session:
        due = session.execute(
            select(DeliveryRecord.id, DeliveryRecord.webhook_id)
            .where(
                DeliveryRecord.next_attempt_at <= now,
                or_(DeliveryRecord.lease_until.is_(None), DeliveryRecord.lease_until <= now),
            )
            .order_by(DeliveryRecord.next_attempt_at, DeliveryRecord.id)
            .limit(_LOOKED_AT)
            .with_for_update(skip_locked=True)
        ).all()
        by_webhook: dict[int, list[int]] = {}
        for delivery, webhook in due:
            by_webhook.setdefault(webhook, []).append(delivery)
        running = _running(session, list(by_webhook), now)
        batches = [
            Batch(
                ports.randomness.token(_LEASE_NAME),
                webhook,
                tuple(deliveries[place : place + BATCH]),
            )
            for webhook, deliveries in by_webhook.items()
            for place in range(0, _free(running, webhook) * BATCH, BATCH)
            if deliveries[place : place + BATCH]
        ]
        for batch in batches:
            session.execute(
                update(DeliveryRecord)
                .where(DeliveryRecord.id.in_(batch.deliveries))
                .values(lease=batch.lease, lease_until=now + LEASE)
            )
    return tuple(batches)


def _running(session: Session, webhooks: Sequence[int], now: datetime) -> dict[int, int]:
    """How many batches of each endpoint are under way."""
    rows = session.execute(
        select(DeliveryRecord.webhook_id, func.count(func.distinct(DeliveryRecord.lease)))
        .where(
            DeliveryRecord.webhook_id.in_(webhooks),
            DeliveryRecord.next_attempt_at.is_not(None),
            DeliveryRecord.lease_until > now,
        )
        .group_by(DeliveryRecord.webhook_id)
    )
    return {row[0]: row[1] for row in rows}


def _free(running: dict[int, int], webhook: int) -> int:
    return max(0, MOST_LEASES - running.get(webhook, 0))
