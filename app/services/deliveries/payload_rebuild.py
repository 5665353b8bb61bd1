"""Payloads that could not be made at first, made from the event's note again."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, select, update

from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EventType
from app.models import DeliveryRecord, OutboxEventRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.deliveries.fanout import make_missing_deliveries
from app.services.outbox.link_secrets import encrypted_payload
from app.services.webhooks.subscribers import subscribers_of


@part
def rebuild_payloads(ports: Ports, deliveries: Sequence[int]) -> int:
    """Make the missing payloads of these deliveries and schedule them; return how many got one.

    Each is read with the webhook and app of now. Deliveries stay failed, with an updated reason,
    if the payload still can't be made, the webhook no longer subscribes to the event, or the
    outbox event is gone (sent by hand, or older than 14 days). Raises faults of ours.
    """
    return sum(_rebuild(ports, key) for key in deliveries)


@part
def rebuild_missing_payloads(ports: Ports, chosen: ColumnElement[bool]) -> int:
    """Make the missing payloads of the chosen deliveries as ``rebuild_payloads`` does."""
    with ports.database.reading() as session:
        empty = session.scalars(
            select(DeliveryRecord.id).where(chosen, DeliveryRecord.payload == "")
        ).all()
    return rebuild_payloads(ports, empty)


def _rebuild(ports: Ports, key: int) -> bool:
    with ports.database.reading() as session:
        found = session.execute(
            select(OutboxEventRecord, DeliveryRecord.webhook_id)
            .join(DeliveryRecord, DeliveryRecord.note_id == OutboxEventRecord.id)
            .where(DeliveryRecord.id == key, DeliveryRecord.payload == "")
        ).one_or_none()
        if found is None:
            return False
        note, webhook = found
        heard = subscribers_of(session, [EventType(note.type)])[EventType(note.type)]
        session.expunge_all()
    subscriber = next((candidate for candidate in heard if candidate.webhook_id == webhook), None)
    if subscriber is None:
        return False
    (rebuilt,) = make_missing_deliveries(ports, [note], subscriber)
    is_due = rebuilt.status is DeliveryStatus.PENDING
    now = ports.shared_clock.now()
    with ports.database.transaction() as session:
        session.execute(
            update(DeliveryRecord)
            .where(DeliveryRecord.id == key)
            .values(
                payload=encrypted_payload(ports, rebuilt.event, rebuilt.payload),
                status=rebuilt.status.value,
                given_up=rebuilt.given_up[:256],
                has_link=rebuilt.has_link,
                next_attempt_at=now if is_due else None,
            )
        )
    return is_due
