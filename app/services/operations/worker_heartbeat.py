"""Whether a background worker is alive, and how long what it does has been waiting."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update

from app.domain.authorization.actor import Actor
from app.models import DeliveryRecord, HeartbeatRecord, OutboxEventRecord, OutboxMailRecord
from app.ports import Ports
from app.services.authorization.register import internal, part


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """``beat_at`` is the last heartbeat of any worker, ``None`` if there was none.

    The other fields are when the oldest due delivery, open event or mail became due; ``None`` if
    none waits.
    """

    beat_at: datetime | None
    delivery_since: datetime | None
    event_since: datetime | None
    mail_since: datetime | None


@internal
def record_heartbeat(ports: Ports, actor: Actor) -> int:
    """Record a heartbeat; return 0: no work is left."""
    with ports.database.transaction() as session:
        session.execute(update(HeartbeatRecord).values(beat_at=ports.shared_clock.now()))
    return 0


@part
def read_worker_status(ports: Ports) -> WorkerStatus:
    """In one statement, by indexes that hold only what is still to be done."""
    now = ports.shared_clock.now()
    delivery = select(func.min(DeliveryRecord.next_attempt_at)).where(
        DeliveryRecord.next_attempt_at <= now, DeliveryRecord.lease_until.is_(None)
    )
    event = (
        select(OutboxEventRecord.issued_at)
        .where(OutboxEventRecord.closed_at.is_(None))
        .order_by(OutboxEventRecord.id)
        .limit(1)
    )
    mail = select(func.min(OutboxMailRecord.next_attempt_at)).where(
        OutboxMailRecord.next_attempt_at <= now
    )
    query = select(
        HeartbeatRecord.beat_at,
        delivery.scalar_subquery(),
        event.scalar_subquery(),
        mail.scalar_subquery(),
    )
    with ports.database.reading() as session:
        return WorkerStatus(*session.execute(query).one())
