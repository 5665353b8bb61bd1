"""Fan out events: one delivery for each subscribed webhook; later, payloads that failed again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, or_, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import MESSAGE_RANDOM_LENGTH, DeliveryStatus, make_message_id
from app.domain.events import EVENTS, Event, EventType, LinkRequested, Occurrence
from app.domain.keys import OUTBOX_EVENT
from app.domain.values.times import FAULT_DELAYS, delay_before
from app.models.record import UtcDateTime, insert_into
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import building_block, internal
from app.services.outbox.base_url import issuer_of
from app.services.outbox.publisher import encrypted_payload
from app.services.webhooks.payloads import Payload, problem_of, try_payload
from app.services.webhooks.subscribers import (
    Subscriber,
    event_for_subscriber,
    link_subject,
    subscribers_of,
)


@building_block
def read_event(ports: Ports, entry: models.OutboxEvent) -> Event:
    """Return the event of an outbox entry, with its secret, without a later version's fields.

    Raises ``DecryptionError`` when it was sealed under another SECRET_KEY.
    """
    kind: type[Any] = EVENTS[EventType(entry.type)]
    names = {field.name for field in fields(kind)} - {"subject_id"}
    values = {name: value for name, value in entry.data.items() if name in names}
    if issubclass(kind, LinkRequested) and entry.sealed:
        values["token"] = ports.encryption.decrypt(OUTBOX_EVENT, entry.sealed)
    event: Event = kind(subject_id=entry.subject_id, **values)
    return event


WAITS_FOR_PAYLOAD = and_(
    models.Delivery.payload == "",
    models.Delivery.status == DeliveryStatus.PENDING.value,
    models.Delivery.next_attempt_at.is_(None),
)
"""The deliveries whose payload couldn't be made yet, because of an error in Latchkey."""

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


@building_block
def insert_deliveries(
    ports: Ports, session: Session, deliveries: Sequence[NewDelivery], now: datetime
) -> None:
    """Write new deliveries; one that exists for its event and webhook is left as it is.

    Except one that waits for its payload, which is replaced. A webhook that has been deleted
    meanwhile gets none.
    """
    webhook_ids = {delivery.webhook_id for delivery in deliveries}
    if not webhook_ids:
        return
    # Locked against a deletion between this look and the end of the transaction.
    query = select(models.Webhook.id).where(models.Webhook.id.in_(webhook_ids))
    alive = set(session.scalars(query.with_for_update(read=True, key_share=True)))
    rows = [delivery_values(ports, new, now) for new in deliveries if new.webhook_id in alive]
    if not rows:
        return
    insert = insert_into(session, models.Delivery)
    statement = insert.on_conflict_do_update(
        index_elements=[models.Delivery.note_id, models.Delivery.webhook_id],
        set_={name: insert.excluded[name] for name in _MADE},
        where=WAITS_FOR_PAYLOAD,
    )
    session.execute(statement, rows)


@building_block
def store_delivery(ports: Ports, session: Session, new: NewDelivery, now: datetime) -> int:
    """Write one delivery that no event of the outbox is behind; returns its key."""
    stored = models.Delivery(**delivery_values(ports, new, now))
    session.add(stored)
    session.flush()
    return stored.id


@building_block
def delivery_values(ports: Ports, new: NewDelivery, now: datetime) -> dict[str, object]:
    """Return the columns of a delivery that is created ``now``."""
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


BATCH_SIZE = 50
"""Notes that one round takes."""

LEASE = timedelta(minutes=2)
"""Longer than a batch takes; what a killed worker had taken is free again afterwards."""

_NOW = bindparam("now", type_=UtcDateTime)
_LAST_END = bindparam("last_event_lease", type_=UtcDateTime)
"""No lease ends later: one that does is from before the clock was put back."""

_until = models.OutboxEvent.lease_until
IS_OPEN = (
    models.OutboxEvent.closed_at.is_(None),
    or_(_until.is_(None), _until <= _NOW, _until > _LAST_END),
)
"""The events that can be fanned out, with ``open_parameters``."""

_ANY_OPEN = select(models.OutboxEvent.id.label("id")).where(*IS_OPEN).limit(1)
_OLDEST = (
    select(models.OutboxEvent)
    .where(*IS_OPEN)
    .order_by(models.OutboxEvent.id)
    .limit(BATCH_SIZE)
    .with_for_update(skip_locked=True)
)

_FAULTS = "payloads could not be made"
_KNOWN = frozenset(kind.value for kind in EVENTS)
_UNREADABLE_EVENT = "The event was sealed under another SECRET_KEY."


@dataclass(frozen=True, slots=True)
class _PayloadResult:
    """The deliveries of one outbox event, and the faults that prevented others."""

    entry: models.OutboxEvent
    deliveries: tuple[NewDelivery, ...]
    faults: tuple[Exception, ...] = ()

    @property
    def retry_delay(self) -> float | None:
        """Seconds until the payloads that are missing are tried again; ``None`` for never."""
        tried = self.entry.attempts + 1
        return delay_before(tried, FAULT_DELAYS, 0.0) if self.faults else None


@internal
def fan_out_events(ports: Ports, actor: Actor) -> int:
    """Create the deliveries of outbox events, oldest first; return how many events were processed.

    Payloads are read outside any transaction; deliveries are written and their events closed in
    one. A crash repeats harmlessly: event and webhook have at most one delivery. Only open events
    are read, so the cost doesn't grow with history.

    An internal fault (an unreachable store, a defect) doesn't delay other payloads. It is raised
    at the end, for the log, and retried by ``FAULT_DELAYS``; meanwhile the delivery is stored
    without a payload, with the id of the log entry, and then it fails.
    """
    if ports.cache.hold is not None:
        return 0
    entries, subscribers = _claim(ports)
    if not entries:
        return 0
    results = [_make_payloads(ports, entry, subscribers.get(entry.type, ())) for entry in entries]
    deliveries = [delivery for result in results for delivery in result.deliveries]
    now = ports.shared_clock.now()
    with ports.database.transaction() as session:
        insert_deliveries(ports, session, deliveries, now)
        closed = [result.entry for result in results if result.retry_delay is None]
        _close(session, [entry.id for entry in closed], now)
        _end_waiting(session, [entry.id for entry in closed if entry.attempts])
        for result in results:
            if result.retry_delay is not None:
                _postpone(session, result.entry, now + timedelta(seconds=result.retry_delay))
    faults = [fault for result in results for fault in result.faults]
    if faults:
        raise ExceptionGroup(_FAULTS, faults)
    return len(entries)


def _claim(ports: Ports) -> tuple[Sequence[models.OutboxEvent], dict[str, tuple[Subscriber, ...]]]:
    """Lease open events; return them with their subscribers by event name."""
    now = ports.shared_clock.now()
    if not ports.database.read(_ANY_OPEN, open_parameters(now)):
        return (), {}
    with ports.database.transaction() as session:
        entries = session.scalars(_OLDEST, open_parameters(now)).all()
        session.execute(
            update(models.OutboxEvent)
            .where(models.OutboxEvent.id.in_([entry.id for entry in entries]))
            .values(lease_until=now + LEASE)
            .execution_options(synchronize_session=False)
        )
        # A later version may have noted what this one has never heard of.
        types = {EventType(entry.type) for entry in entries if entry.type in _KNOWN}
        found = subscribers_of(session, types)
        session.expunge_all()
    return entries, {kind.value: subscribed for kind, subscribed in found.items()}


@building_block
def open_parameters(now: datetime) -> dict[str, datetime]:
    """Return the parameters of ``IS_OPEN`` at ``now``."""
    return {"now": now, "last_event_lease": now + 2 * LEASE}


@building_block
def make_missing_deliveries(
    ports: Ports, entries: Sequence[models.OutboxEvent], subscriber: Subscriber
) -> Sequence[NewDelivery]:
    """Make the deliveries of outbox ``entries`` that one webhook lacks; never in a transaction.

    Raises what kept a payload from being made, if that was an internal fault.
    """
    results = [_make_payloads(ports, entry, [subscriber]) for entry in entries]
    faults = [fault for result in results for fault in result.faults]
    if faults:
        raise ExceptionGroup(_FAULTS, faults)
    return [delivery for result in results for delivery in result.deliveries]


def _make_payloads(
    ports: Ports, entry: models.OutboxEvent, subscribers: Sequence[Subscriber]
) -> _PayloadResult:
    """Make the payloads of one event; the same query of one app is run once."""
    is_last = delay_before(entry.attempts + 1, FAULT_DELAYS, 0.0) is None
    issuer = entry.issuer
    try:
        issuer = issuer_of(ports, entry.issuer)
        event = read_event(ports, entry)
        subject = link_subject(ports, event)
    except DecryptionError:
        return _PayloadResult(
            entry,
            tuple(
                _failed(entry, subscriber, issuer, _UNREADABLE_EVENT) for subscriber in subscribers
            ),
        )
    except Exception as fault:  # noqa: BLE001 - raised by the caller; the other events go on
        problem = problem_of(ports, fault, f"the event {entry.id} of the outbox, a {entry.type}")
        failed = tuple(_failed(entry, subscriber, issuer, problem) for subscriber in subscribers)
        return _PayloadResult(entry, failed if is_last else tuple(map(_waiting, failed)), (fault,))
    payloads: dict[tuple[Actor, str, bool], Payload] = {}
    deliveries = []
    for subscriber in subscribers:
        reader = replace(subscriber.actor(issuer), used=set())
        visible_event = event_for_subscriber(subscriber, event, subject)
        key = (reader, subscriber.query, visible_event is event)
        if key not in payloads:
            payloads[key] = try_payload(
                ports, reader, subscriber.query, _occurrence(entry, visible_event, reader.app_id)
            )
        payload = payloads[key]
        for permission in {event.permission, *(reader.used or ())}:
            ports.activity.record_permission_use(subscriber.app_id, permission)
        if not payload.problem:
            pending = _pending(entry, subscriber, issuer, payload.text)
            deliveries.append(replace(pending, has_link=_has_link(event, payload.text)))
        else:
            unmade = _failed(entry, subscriber, issuer, payload.problem)
            is_final = payload.fault is None or is_last
            deliveries.append(unmade if is_final else _waiting(unmade))
    faults = tuple(payload.fault for payload in payloads.values() if payload.fault is not None)
    return _PayloadResult(entry, tuple(deliveries), faults)


def _occurrence(entry: models.OutboxEvent, event: Event, recipient_id: int | None) -> Occurrence:
    return Occurrence(
        event, entry.issued_at, entry.principal_type, entry.principal_id, recipient_id
    )


def _pending(
    entry: models.OutboxEvent, subscriber: Subscriber, issuer: str, text: str
) -> NewDelivery:
    return NewDelivery(
        webhook_id=subscriber.webhook_id,
        event=entry.type,
        subject_id=entry.subject_id,
        payload=text,
        issuer=issuer,
        note_id=entry.id,
    )


def _has_link(event: Event, payload: str) -> bool:
    """Whether the payload holds the link's secret: the webhook may have it, and its query asks."""
    return isinstance(event, LinkRequested) and bool(event.token) and str(event.token) in payload


def _failed(
    entry: models.OutboxEvent, subscriber: Subscriber, issuer: str, reason: str
) -> NewDelivery:
    unmade = _pending(entry, subscriber, issuer, "")
    return replace(unmade, status=DeliveryStatus.FAILED, given_up=reason)


def _waiting(failed: NewDelivery) -> NewDelivery:
    """Return the delivery as it is stored while its payload is tried again."""
    return replace(failed, status=DeliveryStatus.PENDING)


def _end_waiting(session: Session, entries: Collection[int]) -> None:
    """Fail deliveries whose webhook stopped subscribing while their payload was tried again."""
    if entries:
        session.execute(
            update(models.Delivery)
            .where(models.Delivery.note_id.in_(entries), WAITS_FOR_PAYLOAD)
            .values(status=DeliveryStatus.FAILED.value)
        )


def _close(session: Session, entries: Collection[int], now: datetime) -> None:
    session.execute(
        update(models.OutboxEvent)
        .where(models.OutboxEvent.id.in_(entries))
        .values(closed_at=now, lease_until=None)
    )


def _postpone(session: Session, entry: models.OutboxEvent, until: datetime) -> None:
    session.execute(
        update(models.OutboxEvent)
        .where(models.OutboxEvent.id == entry.id)
        .values(attempts=entry.attempts + 1, lease_until=until)
    )


@building_block
def rebuild_payloads(ports: Ports, deliveries: Sequence[int]) -> int:
    """Make the missing payloads of these deliveries and schedule them; return how many got one.

    Each is read with the webhook and app of now. Deliveries stay failed, with an updated reason,
    if the payload still can't be made, the webhook no longer subscribes to the event, or the
    outbox event is gone (sent by hand, or older than 14 days). Raises internal faults.
    """
    return sum(_rebuild(ports, key) for key in deliveries)


@building_block
def rebuild_missing_payloads(ports: Ports, chosen: ColumnElement[bool]) -> int:
    """Make the missing payloads of the chosen deliveries as ``rebuild_payloads`` does."""
    with ports.database.reading() as session:
        empty = session.scalars(
            select(models.Delivery.id).where(chosen, models.Delivery.payload == "")
        ).all()
    return rebuild_payloads(ports, empty)


def _rebuild(ports: Ports, key: int) -> bool:
    with ports.database.reading() as session:
        found = session.execute(
            select(models.OutboxEvent, models.Delivery.webhook_id)
            .join(models.Delivery, models.Delivery.note_id == models.OutboxEvent.id)
            .where(models.Delivery.id == key, models.Delivery.payload == "")
        ).one_or_none()
        if found is None:
            return False
        entry, webhook = found
        heard = subscribers_of(session, [EventType(entry.type)])[EventType(entry.type)]
        session.expunge_all()
    subscriber = next((candidate for candidate in heard if candidate.webhook_id == webhook), None)
    if subscriber is None:
        return False
    (rebuilt,) = make_missing_deliveries(ports, [entry], subscriber)
    is_due = rebuilt.status is DeliveryStatus.PENDING
    now = ports.shared_clock.now()
    with ports.database.transaction() as session:
        session.execute(
            update(models.Delivery)
            .where(models.Delivery.id == key)
            .values(
                payload=encrypted_payload(ports, rebuilt.event, rebuilt.payload),
                status=rebuilt.status.value,
                given_up=rebuilt.given_up[:_REASON],
                has_link=rebuilt.has_link,
                next_attempt_at=now if is_due else None,
            )
        )
    return is_due
