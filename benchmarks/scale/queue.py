"""What the worker has still to do, as the database says."""

from datetime import datetime

from sqlalchemy import func, select

from app import models
from app.domain.deliveries.deliveries import DeliveryStatus
from app.ports import Ports
from benchmarks.scale.minutes import Queue


def look(ports: Ports) -> Queue:
    """Return what waits at this moment."""
    open_events = select(func.count(), func.min(models.OutboxEvent.issued_at)).where(
        models.OutboxEvent.closed_at.is_(None)
    )
    waiting = select(func.count(), func.min(models.Delivery.next_attempt_at)).where(
        models.Delivery.next_attempt_at.is_not(None)
    )
    with ports.database.reading() as session:
        events, issued = session.execute(open_events).one()
        deliveries, due = session.execute(waiting).one()
        now = ports.clock.now()
        return Queue(events, deliveries, max(_age(now, issued), _age(now, due)))


def _age(now: datetime, moment: datetime | None) -> float:
    return max(0.0, (now - moment).total_seconds()) if moment else 0.0


def delivered(ports: Ports) -> int:
    """Return how many deliveries of events have arrived; the shop has others from before."""
    counted = select(func.count()).where(
        models.Delivery.status == DeliveryStatus.SUCCESS.value,
        models.Delivery.note_id.is_not(None),
    )
    with ports.database.reading() as session:
        return session.scalar(counted) or 0
