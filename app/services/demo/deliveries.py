"""The demo webhooks' deliveries: most at once, some after retries, one failed.

Payloads and signatures are real; only the endpoints' responses are made up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from email.utils import format_datetime
from itertools import accumulate
from urllib.parse import urlsplit

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app import models
from app.domain.deliveries.deliveries import (
    DISABLE_AFTER,
    SCHEDULE,
    TIMEOUT,
    DeliveryStatus,
    failure_cause,
)
from app.services.authorization.register import building_block
from app.services.deliveries.attempt_results import FAILING_REASON, Delivery
from app.services.deliveries.fanout import NewDelivery, delivery_values, make_missing_deliveries
from app.services.deliveries.sending import Endpoint, endpoint_of, sign_delivery
from app.services.demo.apps import NAME as PARCELS
from app.services.demo.apps import WEBHOOK as PARCELS_WEBHOOK
from app.services.demo.apps import demo_webhooks
from app.services.demo.timeline import DAY, Past
from app.services.identity.stored_apps import stored_app
from app.services.webhooks.subscribers import Subscriber

_OK = (200, '{"ok":true}')
_BUSY = (503, "Service Unavailable")
_BROKEN = (502, "<html><title>502 Bad Gateway</title></html>")
_ENDED = (402, '{"error":"Your plan has ended. Renew it to go on receiving contacts."}')
_EVERY_BUSY, _EVERY_LATE = 19, 41
_FIRST = timedelta(seconds=0.3)


@dataclass(frozen=True, slots=True)
class Answer:
    """An attempt ``at`` some time, its duration (seconds) and response.

    Without ``status`` there was none, and ``body`` says why.
    """

    at: datetime
    duration: float
    status: int | None
    body: str = field(repr=False)


@building_block
def answers(host: str, issued_at: datetime, place: int, now: datetime) -> tuple[Answer, ...]:
    """Those of an endpoint that works: once in a while it is busy, or does not answer in time.

    ``place`` counts the deliveries.
    """
    began = issued_at + _FIRST
    quick = 0.04 + place * 37 % 160 / 1000
    if place % _EVERY_LATE == _EVERY_LATE // 2:
        timed_out = Answer(
            began, TIMEOUT, None, f"{host} didn't respond within {TIMEOUT:g} seconds."
        )
        retried_at = began + timedelta(seconds=TIMEOUT + 5.2)
        well = retried_at + timedelta(seconds=SCHEDULE[2] * 1.06)
        if well < now:
            return (timed_out, Answer(retried_at, quick, *_BROKEN), Answer(well, quick, *_OK))
    if place % _EVERY_BUSY == _EVERY_BUSY // 2:
        return (Answer(began, quick, *_BUSY), Answer(began + timedelta(seconds=5.3), quick, *_OK))
    return (Answer(began, quick, *_OK),)


@building_block
def refusals(issued_at: datetime, failing_since: datetime) -> Iterator[Answer]:
    """Those of an endpoint that only failed from a time on, until it was switched off for it."""
    disabled_at = failing_since + DISABLE_AFTER
    for waited in accumulate(SCHEDULE):
        at = issued_at + _FIRST + timedelta(seconds=waited * 1.03)
        if at < disabled_at:
            yield Answer(at, 0.09, *_ENDED)


_TOLD = 3 * DAY
_FAILING_RESPONSE = 9 * DAY
_GIVEN_UP = "The webhook is disabled."


@dataclass(frozen=True, slots=True)
class _Listener:
    """A webhook, as it heard of the past ``since`` a time."""

    subscriber: Subscriber
    endpoint: Endpoint
    events: frozenset[str]
    since: datetime
    failing_since: datetime | None


@dataclass(frozen=True, slots=True)
class PastDelivery:
    """A delivery that is over, with its attempts."""

    delivery: models.Delivery
    attempts: tuple[models.DeliveryAttempt, ...]


@building_block
def past_deliveries(past: Past) -> tuple[PastDelivery, ...]:
    """Return every delivery that the webhooks have had, the oldest first; nothing is written."""
    listeners = _listeners(past)
    sent_notes = [
        (note, listener)
        for note in _notes(past)
        for listener in listeners
        if note.type in listener.events and note.issued_at >= listener.since
    ]
    return tuple(
        _past_delivery(past, listener, new, note.issued_at, place)
        for place, (note, listener) in enumerate(sent_notes)
        for new in make_missing_deliveries(past.ports, [note], listener.subscriber)
    )


@building_block
def write_deliveries(past: Past, session: Session, deliveries: Sequence[PastDelivery]) -> None:
    """Store the deliveries and enable the webhooks."""
    session.add_all(delivery.delivery for delivery in deliveries)
    session.flush()
    for delivery in deliveries:
        for attempt in delivery.attempts:
            attempt.delivery_id = delivery.delivery.id
        session.add_all(delivery.attempts)
    for app, name, failing_since in _names():
        for webhook in session.scalars(_stored(app, name)):
            webhook.is_active = failing_since is None
            if failing_since is not None:
                webhook.failing_since = past.moment(failing_since)
                webhook.disabled_reason = FAILING_REASON
            _remember_failure(webhook, deliveries)


def _remember_failure(webhook: models.Webhook, deliveries: Sequence[PastDelivery]) -> None:
    """Record the last failed attempt of the webhook, if any."""
    failed = [
        attempt
        for past in deliveries
        if past.delivery.webhook_id == webhook.id
        for attempt in past.attempts
        if attempt.status == DeliveryStatus.FAILED.value
    ]
    if failed:
        last = max(failed, key=lambda attempt: attempt.created_at)
        webhook.last_failure_at = last.created_at
        webhook.last_failure = failure_cause(last.response_status, last.response)


def _names() -> Iterator[tuple[str, str, float | None]]:
    """App and webhook, and since when its endpoint has only failed, in hours ago."""
    for app, webhook in demo_webhooks():
        yield app, webhook.name, webhook.failing_since
    yield PARCELS, PARCELS_WEBHOOK, None


def _stored(app: str, name: str) -> Select[models.Webhook]:
    """Return the webhook of that name, unless it was already enabled."""
    return (
        select(models.Webhook)
        .join(models.App, models.App.id == models.Webhook.app_id)
        .where(
            models.App.name == app,
            models.Webhook.name == name,
            models.Webhook.is_active.is_(False),
        )
        .order_by(models.Webhook.id)
        .limit(1)
    )


def _listeners(past: Past) -> list[_Listener]:
    found = []
    with past.ports.database.reading() as session:
        for app, name, failing_since in _names():
            for webhook in session.scalars(_stored(app, name)).all():
                events = select(models.WebhookEvent.event).where(
                    models.WebhookEvent.webhook_id == webhook.id
                )
                permissions = stored_app(session, webhook.app_id, "app").permissions
                began = past.moment(_TOLD if failing_since is None else _FAILING_RESPONSE)
                found.append(
                    _Listener(
                        Subscriber(webhook.id, webhook.query, webhook.app_id, app, permissions),
                        endpoint_of(past.ports, webhook),
                        frozenset(session.scalars(events)),
                        max(began, webhook.created_at),
                        None if failing_since is None else past.moment(failing_since),
                    )
                )
    return found


def _notes(past: Past) -> Sequence[models.OutboxEvent]:
    """Return the demo's own events; others in the shop concern real people."""
    query = select(models.OutboxEvent).where(
        models.OutboxEvent.issued_at >= past.moment(_FAILING_RESPONSE),
        models.OutboxEvent.closed_at < models.OutboxEvent.issued_at,
    )
    with past.ports.database.reading() as session:
        notes = session.scalars(
            query.order_by(models.OutboxEvent.issued_at, models.OutboxEvent.id)
        ).all()
        session.expunge_all()
    return notes


def _past_delivery(
    past: Past, listener: _Listener, new: NewDelivery, issued_at: datetime, place: int
) -> PastDelivery:
    failing_since = listener.failing_since
    has_failed = failing_since is not None and issued_at >= failing_since
    if failing_since is not None and has_failed:
        tries = tuple(refusals(issued_at, failing_since))
    else:
        host = urlsplit(listener.endpoint.url).hostname or ""
        tries = answers(host, issued_at, place, past.now)
    new = replace(
        new,
        issuer=new.issuer or past.api_url,
        status=DeliveryStatus.FAILED if has_failed else DeliveryStatus.SUCCESS,
        given_up=_GIVEN_UP if has_failed else "",
    )
    delivery = models.Delivery(
        **delivery_values(past.ports, new, issued_at),
        attempts=len(tries),
        response_status=tries[-1].status if tries else None,
    )
    return PastDelivery(
        delivery, tuple(_attempt(past, listener.endpoint, delivery, answer) for answer in tries)
    )


def _attempt(
    past: Past, endpoint: Endpoint, delivery: models.Delivery, response: Answer
) -> models.DeliveryAttempt:
    sent = Delivery(
        0,
        delivery.event,
        delivery.message_id,
        delivery.payload,
        delivery.issuer,
        0,
        is_sample=False,
    )
    body = delivery.payload.encode()
    headers = sign_delivery(past.ports, endpoint, sent, body, int(response.at.timestamp()))
    is_good = response.status == 200  # noqa: PLR2004
    return models.DeliveryAttempt(
        created_at=response.at,
        duration=response.duration,
        status=(DeliveryStatus.SUCCESS if is_good else DeliveryStatus.FAILED).value,
        request_headers=endpoint.shown(headers),
        response_status=response.status,
        response_headers=_headers(response),
        response=response.body,
    )


def _headers(response: Answer) -> Mapping[str, object]:
    if response.status is None:
        return {}
    kind = "application/json" if response.body.startswith("{") else "text/html"
    return {
        "content-type": kind,
        "content-length": str(len(response.body)),
        "date": format_datetime(response.at, usegmt=True),
    }
