"""Making deliveries: one signed request each, and a row for every attempt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta

from sqlalchemy import bindparam, select, update

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import GONE, Batch
from app.domain.webhooks import required_permission
from app.models import AppRecord, DeliveryRecord, OutboxEventRecord, WebhookRecord
from app.models.record import UtcDateTime
from app.ports import NamedRow, Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import internal
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.deliveries.attempt_results import (
    AttemptResult,
    Delivery,
    TracedDelivery,
    fail_all,
    fail_each,
    save_results,
)
from app.services.deliveries.attempts import send_attempt
from app.services.deliveries.dispatch import LEASE, release_batch
from app.services.deliveries.signing import ENDPOINT_COLUMNS, Endpoint, endpoint_of
from app.services.lists.paging import record_from
from app.services.outbox.link_secrets import decrypted_payload, holds_secret
from app.services.outbox.publisher import TRACEPARENT
from app.services.webhooks.link_recipients import SentLink, sent_links
from app.services.webhooks.stored_webhooks import SAVER_COLUMNS, read_saver

_MAX_BATCH_TIME = timedelta(seconds=5)
"""How long a batch may take before the rest of it goes back: a slow endpoint waits its turn."""
_LEAST_LEASE = LEASE * 3 / 4
"""What must be left of a lease when its batch begins: longer than a batch takes."""
_SLOW_SECONDS = 1.0
"""Seconds after which what is known so far is written down, rather than with the whole batch."""

_UNREADABLE_KEY = (
    "The webhook's secret or headers were encrypted with another SECRET_KEY. Set them again."
)
_UNREADABLE = (
    "The payload was encrypted with another SECRET_KEY. The link must be requested again."
)
_LINK_NOT_ALLOWED = (
    "Not sent: this link gives access to an account with permissions that the app, or the person "
    "who saved the webhook, doesn't have."
)
_COLUMNS = (
    DeliveryRecord.id,
    DeliveryRecord.event,
    DeliveryRecord.message_id,
    DeliveryRecord.payload,
    DeliveryRecord.issuer,
    DeliveryRecord.attempts,
    DeliveryRecord.note_id,
)
"""The fields of ``Delivery``; one without a note is a sample."""

_OF_BATCH = (
    DeliveryRecord.id.in_(bindparam("deliveries", expanding=True)),
    DeliveryRecord.lease == bindparam("held"),
    DeliveryRecord.lease_until > bindparam("now", type_=UtcDateTime),
)
_LEASED = (
    select(
        *_COLUMNS,
        DeliveryRecord.lease_until,
        WebhookRecord.is_active.label("is_enabled"),
        AppRecord.is_active.label("app_is_active"),
        APP_PERMISSIONS.label("app_permissions"),
        *ENDPOINT_COLUMNS,
        *SAVER_COLUMNS,
    )
    .join(WebhookRecord, WebhookRecord.id == DeliveryRecord.webhook_id)
    .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
    .where(*_OF_BATCH)
    .order_by(DeliveryRecord.id)
)
_EXTEND = (
    update(DeliveryRecord)
    .where(*_OF_BATCH)
    .values(lease_until=bindparam("ends"))
    .returning(DeliveryRecord.id)
)


@dataclass(frozen=True, slots=True)
class _Receiver:
    endpoint: Endpoint
    permissions: frozenset[Permission]


@internal
def send_deliveries(ports: Ports, actor: Actor, batch: Batch) -> int:
    """Send the deliveries of ``batch`` while its lease lasts; return how many were tried.

    Requests are sent outside transactions and results written afterwards: a crash in between
    repeats with the same ``webhook-id``. A fault of ours counts as a failed attempt, and is raised
    at the end, for the log.
    """
    rows = _leased_rows(ports, batch)
    if not rows:
        return 0
    if not (rows[0].is_enabled and rows[0].app_is_active):
        reason = "The app is inactive." if rows[0].is_enabled else "The webhook is disabled."
        fail_all(ports, batch, reason)
        return 0
    try:
        receiver = _receiver(ports, rows[0])
    except DecryptionError:
        fail_all(ports, batch, _UNREADABLE_KEY)
        return 0
    permitted = _permitted(ports, batch, receiver, _deliveries(ports, batch, rows))
    results = _send(ports, batch, receiver.endpoint, permitted)
    if len(results) < len(permitted):
        release_batch(ports, actor, batch)
    faults = [result.fault for result in results if result.fault is not None]
    if faults:
        raise ExceptionGroup("deliveries could not be made", faults)
    return len(results)


def _send(
    ports: Ports, batch: Batch, endpoint: Endpoint, deliveries: Sequence[Delivery]
) -> Sequence[AttemptResult]:
    """Attempts until time is up, or the endpoint is gone; all of them written down."""
    began = ports.clock.now()
    results: list[AttemptResult] = []
    written = 0
    try:
        for delivery in deliveries:
            if ports.clock.now() - began > _MAX_BATCH_TIME:
                break
            results.append(send_attempt(ports, endpoint, delivery))
            if results[-1].duration > _SLOW_SECONDS:
                save_results(ports, batch, endpoint.url, results[written:])
                written = len(results)
            if results[-1].answered == GONE:
                break
    finally:
        save_results(ports, batch, endpoint.url, results[written:])
    return results


def _leased_rows(ports: Ports, batch: Batch) -> Sequence[NamedRow]:
    """Return the deliveries that the lease still covers, each with its webhook and app.

    Their lease lasts for as long as a batch takes: it is extended if it is older.
    """
    now = ports.shared_clock.now()
    values = {"deliveries": batch.deliveries, "held": batch.lease, "now": now}
    with ports.database.reading() as session:
        rows = session.execute(_LEASED, values).all()
    if all(row.lease_until - now >= _LEAST_LEASE for row in rows):
        return rows
    with ports.database.transaction() as session:
        extended = set(session.connection().scalars(_EXTEND, {**values, "ends": now + LEASE}))
    return [row for row in rows if row.id in extended]


def _receiver(ports: Ports, row: NamedRow) -> _Receiver:
    """Return the endpoint in a row of ``_LEASED``, with the permissions that it has."""
    permitted = read_saver(row).payload_permissions(read_permissions(row.app_permissions))
    return _Receiver(endpoint_of(ports, row), permitted)


def _permitted(
    ports: Ports, batch: Batch, receiver: _Receiver, deliveries: Sequence[Delivery]
) -> Sequence[Delivery]:
    """Return the deliveries whose event the app is still permitted; fail the others."""
    reasons = {}
    for delivery in deliveries:
        permission = required_permission(
            delivery.event
        )  # none of a later version's: its fan-out has looked
        if permission is not None and permission not in receiver.permissions:
            reasons[delivery.id] = f"The app no longer has {permission}."
    fail_each(ports, batch.lease, reasons)
    return [delivery for delivery in deliveries if delivery.id not in reasons]


def _deliveries(ports: Ports, batch: Batch, rows: Sequence[NamedRow]) -> Sequence[Delivery]:
    deliveries = [_delivery(row) for row in rows]
    if ports.traces.is_on:
        notes = {row.id: row.note_id for row in rows if row.note_id is not None}
        deliveries = _with_traces(ports, deliveries, notes)
    return _with_decrypted_payloads(ports, batch, deliveries)


def _with_traces(
    ports: Ports, deliveries: Sequence[Delivery], notes: Mapping[int, int]
) -> list[Delivery]:
    """Return the deliveries with the traces of their events, which may be deleted by now."""
    query = select(OutboxEventRecord.id, OutboxEventRecord.data)
    with ports.database.reading() as session:
        rows = session.execute(query.where(OutboxEventRecord.id.in_(set(notes.values())))).all()
    found = {row.id: str(row.data.get(TRACEPARENT, "")) for row in rows}
    return [
        TracedDelivery(
            **{field.name: getattr(delivery, field.name) for field in fields(Delivery)},
            traceparent=found.get(notes.get(delivery.id, 0), ""),
        )
        for delivery in deliveries
    ]


def _delivery(row: NamedRow) -> Delivery:
    return record_from(Delivery, row, is_sample=row.note_id is None)


def _with_decrypted_payloads(
    ports: Ports, batch: Batch, encrypted: Sequence[Delivery]
) -> Sequence[Delivery]:
    """The deliveries with their payloads; for those that may not be sent so it is the end.

    A payload that cannot be read any more, or one with the secret of a link that the webhook may
    not have by now.
    """
    links: Mapping[int, SentLink] = {}
    with_link = [delivery.id for delivery in encrypted if holds_secret(delivery.event)]
    if with_link:
        with ports.database.reading() as session:
            links = sent_links(ports, session, with_link)
    opened = []
    reasons = {}
    for delivery in encrypted:
        try:
            payload = decrypted_payload(ports, delivery.payload)
        except DecryptionError:
            reasons[delivery.id] = _UNREADABLE
            continue
        link = links.get(delivery.id)
        if link is None or link.may_send(payload):
            opened.append(replace(delivery, payload=payload))
        else:
            reasons[delivery.id] = _LINK_NOT_ALLOWED
    fail_each(ports, batch.lease, reasons)
    return opened
