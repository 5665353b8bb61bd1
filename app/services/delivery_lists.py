"""Deliveries and their attempts, as those see them who may manage the webhook."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select

from app.domain.actor import Actor
from app.domain.deliveries import Attempt, DeliveryStatus, EventDelivery
from app.domain.pages import Page, PageRequest, empty_page
from app.models import DeliveryAttemptRecord, DeliveryRecord, WebhookRecord
from app.ports import Ports
from app.services.access import part, staff_and_apps
from app.services.paging import Order, read_page
from app.services.webhooks import show_webhook

DELIVERY_COLUMNS = (
    DeliveryRecord.id,
    DeliveryRecord.webhook_id,
    DeliveryRecord.event,
    DeliveryRecord.status,
    DeliveryRecord.created_at,
    DeliveryRecord.payload,
    DeliveryRecord.given_up,
)
_ATTEMPT_COLUMNS = (
    DeliveryAttemptRecord.id,
    DeliveryAttemptRecord.created_at,
    DeliveryAttemptRecord.duration,
    DeliveryAttemptRecord.status,
    DeliveryAttemptRecord.response_status,
    DeliveryAttemptRecord.request_headers,
    DeliveryAttemptRecord.response_headers,
    DeliveryAttemptRecord.response,
)


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """Which deliveries are wanted; ``event`` by its name."""

    status: DeliveryStatus | None = None
    event: str = ""


@staff_and_apps
def list_deliveries(
    ports: Ports, actor: Actor, webhook_id: int, page: PageRequest, wanted: DeliveryFilter
) -> Page[EventDelivery]:
    """The deliveries of a webhook (`Webhook.eventDeliveries`), the newest first.

    None of a webhook that the caller may not see.
    """
    if show_webhook(ports, actor, webhook_id) is None:
        return empty_page()
    query = select(*DELIVERY_COLUMNS).where(DeliveryRecord.webhook_id == webhook_id)
    if wanted.status is not None:
        query = query.where(DeliveryRecord.status == wanted.status.value)
    if wanted.event:
        query = query.where(DeliveryRecord.event == wanted.event)
    order = Order((DeliveryRecord.id,), descending=True)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, to_delivery)


@staff_and_apps
def list_attempts(
    ports: Ports, actor: Actor, delivery_id: int, page: PageRequest
) -> Page[Attempt]:
    """The attempts at a delivery (`EventDelivery.attempts`), the newest first."""
    if show_delivery(ports, actor, delivery_id) is None:
        return empty_page()
    query = select(*_ATTEMPT_COLUMNS).where(DeliveryAttemptRecord.delivery_id == delivery_id)
    order = Order((DeliveryAttemptRecord.id,), descending=True)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, _to_attempt)


@staff_and_apps
def show_delivery(ports: Ports, actor: Actor, delivery_id: int) -> EventDelivery | None:
    """The delivery of that key: an app's own, or for staff with MANAGE_APPS any."""
    wanted = select(*DELIVERY_COLUMNS).where(DeliveryRecord.id == delivery_id)
    with ports.database.reading() as session:
        row = session.execute(
            wanted.join(WebhookRecord, WebhookRecord.id == DeliveryRecord.webhook_id)
        ).one_or_none()
    if row is None:
        # Whoever may see none is told so, and not whether there is one.
        show_webhook(ports, actor, 0)
        return None
    delivery = to_delivery(row)
    return None if show_webhook(ports, actor, delivery.webhook_id) is None else delivery


@part
def to_delivery(row: Row[*tuple[object, ...]]) -> EventDelivery:
    """The delivery in a row that begins with ``DELIVERY_COLUMNS``."""
    values: tuple[Any, ...] = tuple(row[:7])
    key, webhook, event, status, created_at, payload, given_up = values
    return EventDelivery(
        key, webhook, event, DeliveryStatus(status), created_at, payload, given_up
    )


def _to_attempt(row: Row[*tuple[object, ...]]) -> Attempt:
    values: tuple[Any, ...] = tuple(row[:8])
    key, created_at, duration, status, answered, asked, headers, response = values
    return Attempt(
        key, created_at, duration, DeliveryStatus(status), answered, asked, headers, response
    )
