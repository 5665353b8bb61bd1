"""Import the platform's webhooks with their events and secrets."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session
from typing_extensions import override

from app import models
from app.domain.authorization.actor import ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.imports.apps import grantable_permissions
from app.domain.imports.runs import Converted, Part
from app.domain.imports.webhooks import (
    WEBHOOKS,
    ImportedWebhook,
    WebhookSurroundings,
    convert_webhook,
)
from app.domain.keys import WEBHOOK_SECRET
from app.domain.values.errors import Problem, Refused
from app.models.search_words import webhook_word_rows
from app.ports import Ports
from app.ports.import_source import TableRow
from app.ports.keys import DecryptionError
from app.services.imports.apps import AppOwned
from app.services.imports.bulk import insert_rows
from app.services.imports.groups import APP_PERMISSIONS, find_codenames, number
from app.services.imports.sections import Row, Run, State
from app.services.webhooks.stored_webhooks import (
    decrypted_headers,
    encrypted_headers,
    encrypted_secret,
)

SAVED_BY = "import"

_EVENTS = "webhook_webhookevent"
_UNREADABLE = "unreadable"
_COLUMNS = ("app_id", "name", "identifier", "target_url", "is_active", "query", "custom_headers")


class Webhooks(AppOwned):
    """Webhooks of imported apps.

    The source doesn't know when one was created, so it counts as created when it is imported. No
    person saved it last, so nothing but its app's permissions limits what it receives. Secrets are
    compared by a keyed hash, which tells nothing without SECRET_KEY.
    """

    part = Part.WEBHOOKS
    kind = "webhook"
    title = "Webhooks"
    table = WEBHOOKS
    required = ("app_id", "target_url", "is_active")
    optional = (
        "name",
        "secret_key",
        "subscription_query",
        "custom_headers",
        "filterable_channel_slugs",
        "identifier",
    )
    record = models.Webhook

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        events = _event_names(run, [number(row["id"]) for row in rows])
        permissions = self._app_permissions(run, {number(row["app_id"]) for row in rows})
        for row in rows:
            app_id = number(row["app_id"])
            if not self._apps.has(run, app_id):
                yield self._apps.left_out(WEBHOOKS, row)
                continue
            taken = self._identifiers.setdefault(app_id, set())
            around = WebhookSurroundings(
                event_names=events.get(number(row["id"]), ()),
                app_permissions=permissions.get(app_id, frozenset()),
                check_query=lambda query: _query_problem(run.ports, query),
                allowed_networks=run.ports.configuration.outgoing_allowed_networks,
                taken_identifiers=taken,
            )
            converted = convert_webhook(row, around)
            webhook = converted.value
            if webhook is None:
                yield Converted(None, converted.findings)
                continue
            taken.add(webhook.identifier)
            yield Converted(_row(run.ports, webhook), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        """Return webhooks as they are here; that they failed here doesn't count as a change."""
        events: dict[int, list[str]] = {}
        subscribed = select(models.WebhookEvent.webhook_id, models.WebhookEvent.event)
        for key, event in session.execute(
            subscribed.where(models.WebhookEvent.webhook_id.in_(keys))
        ):
            events.setdefault(key, []).append(event)
        stored = session.scalars(select(models.Webhook).where(models.Webhook.id.in_(keys)))
        return {
            webhook.id: {
                **{name: getattr(webhook, name) for name in _COLUMNS},
                "custom_headers": _stored_headers(run.ports, webhook.custom_headers),
                "is_active": webhook.is_active or bool(webhook.disabled_reason),
                "events": sorted(events.get(webhook.id, ())),
                "secret": _stored_fingerprint(run.ports, webhook.secret),
            }
            for webhook in stored
            if self._apps.has(run, webhook.app_id)
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        now = run.ports.clock.now()
        values = [
            {
                "id": row.key,
                "created_at": now,
                "secret": encrypted_secret(run.ports, row.value_of(ImportedWebhook).secret),
                "saved_by_kind": ActorKind.OPERATOR.value,
                "saved_by": SAVED_BY,
                **{name: row.state[name] for name in _COLUMNS},
                "custom_headers": encrypted_headers(
                    run.ports, row.value_of(ImportedWebhook).custom_headers
                ),
            }
            for row in rows
        ]
        insert_rows(session, models.Webhook, values)
        _add_parts(session, rows)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Write webhooks; one that was disabled because it failed stays so at the same URL."""
        keys = [row.key for row in rows]
        stored = {
            webhook.id: webhook
            for webhook in session.scalars(
                select(models.Webhook).where(models.Webhook.id.in_(keys))
            )
        }
        for row in rows:
            _write(run.ports, session, row, stored[row.key])
        for record in (models.WebhookEvent, models.WebhookWord):
            session.execute(delete(record).where(record.webhook_id.in_(keys)))
        _add_parts(session, rows)

    def _app_permissions(
        self, run: Run, app_ids: Collection[int]
    ) -> Mapping[int, frozenset[Permission]]:
        found = find_codenames(run.source, self._codenames, APP_PERMISSIONS, app_ids)
        return {app_id: grantable_permissions(names) for app_id, names in found.items()}


def _row(ports: Ports, webhook: ImportedWebhook) -> Row:
    state: dict[str, object] = {name: getattr(webhook, name) for name in _COLUMNS}
    state["custom_headers"] = dict(webhook.custom_headers)
    state["events"] = sorted(event.value for event in webhook.events)
    state["secret"] = _fingerprint(ports, webhook.secret)
    return Row(webhook.id, state, value=webhook)


def _event_names(run: Run, keys: Collection[int]) -> Mapping[int, Sequence[str]]:
    found: dict[int, list[str]] = {}
    columns = ("webhook_id", "event_type")
    for row in run.source.matching(_EVENTS, columns, "webhook_id", keys):
        found.setdefault(number(row["webhook_id"]), []).append(str(row["event_type"]))
    return found


def _query_problem(ports: Ports, query: str) -> Problem | None:
    try:
        ports.payloads.check(query)
    except Refused as refused:
        return refused.problems[0]
    return None


def _write(ports: Ports, session: Session, row: Row, stored: models.Webhook) -> None:
    values = {name: row.state[name] for name in _COLUMNS}
    if values["target_url"] != stored.target_url:
        values |= {"failing_since": None, "disabled_at": None, "disabled_reason": ""}
    elif stored.disabled_reason:
        del values["is_active"]
    headers = values.pop("custom_headers")
    if headers != _stored_headers(ports, stored.custom_headers):
        values["custom_headers"] = encrypted_headers(
            ports, row.value_of(ImportedWebhook).custom_headers
        )
    if row.state["secret"] != _stored_fingerprint(ports, stored.secret):
        values["secret"] = encrypted_secret(ports, row.value_of(ImportedWebhook).secret)
        values |= {"old_secret": "", "old_secret_until": None}
    change = update(models.Webhook).where(models.Webhook.id == row.key).values(values)
    # By the connection: the session would look through all records that it holds.
    session.connection().execute(change)


def _add_parts(session: Session, rows: Sequence[Row]) -> None:
    events = [
        {"webhook_id": row.key, "event": event} for row in rows for event in row.texts("events")
    ]
    words = [
        word
        for row in rows
        for word in webhook_word_rows(
            row.key, str(row.state["name"]), str(row.state["target_url"])
        )
    ]
    insert_rows(session, models.WebhookEvent, events)
    insert_rows(session, models.WebhookWord, words)


def _fingerprint(ports: Ports, secret: str) -> str:
    return ports.encryption.fingerprint(WEBHOOK_SECRET, secret) if secret else ""


def _stored_headers(ports: Ports, stored: Mapping[str, object]) -> Mapping[str, str]:
    try:
        return decrypted_headers(ports, stored)
    except DecryptionError:
        return dict.fromkeys(stored, _UNREADABLE)


def _stored_fingerprint(ports: Ports, encrypted: str) -> str:
    try:
        secret = ports.encryption.decrypt(WEBHOOK_SECRET, encrypted) if encrypted else ""
    except DecryptionError:
        return _UNREADABLE
    return _fingerprint(ports, secret)
