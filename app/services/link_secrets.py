"""Payloads of events that carry a link's secret, as people may see them: without it."""

from collections.abc import Collection, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.events import EVENTS, EventType, LinkRequested
from app.models import DeliveryRecord, OutboxEventRecord
from app.ports import Ports
from app.ports.sealing import SealBroken
from app.services.access import part
from app.services.outbox import EVENT_SEAL

HIDDEN = "(hidden)"


@part
def holds_secret(event: str) -> bool:
    """Whether the payload of such an event may hold the secret of a link."""
    return issubclass(EVENTS[EventType(event)], LinkRequested)


@part
def secrets_of(ports: Ports, session: Session, deliveries: Collection[int]) -> Mapping[int, str]:
    """The secret that each of these deliveries may hold, from the event's note; "" if unknown."""
    rows = session.execute(
        select(DeliveryRecord.id, OutboxEventRecord.sealed)
        .outerjoin(OutboxEventRecord, OutboxEventRecord.id == DeliveryRecord.note_id)
        .where(DeliveryRecord.id.in_(deliveries))
    )
    return {key: _unsealed(ports, sealed or "") for key, sealed in rows}


@part
def without_secret(payload: str, secret: str) -> str:
    """``payload`` with the secret blotted out; all of it, when one cannot tell what the secret is.

    Whoever manages apps must not be able to set the password of whoever asked for a link.
    """
    return payload.replace(secret, HIDDEN) if secret else HIDDEN


def _unsealed(ports: Ports, sealed: str) -> str:
    try:
        return ports.sealing.unseal(EVENT_SEAL, sealed) if sealed else ""
    except SealBroken:
        return ""
