"""Making deliveries: one signed request each, and a row for every attempt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Row, select, update

from app.domain.actor import Actor
from app.domain.deliveries import LARGEST_ANSWER, TIMEOUT, Batch, read_retry_after
from app.models import AppRecord, DeliveryRecord, WebhookRecord
from app.ports import Ports
from app.ports.http import CallFailed, HttpAnswer, HttpRequest
from app.ports.sealing import SealBroken
from app.services.access import internal
from app.services.dispatch import LEASE, release_batch
from app.services.link_secrets import opened_payload
from app.services.outcomes import Delivery, Outcome, give_up, write_outcomes
from app.services.signing import HIDDEN, Endpoint, endpoint_of, sign_delivery

_PATIENCE = timedelta(seconds=5)
"""How long a batch may take before the rest of it goes back: a slow endpoint waits its turn."""
_SLOW = 1.0
"""Seconds after which what is known so far is written down, rather than with the whole batch."""

_PRIVATE = frozenset(("set-cookie", "authorization", "proxy-authorization", "cookie"))
_SEALED = "The webhook's secret was sealed under another SECRET_KEY: give the webhook a new one."
_UNREADABLE = (
    "The payload was sealed under another SECRET_KEY: the link has to be asked for again."
)


@internal
def make_deliveries(ports: Ports, actor: Actor, batch: Batch) -> int:
    """Make the deliveries of ``batch``, as far as its lease still holds; how many were tried.

    Nothing is sent inside a transaction, and what was tried is written down after it: a crash in
    between repeats with the same ``webhook-id``.
    """
    try:
        deliveries, endpoint = _read(ports, batch)
    except SealBroken:
        give_up(ports, batch.lease, _SEALED)
        return 0
    if endpoint is None:
        give_up(ports, batch.lease, "The webhook or its app is switched off.")
        return 0
    began = ports.clock.now()
    made: list[Outcome] = []
    tried = 0
    for delivery in deliveries:
        if ports.clock.now() - began > _PATIENCE:
            break
        made.append(_attempt(ports, endpoint, delivery))
        tried += 1
        if made[-1].duration > _SLOW:
            write_outcomes(ports, batch.webhook_id, batch.lease, made)
            made = []
    write_outcomes(ports, batch.webhook_id, batch.lease, made)
    if tried < len(deliveries):
        release_batch(ports, actor, batch)
    return tried


def _read(ports: Ports, batch: Batch) -> tuple[Sequence[Delivery], Endpoint | None]:
    """What is to be sent, and where; no endpoint when it wants nothing any more."""
    with ports.database.reading() as session:
        webhook = session.execute(
            select(WebhookRecord)
            .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
            .where(
                WebhookRecord.id == batch.webhook_id,
                WebhookRecord.is_active.is_(True),
                AppRecord.is_active.is_(True),
            )
        ).scalar_one_or_none()
    return _begin(ports, batch), None if webhook is None else endpoint_of(ports, webhook)


def _begin(ports: Ports, batch: Batch) -> Sequence[Delivery]:
    """What the lease still covers; from now on it lasts as long as the batch may take."""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        rows = session.execute(
            update(DeliveryRecord)
            .where(
                DeliveryRecord.id.in_(batch.deliveries),
                DeliveryRecord.lease == batch.lease,
                DeliveryRecord.lease_until > now,
            )
            .values(lease_until=now + LEASE)
            .returning(
                DeliveryRecord.id,
                DeliveryRecord.event,
                DeliveryRecord.message_id,
                DeliveryRecord.payload,
                DeliveryRecord.issuer,
                DeliveryRecord.attempts,
            )
        ).all()
    return sorted(_opened(ports, batch, rows), key=lambda one: one.id)


def _opened(
    ports: Ports, batch: Batch, rows: Sequence[Row[int, str, str, str, str, int]]
) -> Iterator[Delivery]:
    """The deliveries with their payloads; one that cannot be read any more ends by itself."""
    for row in rows:
        made = Delivery(*row)
        try:
            yield replace(made, payload=opened_payload(ports, made.payload))
        except SealBroken:
            give_up(ports, batch.lease, _UNREADABLE, only=made.id)


def _attempt(ports: Ports, endpoint: Endpoint, delivery: Delivery) -> Outcome:
    at = ports.clock.now()
    body = delivery.payload.encode()
    headers = sign_delivery(ports, endpoint, delivery, body, int(at.timestamp()))
    request = HttpRequest(
        endpoint.url, "POST", headers, body, timeout=TIMEOUT, largest=LARGEST_ANSWER
    )
    answer, problem = None, ""
    try:
        answer = ports.http.send(request)
    except CallFailed as failed:
        problem = str(failed)
    return Outcome(
        delivery=delivery,
        at=at,
        duration=(ports.clock.now() - at).total_seconds(),
        request_headers=endpoint.shown(headers),
        answered=None if answer is None else answer.status,
        response_headers={} if answer is None else _shown(answer.headers),
        response=problem if answer is None else _text(answer),
        retry_after=None
        if answer is None
        else read_retry_after(answer.headers.get("retry-after"), ports.clock.now()),
    )


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer as they may be kept: without what an endpoint proves itself by."""
    return {name: HIDDEN if name.lower() in _PRIVATE else value for name, value in headers.items()}


def _text(answer: HttpAnswer) -> str:
    # PostgreSQL keeps no NUL in a text, and an endpoint may answer anything.
    return answer.body.decode("utf-8", "replace").replace("\x00", "\ufffd")
