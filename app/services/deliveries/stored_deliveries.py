"""Deliveries as they are stored: new ones, written inside a transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import and_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.domain.deliveries.deliveries import MESSAGE_RANDOM_LENGTH, DeliveryStatus, make_message_id
from app.models import DeliveryRecord, WebhookRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.outbox.link_secrets import encrypted_payload

WAITS_FOR_PAYLOAD = and_(
    DeliveryRecord.payload == "",
    DeliveryRecord.status == DeliveryStatus.PENDING.value,
    DeliveryRecord.next_attempt_at.is_(None),
)
"""The deliveries whose payload couldn't be made yet, because of a fault of ours."""

_REASON = 256
_MADE = ("payload", "status", "next_attempt_at", "given_up", "has_link")
"""What a payload that was made at last changes of its delivery."""


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery to be: due at once, unless it has failed before it could be tried.

    One that is pending without a payload isn't due: its payload is tried again.
    ``note_id`` is the outbox event it comes from, ``None`` for one that was triggered by hand.
    ``has_link``: the payload holds the secret of a link.
    """

    webhook_id: int
    event: str
    subject_id: int
    payload: str = field(repr=False)
    issuer: str
    note_id: int | None = None
    status: DeliveryStatus = DeliveryStatus.PENDING
    given_up: str = ""
    has_link: bool = False


@part
def insert_deliveries(
    ports: Ports, session: Session, deliveries: Sequence[NewDelivery], now: datetime
) -> None:
    """Write new deliveries; one that its note and webhook have already is left as it is.

    Except one that waits for its payload, which is replaced. A webhook that has been deleted
    meanwhile gets none.
    """
    webhook_ids = {delivery.webhook_id for delivery in deliveries}
    if not webhook_ids:
        return
    # Locked against a deletion between this look and the end of the transaction.
    query = select(WebhookRecord.id).where(WebhookRecord.id.in_(webhook_ids))
    alive = set(session.scalars(query.with_for_update(read=True, key_share=True)))
    rows = [_row(ports, delivery, now) for delivery in deliveries if delivery.webhook_id in alive]
    if not rows:
        return
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    insert = dialect.insert(DeliveryRecord)
    statement = insert.on_conflict_do_update(
        index_elements=[DeliveryRecord.note_id, DeliveryRecord.webhook_id],
        set_={name: insert.excluded[name] for name in _MADE},
        where=WAITS_FOR_PAYLOAD,
    )
    session.execute(statement, rows)


@part
def store_delivery(ports: Ports, session: Session, new: NewDelivery, now: datetime) -> int:
    """Write one delivery that no event of the outbox is behind; returns its key."""
    stored = DeliveryRecord(**_row(ports, new, now))
    session.add(stored)
    session.flush()
    return stored.id


def _row(ports: Ports, new: NewDelivery, now: datetime) -> dict[str, object]:
    is_due = new.status is DeliveryStatus.PENDING and new.payload != ""
    return {
        "webhook_id": new.webhook_id,
        "note_id": new.note_id,
        "event": new.event,
        "subject_id": new.subject_id,
        "message_id": make_message_id(now, ports.randomness.token(MESSAGE_RANDOM_LENGTH)),
        "payload": encrypted_payload(ports, new.event, new.payload),
        "issuer": new.issuer,
        "status": new.status.value,
        "created_at": now,
        "next_attempt_at": now if is_due else None,
        "given_up": new.given_up[:_REASON],
        "has_link": new.has_link,
    }
