"""From what happened to who is told: a delivery for each webhook that hears of an event."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from app.domain.actor import Actor
from app.domain.deliveries import DeliveryStatus
from app.domain.events import EventType
from app.models import OutboxEventRecord
from app.ports import Ports
from app.ports.sealing import SealBroken
from app.services.access import internal, part
from app.services.payloads import Payload, make_payload
from app.services.stored_deliveries import NewDelivery, insert_deliveries
from app.services.stored_events import event_in
from app.services.subscribers import Subscriber, subscribers_of

BATCH = 50
"""Notes that one round takes."""

LEASE = timedelta(minutes=2)
"""Longer than a batch takes; what a killed worker had taken is free again afterwards."""

_SEALED = "The event was sealed under another SECRET_KEY."


@dataclass(frozen=True, slots=True)
class _Told:
    """The deliveries of one note; their payloads have been made."""

    note: OutboxEventRecord
    deliveries: tuple[NewDelivery, ...]


@internal
def fan_out_events(ports: Ports, actor: Actor) -> int:
    """Make the deliveries of what happened, oldest first; how many notes were closed.

    Payloads are read outside any transaction; deliveries are written, and their notes closed, in
    one. A crash repeats harmlessly: a note and a webhook have one delivery. Only open notes are
    looked at, so the cost does not grow with what has been told before. What failed for no reason
    of the rules (a store that does not answer) is raised at the end: it is tried again.
    """
    notes, subscribers = _claim(ports)
    if not notes:
        return 0
    told, faults = [], []
    for note in notes:
        try:
            told.append(_tell(ports, note, subscribers[EventType(note.type)]))
        except Exception as fault:  # noqa: BLE001 - raised below; the other notes go on
            faults.append(fault)
    with ports.database.transaction() as session:
        now = ports.clock.now()
        insert_deliveries(
            ports, session, [delivery for one in told for delivery in one.deliveries], now
        )
        _close(session, [one.note.id for one in told], now)
    if faults:
        raise ExceptionGroup("payloads could not be made and are tried again", faults)
    return len(notes)


def _claim(
    ports: Ports,
) -> tuple[Sequence[OutboxEventRecord], dict[EventType, tuple[Subscriber, ...]]]:
    """Open notes that nobody else has taken, and who hears of them."""
    now = ports.clock.now()
    with ports.database.reading() as session:
        # A look that locks nothing: most rounds find nothing, and disturb nobody.
        if session.scalar(select(OutboxEventRecord.id).where(*_open(now)).limit(1)) is None:
            return (), {}
    with ports.database.transaction() as session:
        notes = session.scalars(
            select(OutboxEventRecord)
            .where(*_open(now))
            .order_by(OutboxEventRecord.id)
            .limit(BATCH)
            .with_for_update(skip_locked=True)
        ).all()
        session.execute(
            update(OutboxEventRecord)
            .where(OutboxEventRecord.id.in_([note.id for note in notes]))
            .values(lease_until=now + LEASE)
            .execution_options(synchronize_session=False)
        )
        found = subscribers_of(session, {EventType(note.type) for note in notes})
        session.expunge_all()
    return notes, dict(found)


def _open(now: datetime) -> tuple[ColumnElement[bool], ...]:
    free = or_(OutboxEventRecord.lease_until.is_(None), OutboxEventRecord.lease_until <= now)
    return (OutboxEventRecord.closed_at.is_(None), free)


@part
def tell_again(
    ports: Ports, notes: Sequence[OutboxEventRecord], subscriber: Subscriber
) -> Sequence[NewDelivery]:
    """The deliveries that one webhook should have had of ``notes``; never in a transaction."""
    return [one for note in notes for one in _tell(ports, note, [subscriber]).deliveries]


def _tell(ports: Ports, note: OutboxEventRecord, subscribers: Sequence[Subscriber]) -> _Told:
    """What each webhook is told; what one app asks for in the same words is read once."""
    try:
        event = event_in(ports, note)
    except SealBroken:
        return _Told(note, tuple(_failed(note, one, _SEALED) for one in subscribers))
    known: dict[tuple[int, str], Payload] = {}
    deliveries = []
    for one in subscribers:
        asked = (one.app_id, one.query)
        if asked not in known:
            known[asked] = make_payload(
                ports,
                one.actor(note.issuer),
                event,
                one.query,
                issued_at=note.issued_at,
                principal=(note.principal_type, note.principal_id),
            )
        made = known[asked]
        deliveries.append(
            _failed(note, one, made.problem) if made.problem else _pending(note, one, made.text)
        )
    return _Told(note, tuple(deliveries))


def _pending(note: OutboxEventRecord, subscriber: Subscriber, text: str) -> NewDelivery:
    return NewDelivery(
        webhook_id=subscriber.webhook_id,
        event=note.type,
        subject_id=note.subject_id,
        payload=text,
        issuer=note.issuer,
        note_id=note.id,
    )


def _failed(note: OutboxEventRecord, subscriber: Subscriber, reason: str) -> NewDelivery:
    return NewDelivery(
        webhook_id=subscriber.webhook_id,
        event=note.type,
        subject_id=note.subject_id,
        payload="",
        issuer=note.issuer,
        note_id=note.id,
        status=DeliveryStatus.FAILED,
        given_up=reason,
    )


def _close(session: Session, notes: Collection[int], now: datetime) -> None:
    session.execute(
        update(OutboxEventRecord)
        .where(OutboxEventRecord.id.in_(notes))
        .values(closed_at=now, lease_until=None)
    )
