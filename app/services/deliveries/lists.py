"""Deliveries and their attempts, as those see them who may manage the webhook."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, bindparam, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.domain.authorization.actor import Actor, holds_all_permissions
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import Attempt, DeliveryStatus, EventDelivery
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import Page, PageRequest, empty_page, with_items
from app.domain.webhooks import is_within_limit
from app.models import AppRecord, DeliveryAttemptRecord, DeliveryRecord, WebhookRecord
from app.ports import NamedRow, Ports
from app.services.authorization.register import part, staff_and_apps
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.lists.paging import (
    Order,
    Parents,
    read_rows_by_parent,
    record_from,
    with_conditions,
)
from app.services.outbox.link_secrets import holds_secret, redacted_payload
from app.services.webhooks.app_reach import lacking_for_payload
from app.services.webhooks.link_recipients import sent_links
from app.services.webhooks.stored_webhooks import SAVER_COLUMNS, read_saver

DELIVERY_COLUMNS = (
    DeliveryRecord.id,
    DeliveryRecord.webhook_id,
    DeliveryRecord.event,
    DeliveryRecord.status,
    DeliveryRecord.created_at,
    DeliveryRecord.payload,
    DeliveryRecord.given_up,
)
ATTEMPT_COLUMNS = (
    DeliveryAttemptRecord.id,
    DeliveryAttemptRecord.created_at,
    DeliveryAttemptRecord.duration,
    DeliveryAttemptRecord.status,
    DeliveryAttemptRecord.response_status,
    DeliveryAttemptRecord.request_headers,
    DeliveryAttemptRecord.response_headers,
    DeliveryAttemptRecord.response,
)

_APP = "viewing_app"
_JUDGED = (
    DeliveryRecord.event.label("judged_event"),
    APP_PERMISSIONS.label("app_permissions"),
)
"""By what it is judged whether a person sees a delivery's payload."""

Pages = Mapping[int, Page[Row[*tuple[object, ...]]]]


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """Conditions on deliveries; ``event`` is its name."""

    status: DeliveryStatus | None = None
    event: str = ""


_BY_AGE = {
    oldest_first: Order((DeliveryRecord.id,), descending=not oldest_first)
    for oldest_first in (False, True)
}
_ATTEMPTS_BY_AGE = {
    oldest_first: Order((DeliveryAttemptRecord.id,), descending=not oldest_first)
    for oldest_first in (False, True)
}


@staff_and_apps
def deliveries_of_webhooks(
    ports: Ports,
    actor: Actor,
    webhook_ids: Collection[int],
    page: PageRequest,
    filter_: DeliveryFilter,
    *,
    oldest_first: bool = False,
) -> Mapping[int, Page[EventDelivery]]:
    """Return the page of each webhook's deliveries (`Webhook.eventDeliveries`).

    The newest first, unless ``oldest_first``. None of a webhook that the caller can't see, or by
    a limited app token not change; without payloads those of apps with permissions that a person
    lacks. One statement, another if the deliveries hold links, another for a limited app token.
    """
    query = with_conditions(_visible(actor, *DELIVERY_COLUMNS), _conditions(filter_))
    order = _BY_AGE[oldest_first]
    with ports.database.reading() as session:
        parents = Parents(DeliveryRecord.webhook_id, webhook_ids)
        found = read_rows_by_parent(ports, session, query, parents, order, page, _viewer(actor))
        found = _within_limit(session, actor, WebhookRecord.id, found)
        read = [_delivery(actor, row) for rows in found.values() for row in rows.items]
        shown = {delivery.id: delivery for delivery in _shown(ports, actor, session, read)}
    pages = {
        key: with_items(rows, [shown[row.id] for row in rows.items]) for key, rows in found.items()
    }
    return {key: pages.get(key) or empty_page() for key in webhook_ids}


@staff_and_apps
def attempts_of_deliveries(
    ports: Ports,
    actor: Actor,
    delivery_ids: Collection[int],
    page: PageRequest,
    *,
    oldest_first: bool = False,
) -> Mapping[int, Page[Attempt]]:
    """Return the page of attempts at each delivery (`EventDelivery.attempts`).

    The newest first, unless ``oldest_first``. None at a delivery that the caller can't see;
    without headers and response where they can't see the payload. One statement, and another for
    a limited app token.
    """
    query = _with_attempts(_visible(actor, *ATTEMPT_COLUMNS))
    order = _ATTEMPTS_BY_AGE[oldest_first]
    with ports.database.reading() as session:
        parents = Parents(DeliveryAttemptRecord.delivery_id, delivery_ids)
        found = read_rows_by_parent(ports, session, query, parents, order, page, _viewer(actor))
        found = _within_limit(session, actor, DeliveryRecord.id, found)
    pages = {
        key: with_items(
            rows, [to_attempt(row).withheld(_lacking(actor, row)) for row in rows.items]
        )
        for key, rows in found.items()
    }
    return {key: pages.get(key) or empty_page() for key in delivery_ids}


@staff_and_apps
def show_delivery(ports: Ports, actor: Actor, delivery_id: int) -> EventDelivery | None:
    """The delivery of that key: an app's own, or for staff with MANAGE_APPS any.

    By a limited app token only one of a webhook that it can change.
    """
    query = _visible(actor, *DELIVERY_COLUMNS, *SAVER_COLUMNS)
    query = query.where(DeliveryRecord.id == delivery_id)
    with ports.database.reading() as session:
        row = session.execute(query, _viewer(actor)).one_or_none()
        if row is None or not is_within_limit(actor, read_saver(row)):
            return None
        (delivery,) = _shown(ports, actor, session, [_delivery(actor, row)])
        return delivery


def _visible(actor: Actor, *columns: InstrumentedAttribute[Any]) -> Select[*tuple[object, ...]]:
    """Return the query of the deliveries of an app's own webhooks, or with MANAGE_APPS of all."""
    viewer = actor.viewer
    if not (viewer.is_app or viewer.holds(Permission.MANAGE_APPS)):
        raise PermissionDenied(Permission.MANAGE_APPS)
    if _is_judged(actor):
        return _judged_query(*columns)
    return _query(*columns, of_app=viewer.is_app)


def _viewer(actor: Actor) -> Mapping[str, object]:
    """Return the value that the query of ``_visible`` takes."""
    return {_APP: actor.viewer.app_id} if actor.viewer.is_app else {}


# The same query whenever it's asked for, so that its statements are cached.
@cache
def _query(*columns: InstrumentedAttribute[Any], of_app: bool) -> Select[*tuple[object, ...]]:
    query = (
        select(*columns)
        .select_from(DeliveryRecord)
        .join(WebhookRecord, WebhookRecord.id == DeliveryRecord.webhook_id)
    )
    return query.where(WebhookRecord.app_id == bindparam(_APP)) if of_app else query


@cache
def _judged_query(*columns: InstrumentedAttribute[Any]) -> Select[*tuple[object, ...]]:
    query = _query(*columns, of_app=False).add_columns(*_JUDGED)
    return query.join(AppRecord, AppRecord.id == WebhookRecord.app_id)


@cache
def _with_attempts(query: Select[*tuple[object, ...]]) -> Select[*tuple[object, ...]]:
    return query.join(
        DeliveryAttemptRecord, DeliveryAttemptRecord.delivery_id == DeliveryRecord.id
    )


def _conditions(filter_: DeliveryFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.status is not None:
        yield DeliveryRecord.status == filter_.status.value
    if filter_.event:
        yield DeliveryRecord.event == filter_.event


def _within_limit(
    session: Session, actor: Actor, column: InstrumentedAttribute[int], found: Pages
) -> Pages:
    """Return the pages of webhooks or deliveries whose webhook a limited app token can change.

    All of them for other callers. ``column`` is the key of a webhook or delivery. Checked after
    the pages were read: a webhook that someone with more rights has saved meanwhile is left out.
    """
    if actor.token_limit is None:
        return found
    query = select(column.label("key"), *SAVER_COLUMNS).where(column.in_(found))
    if column is DeliveryRecord.id:
        query = query.join(WebhookRecord, WebhookRecord.id == DeliveryRecord.webhook_id)
    rows = session.execute(query).all()
    return {row.key: found[row.key] for row in rows if is_within_limit(actor, read_saver(row))}


def _shown(
    ports: Ports, actor: Actor, session: Session, deliveries: Sequence[EventDelivery]
) -> list[EventDelivery]:
    """As ``actor`` may see them: the secret of a link is for the app alone that may be sent it."""
    encrypted = [delivery.id for delivery in deliveries if holds_secret(delivery.event)]
    if not encrypted:
        return list(deliveries)
    secrets = {
        key: link.secret or ""
        for key, link in sent_links(ports, session, encrypted).items()
        if not (actor.viewer.is_app and link.is_allowed)
    }
    return [
        replace(
            delivery, payload=redacted_payload(ports, delivery.payload, secrets.get(delivery.id))
        )
        for delivery in deliveries
    ]


def _is_judged(actor: Actor) -> bool:
    """Whether ``actor`` is a person who lacks some permission, and so doesn't see all payloads."""
    return not (actor.viewer.is_app or holds_all_permissions(actor.viewer))


def _lacking(actor: Actor, row: NamedRow) -> tuple[Permission, ...]:
    """Return the permissions that ``actor`` lacks to see the payload of a delivery's row."""
    if not _is_judged(actor):
        return ()
    return lacking_for_payload(actor, read_permissions(row.app_permissions), row.judged_event)


def _delivery(actor: Actor, row: NamedRow) -> EventDelivery:
    delivery, lacking = to_delivery(row), _lacking(actor, row)
    return replace(delivery, payload="", lacking=lacking) if lacking else delivery


@part
def to_delivery(row: NamedRow) -> EventDelivery:
    """The delivery in a row that has ``DELIVERY_COLUMNS``."""
    return record_from(EventDelivery, row, status=DeliveryStatus(row.status), lacking=())


@part
def to_attempt(row: NamedRow) -> Attempt:
    """The attempt in a row that has ``ATTEMPT_COLUMNS``."""
    return record_from(Attempt, row, status=DeliveryStatus(row.status), lacking=())
