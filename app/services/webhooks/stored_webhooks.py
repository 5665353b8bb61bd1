"""Read webhooks, and write them within a transaction."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial

from sqlalchemy import ColumnElement, case, delete, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import ActorKind
from app.domain.authorization.permissions import joined_names, split_names
from app.domain.deliveries.deliveries import MOST_ATTEMPTS_RELEASED
from app.domain.events import EventType
from app.domain.keys import WEBHOOK_HEADER, WEBHOOK_SECRET
from app.domain.values.errors import Problem, Refused
from app.domain.values.text_rules import MAX_NAME_LENGTH
from app.domain.webhooks import UNKNOWN_SAVER, Saver, Webhook
from app.models.json_arrays import json_array_text
from app.ports import NamedRow, Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import building_block
from app.services.lists.paging import record_from

OLD_SECRET_SIGNS = timedelta(hours=24)
"""How long a secret that was replaced still signs along with the new one."""

SAVER_COLUMNS = (
    models.Webhook.saved_by_kind,
    models.Webhook.saved_by,
    models.Webhook.saved_permissions,
)
"""What ``read_saver`` expects in a row."""

_ENCRYPTED = "encrypted"
"""The member of a stored header that holds its encrypted value."""

EVENTS_OF_WEBHOOK: ColumnElement[str] = (
    select(json_array_text(models.WebhookEvent.event))
    .where(models.WebhookEvent.webhook_id == models.Webhook.id)
    .scalar_subquery()
    .label("events")
)
"""What ``read_events`` reads."""

WEBHOOKS = select(models.Webhook, EVENTS_OF_WEBHOOK)
"""What ``to_webhook`` reads."""

_LOST = Problem(
    "INVALID",
    "The secret of this webhook can't be read: it was encrypted with another "
    "SECRET_KEY. Set a new secret.",
    "secretKey",
)
_LOST_HEADERS = Problem(
    "INVALID",
    "The headers of this webhook can't be read: they were encrypted with another "
    "SECRET_KEY. Set them again.",
    "customHeaders",
)


@building_block
def to_webhook(ports: Ports, stored: models.Webhook, events: str) -> Webhook:
    """Return the webhook of a row of ``WEBHOOKS``; its secret is read as in ``read_webhooks``."""
    return _webhook(ports, stored, read_events(events))


@building_block
def read_events(text: str) -> tuple[EventType, ...]:
    """Return the events in ``EVENTS_OF_WEBHOOK``, without those of a later version."""
    return _known_events(json.loads(text))


def _known_events(names: Collection[str]) -> tuple[EventType, ...]:
    return tuple(event for event in EventType if event.value in names)


@building_block
def read_webhooks(
    ports: Ports, session: Session, stored: Collection[models.Webhook]
) -> tuple[Webhook, ...]:
    """Return the webhooks of these records in order, with their events.

    A secret is decrypted by ``reveal``, which refuses INVALID on ``secretKey`` if it can't be.
    """
    query = select(models.WebhookEvent).where(
        models.WebhookEvent.webhook_id.in_([record.id for record in stored])
    )
    names: dict[int, set[str]] = {record.id: set() for record in stored}
    for row in session.scalars(query):
        names[row.webhook_id].add(row.event)
    return tuple(_webhook(ports, record, _known_events(names[record.id])) for record in stored)


@building_block
def store_webhook(ports: Ports, session: Session, webhook: Webhook) -> int:
    """Write a new webhook and return its key; its ``id`` isn't looked at."""
    stored = models.Webhook(
        app_id=webhook.app_id, custom_headers={}, created_at=webhook.created_at
    )
    session.add(stored)
    blank = replace(webhook, events=(), max_rate=0, reveal=str, reveal_headers=dict)
    change_webhook(ports, session, stored, blank, webhook)
    return stored.id


@building_block
def set_saver(stored: models.Webhook, saver: Saver) -> None:
    """Let ``saver`` be who saved the webhook last."""
    stored.saved_by_kind = saver.kind.value if saver.kind else ""
    stored.saved_by = saver.name[:MAX_NAME_LENGTH]
    permissions = saver.permissions
    stored.saved_permissions = None if permissions is None else joined_names(permissions)


@building_block
def read_saver(row: NamedRow | models.Webhook) -> Saver:
    """Who saved a webhook last, from a row that has ``SAVER_COLUMNS``."""
    if not row.saved_by_kind:
        return UNKNOWN_SAVER
    permissions = None if row.saved_permissions is None else split_names(row.saved_permissions)
    return Saver(ActorKind(row.saved_by_kind), row.saved_by, permissions)


def _store_events(session: Session, webhook_id: int, events: Iterable[EventType]) -> None:
    """Subscribe a webhook to exactly ``events``."""
    session.execute(
        delete(models.WebhookEvent).where(models.WebhookEvent.webhook_id == webhook_id)
    )
    session.add_all(
        models.WebhookEvent(webhook_id=webhook_id, event=event.value) for event in events
    )
    session.flush()


@building_block
def encrypted_secret(ports: Ports, secret_key: str) -> str:
    """Return a ``secretKey`` as stored."""
    return ports.encryption.encrypt(WEBHOOK_SECRET, secret_key) if secret_key else ""


def _replace_secret(ports: Ports, webhook: models.Webhook, secret_key: str) -> None:
    """Sign with ``secret_key`` from now on, and with the previous one for another day.

    Without a new one the old one no longer signs, nor does one that can't be decrypted.
    """
    try:
        before = _decrypted(ports, webhook.secret)
    except Refused:
        before = ""
    if before == secret_key != "":
        return
    is_replaced = bool(before and secret_key)
    webhook.old_secret = webhook.secret if is_replaced else ""
    webhook.old_secret_until = ports.clock.now() + OLD_SECRET_SIGNS if is_replaced else None
    webhook.secret = encrypted_secret(ports, secret_key)


def _webhook(ports: Ports, stored: models.Webhook, events: tuple[EventType, ...]) -> Webhook:
    return record_from(
        Webhook,
        stored,
        events=events,
        header_names=tuple(stored.custom_headers),
        has_secret=bool(stored.secret),
        saver=read_saver(stored),
        lacking=(),
        sealed=json.dumps([stored.secret, stored.custom_headers], sort_keys=True),
        reveal=partial(_decrypted, ports, stored.secret),
        reveal_headers=partial(_revealed_headers, ports, stored.custom_headers),
    )


def _decrypted(ports: Ports, encrypted: str) -> str:
    try:
        return ports.encryption.decrypt(WEBHOOK_SECRET, encrypted) if encrypted else ""
    except DecryptionError:
        raise Refused(_LOST) from None


def _revealed_headers(ports: Ports, stored: Mapping[str, object]) -> Mapping[str, str]:
    try:
        return decrypted_headers(ports, stored)
    except DecryptionError:
        raise Refused(_LOST_HEADERS) from None


@building_block
def encrypted_headers(ports: Ports, headers: Mapping[str, str]) -> dict[str, object]:
    """Return custom headers as stored: their names, each with its encrypted value."""
    return {
        name: {_ENCRYPTED: ports.encryption.encrypt(WEBHOOK_HEADER, value)}
        for name, value in headers.items()
    }


@building_block
def decrypted_headers(ports: Ports, stored: Mapping[str, object]) -> dict[str, str]:
    """Return the custom headers that were stored; raises ``DecryptionError``.

    Those that a server of the previous release stored aren't encrypted.
    """
    return {name: _header_value(ports, value) for name, value in stored.items()}


@building_block
def reseal_header(ports: Ports, stored: object) -> dict[str, str] | None:
    """Return a header's value encrypted under the current key, ``None`` if it is already.

    Raises ``DecryptionError`` for one that no key opens.
    """
    if not isinstance(stored, dict):
        return {_ENCRYPTED: ports.encryption.encrypt(WEBHOOK_HEADER, str(stored))}
    changed = ports.encryption.reseal(WEBHOOK_HEADER, str(stored.get(_ENCRYPTED)))
    return None if changed is None else {_ENCRYPTED: changed}


def _header_value(ports: Ports, stored: object) -> str:
    if not isinstance(stored, dict):
        return str(stored)
    return ports.encryption.decrypt(WEBHOOK_HEADER, str(stored.get(_ENCRYPTED)))


@building_block
def change_webhook(
    ports: Ports, session: Session, stored: models.Webhook, before: Webhook, after: Webhook
) -> None:
    """Write ``after`` over the stored webhook, which is as ``before``."""
    for name in ("name", "identifier", "target_url", "query", "is_active"):
        setattr(stored, name, getattr(after, name))
    if after.reveal_headers is not before.reveal_headers:
        stored.custom_headers = encrypted_headers(ports, after.reveal_headers())
    set_saver(stored, after.saver)
    if after.reveal is not before.reveal:
        _replace_secret(ports, stored, after.reveal())
    is_enabled = after.is_active and not before.is_active
    is_resumed = before.is_paused and not after.is_paused
    if after.target_url != before.target_url or is_enabled or is_resumed:
        # What the old endpoint did, or this one long ago, is not held against it.
        stored.failing_since = stored.incident_since = None
        stored.failures_in_row = 0
    if is_enabled:
        stored.disabled_at = None
        stored.disabled_reason = ""
    if is_resumed:
        stored.resumed_at = ports.shared_clock.now()
        _put_in_order(session, stored.id)
    if after.max_rate != before.max_rate:
        stored.max_rate, stored.next_slot_at = after.max_rate, None
    stored.paused_at = after.paused_at
    session.flush()
    if after.events != before.events:
        _store_events(session, stored.id, after.events)


_MAX_REORDERED = 20_000
"""Deliveries that are put in order at once, so that the transaction stays short."""


def _put_in_order(session: Session, webhook_id: int) -> None:
    """Let what waits at the end of a pause be due in the order of its events.

    Retries and what was resent would otherwise be sent between or after newer events. Of more than
    ``_MAX_REORDERED`` the newest keep their time.
    """
    moved = (
        select(models.Delivery.id)
        .where(
            models.Delivery.webhook_id == webhook_id,
            models.Delivery.next_attempt_at.is_not(None),
            models.Delivery.next_attempt_at != models.Delivery.created_at,
        )
        .order_by(models.Delivery.id)
        .limit(_MAX_REORDERED)
    )
    most = MOST_ATTEMPTS_RELEASED
    session.execute(
        update(models.Delivery)
        .where(models.Delivery.id.in_(moved))
        .values(
            next_attempt_at=models.Delivery.created_at,
            attempts=case((models.Delivery.attempts > most, most), else_=models.Delivery.attempts),
        )
        .execution_options(synchronize_session=False)
    )
