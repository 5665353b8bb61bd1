"""Send deliveries that are due: one signed request each, and a row for every attempt."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from urllib.parse import urlsplit

from sqlalchemy import bindparam, select, update

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import (
    GONE,
    MAX_HEADERS_SIZE,
    MAX_RESPONSE_SIZE,
    NOT_STORED,
    TIMEOUT,
    Batch,
    read_retry_after,
)
from app.domain.deliveries.redaction import REDACTED, Redactor, redactor
from app.domain.deliveries.signatures import Envelope, headers_of, hex_signature
from app.domain.keys import WEBHOOK_SECRET
from app.domain.values.installation import SCHEMA_VERSION
from app.domain.webhooks import is_temporary, required_permission
from app.models.record import UtcDateTime
from app.ports import NamedRow, Ports
from app.ports.http import CallFailed, HttpRequest, HttpResponse
from app.ports.keys import DecryptionError, KeyPair
from app.ports.monitoring import SpanKind
from app.services.authorization.register import building_block, internal
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.deliveries.attempt_results import (
    AttemptResult,
    Delivery,
    fail_each,
    save_results,
)
from app.services.deliveries.dispatch import LEASE, release_batch
from app.services.keys import ring
from app.services.lists.paging import columns_for, record_from
from app.services.outbox.publisher import TRACEPARENT, decrypted_payload, holds_secret
from app.services.webhooks.payloads import problem_of
from app.services.webhooks.stored_webhooks import SAVER_COLUMNS, decrypted_headers, read_saver
from app.services.webhooks.subscribers import SentLink, sent_links

ENDPOINT_COLUMNS = (
    models.Webhook.target_url,
    models.Webhook.secret,
    models.Webhook.old_secret,
    models.Webhook.old_secret_until,
    models.Webhook.custom_headers,
)
"""What ``endpoint_of`` expects in a row."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The target of a batch, as it was when the batch began.

    ``signer`` is the shop's key, ``None`` for a webhook with a secret.
    """

    url: str
    secrets: tuple[str, ...] = field(repr=False)
    custom_headers: Mapping[str, str] = field(repr=False)
    signer: KeyPair | None = field(default=None, repr=False)

    def shown(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of a request to store: custom ones are redacted."""
        return {
            name: REDACTED if name in self.custom_headers else value
            for name, value in headers.items()
        }

    @property
    def redactor(self) -> Redactor:
        """Return the redactor of this endpoint's secrets, for its responses."""
        return redactor((*self.secrets, *self.custom_headers.values()))


@building_block
def endpoint_of(ports: Ports, webhook: models.Webhook | NamedRow) -> Endpoint:
    """Return the endpoint of a webhook, from its record or a row that has ``ENDPOINT_COLUMNS``.

    While a secret is replaced both are used, the new one first.
    """
    encrypted = [webhook.secret]
    until = webhook.old_secret_until
    if until is not None and until > ports.clock.now():
        encrypted.append(webhook.old_secret)
    secrets = tuple(
        ports.encryption.decrypt(WEBHOOK_SECRET, secret) for secret in encrypted if secret
    )
    return Endpoint(
        url=webhook.target_url,
        secrets=secrets,
        custom_headers=decrypted_headers(ports, webhook.custom_headers),
        signer=None if secrets else ring(ports).signer,
    )


@building_block
def sign_delivery(
    ports: Ports, endpoint: Endpoint, delivery: Delivery, body: bytes, timestamp: int
) -> dict[str, str]:
    """Return the headers of one attempt at ``timestamp`` (Unix seconds); contract, "Webhooks"."""
    envelope = Envelope(
        names=ports.configuration.header_names,
        event=delivery.event,
        api_url=delivery.issuer,
        domain=urlsplit(delivery.issuer).netloc,
        schema_version=SCHEMA_VERSION,
        message_id=delivery.message_id,
        is_sample=delivery.is_sample,
        signature=hex_signature(endpoint.secrets[0], body)
        if endpoint.signer is None
        else _detached(ports, endpoint.signer, body),
    )
    return headers_of(
        envelope,
        body,
        timestamp=timestamp,
        secrets=endpoint.secrets,
        custom=endpoint.custom_headers,
    )


def _detached(ports: Ports, signer: KeyPair, body: bytes) -> str:
    """The JWS of a body: made once per key, however many webhooks and attempts it goes to."""
    name = (signer.public.kid, hashlib.sha256(body).digest())
    signature = ports.cache.signatures.get(name)
    if signature is None:
        signature = ports.keys.sign_detached(signer, body)
        ports.cache.signatures.put(name, signature)
    return signature


_PRIVATE = frozenset(("set-cookie", "authorization", "proxy-authorization", "cookie"))
_KEPT = HttpResponse(202, body=b"Not sent: temporary endpoint, read through the API.")
"""What a temporary endpoint answers: its deliveries wait until they are read."""


@building_block
def send_attempt(ports: Ports, endpoint: Endpoint, delivery: Delivery) -> AttemptResult:
    """Send ``delivery`` once, in a span of its event's trace, which goes on to the endpoint."""
    name = f"webhook {delivery.event}"
    with ports.traces.span(name, SpanKind.CLIENT, traceparent=delivery.traceparent) as span:
        result = _send_attempt(ports, endpoint, delivery)
        span.add({"http.response.status_code": result.answered or 0})
    return result


def _send_attempt(ports: Ports, endpoint: Endpoint, delivery: Delivery) -> AttemptResult:
    """Send ``delivery`` once; any error on the way is the result of the attempt.

    So no response, and no error in reading one, leads to the same attempt again and again.
    """
    at = ports.clock.now()
    body = delivery.payload.encode()
    headers: dict[str, str] = {}
    response, problem, fault = None, "", None
    try:
        headers = _headers(ports, endpoint, delivery, body, int(at.timestamp()))
        response = _sent(ports, endpoint, headers, body)
    except CallFailed as failed:
        problem = str(failed)
    except Exception as error:  # noqa: BLE001 - raised by the caller once all is written down
        what = f"the delivery {delivery.id} of {delivery.event}"
        problem, fault = problem_of(ports, error, what, "the delivery from being made"), error
    kept_headers, kept_body = _redacted(endpoint, delivery, response)
    return AttemptResult(
        delivery=delivery,
        at=at,
        # A clock that is put back meanwhile makes no time negative.
        duration=max(0.0, (ports.clock.now() - at).total_seconds()),
        request_headers=endpoint.shown(headers),
        answered=None if response is None else response.status,
        response_headers=kept_headers,
        response=problem if response is None else kept_body,
        retry_after=_retry_after(ports, response),
        fault=fault,
    )


def _headers(
    ports: Ports, endpoint: Endpoint, delivery: Delivery, body: bytes, timestamp: int
) -> dict[str, str]:
    headers = sign_delivery(ports, endpoint, delivery, body, timestamp)
    traceparent = ports.traces.traceparent()
    if traceparent:
        headers.setdefault("traceparent", traceparent)
    return headers


def _sent(
    ports: Ports, endpoint: Endpoint, headers: Mapping[str, str], body: bytes
) -> HttpResponse:
    if is_temporary(endpoint.url):
        return _KEPT
    request = HttpRequest(
        endpoint.url,
        "POST",
        headers,
        body,
        timeout=TIMEOUT,
        max_size=MAX_RESPONSE_SIZE,
        status_suffices=True,
    )
    return ports.http.send(request)


def _retry_after(ports: Ports, response: HttpResponse | None) -> float | None:
    header = None if response is None else response.headers.get("retry-after")
    return read_retry_after(header, ports.clock.now())


def _redacted(
    endpoint: Endpoint, delivery: Delivery, response: HttpResponse | None
) -> tuple[dict[str, str], str]:
    """Return a response's headers and body as stored, without the request's secrets.

    An endpoint may echo what it got in any form. For events with a link nothing is stored: the
    link gives access to an account.
    """
    if response is None:
        return {}, ""
    if holds_secret(delivery.event):
        return {}, NOT_STORED
    redact = endpoint.redactor
    body = response.body.decode("utf-8", "replace")
    is_cut = len(response.body) >= MAX_RESPONSE_SIZE
    return _kept_headers(response.headers, redact), _storable(redact(body, is_cut=is_cut))


def _kept_headers(headers: Mapping[str, str], redact: Redactor) -> dict[str, str]:
    """Return the headers of a response to store: without the endpoint's own credentials.

    What is beyond ``MAX_HEADERS_SIZE`` is left out.
    """
    shown = {}
    room = MAX_HEADERS_SIZE
    for name, value in headers.items():
        room -= len(name) + len(value)
        if room < 0:
            break
        text = REDACTED if name.lower() in _PRIVATE else _storable(redact(value))
        shown[_storable(redact(name))] = text
    return shown


def _storable(text: str) -> str:
    # PostgreSQL keeps no NUL in a text, and an endpoint may answer anything.
    return text.replace("\x00", "\ufffd")


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
_COLUMNS = (*columns_for(Delivery, models.Delivery), models.Delivery.note_id)
"""The fields of ``Delivery``; one without an outbox entry is a sample."""

_OF_BATCH = (
    models.Delivery.id.in_(bindparam("deliveries", expanding=True)),
    models.Delivery.lease == bindparam("held"),
    models.Delivery.lease_until > bindparam("now", type_=UtcDateTime),
)
_LEASED = (
    select(
        *_COLUMNS,
        models.Delivery.lease_until,
        models.Webhook.is_active.label("is_enabled"),
        models.Webhook.paused_at,
        models.App.is_active.label("app_is_active"),
        APP_PERMISSIONS.label("app_permissions"),
        *ENDPOINT_COLUMNS,
        *SAVER_COLUMNS,
    )
    .join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
    .join(models.App, models.App.id == models.Webhook.app_id)
    .where(*_OF_BATCH)
    .order_by(models.Delivery.id)
)
_EXTEND = (
    update(models.Delivery)
    .where(*_OF_BATCH)
    .values(lease_until=bindparam("ends"))
    .returning(models.Delivery.id)
)


@dataclass(slots=True)
class _Prepared:
    """What of a batch can be sent, to which endpoint; ``reasons`` why the rest can't, by key."""

    endpoint: Endpoint | None
    deliveries: Sequence[Delivery]
    reasons: dict[int, str]


@internal
def send_deliveries(ports: Ports, actor: Actor, batch: Batch) -> int:
    """Send the deliveries of ``batch`` while its lease lasts; return how many were tried.

    Requests are sent outside transactions and results written afterwards: a crash in between
    repeats with the same ``webhook-id``. Those of a webhook that was paused go back and wait. An
    internal fault counts as a failed attempt, and is raised at the end, for the log.
    """
    if ports.cache.hold is not None:
        release_batch(ports, actor, batch)
        return 0
    rows = _leased_rows(ports, batch)
    if not rows:
        return 0
    if rows[0].paused_at is not None:
        release_batch(ports, actor, batch)
        return 0
    prepared = _prepare(ports, batch, rows)
    fail_each(ports, batch.lease, prepared.reasons)
    if prepared.endpoint is None:
        return 0
    results = _send(ports, batch, prepared.endpoint, prepared.deliveries)
    if len(results) < len(prepared.deliveries):
        release_batch(ports, actor, batch)
    faults = [result.fault for result in results if result.fault is not None]
    if faults:
        raise ExceptionGroup("deliveries could not be made", faults)
    return len(results)


def _prepare(ports: Ports, batch: Batch, rows: Sequence[NamedRow]) -> _Prepared:
    """Find out which deliveries can be sent: all that are readable and still permitted."""
    first = rows[0]
    if not (first.is_enabled and first.app_is_active):
        reason = "The app is inactive." if first.is_enabled else "The webhook is disabled."
        return _Prepared(None, (), dict.fromkeys(batch.deliveries, reason))
    try:
        endpoint = endpoint_of(ports, first)
    except DecryptionError:
        return _Prepared(None, (), dict.fromkeys(batch.deliveries, _UNREADABLE_KEY))
    prepared = _Prepared(endpoint, _deliveries(ports, rows), {})
    prepared.deliveries = _with_decrypted_payloads(ports, prepared)
    permissions = read_saver(first).payload_permissions(read_permissions(first.app_permissions))
    prepared.deliveries = _permitted(prepared, permissions)
    return prepared


def _send(
    ports: Ports, batch: Batch, endpoint: Endpoint, deliveries: Sequence[Delivery]
) -> Sequence[AttemptResult]:
    """Send until time is up or the endpoint answers 410; store every result."""
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


def _permitted(prepared: _Prepared, permissions: frozenset[Permission]) -> Sequence[Delivery]:
    """Return the deliveries whose event the app is still permitted; give reasons for others."""
    permitted = []
    for delivery in prepared.deliveries:
        permission = required_permission(delivery.event)
        # An event of a later version has none here: its fan-out has looked.
        if permission is None or permission in permissions:
            permitted.append(delivery)
        else:
            prepared.reasons[delivery.id] = f"The app no longer has {permission}."
    return permitted


def _deliveries(ports: Ports, rows: Sequence[NamedRow]) -> Sequence[Delivery]:
    """Return the deliveries, with the traces of their events, which may be deleted by now."""
    traces: dict[int, str] = {}
    if ports.traces.is_on:
        query = select(models.OutboxEvent.id, models.OutboxEvent.data)
        notes = {row.note_id for row in rows if row.note_id is not None}
        with ports.database.reading() as session:
            found = session.execute(query.where(models.OutboxEvent.id.in_(notes))).all()
        traces = {note.id: str(note.data.get(TRACEPARENT, "")) for note in found}
    return [_delivery(row, traces.get(row.note_id, "")) for row in rows]


def _delivery(row: NamedRow, traceparent: str) -> Delivery:
    return record_from(Delivery, row, is_sample=row.note_id is None, traceparent=traceparent)


def _with_decrypted_payloads(ports: Ports, prepared: _Prepared) -> Sequence[Delivery]:
    """Return the deliveries with their payloads; give reasons for those that can't be sent.

    That is a payload under another SECRET_KEY, or one with the secret of a link that the webhook
    can't have by now.
    """
    links: Mapping[int, SentLink] = {}
    with_link = [delivery.id for delivery in prepared.deliveries if holds_secret(delivery.event)]
    if with_link:
        with ports.database.reading() as session:
            links = sent_links(ports, session, with_link)
    opened = []
    for delivery in prepared.deliveries:
        try:
            payload = decrypted_payload(ports, delivery.payload)
        except DecryptionError:
            prepared.reasons[delivery.id] = _UNREADABLE
            continue
        link = links.get(delivery.id)
        if link is None or link.may_send(payload):
            opened.append(replace(delivery, payload=payload))
        else:
            prepared.reasons[delivery.id] = _LINK_NOT_ALLOWED
    return opened
