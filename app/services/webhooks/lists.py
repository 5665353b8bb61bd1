"""List and show webhooks: an app its own, people those of apps they manage; no secret in it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, func, or_, select, true
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus, status_of
from app.domain.events import EVENTS, EventType
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import MAX_COUNTED, Page, PageRequest, empty_page, with_items
from app.domain.webhooks import Webhook, lacking_of_app
from app.ports import NamedRow, Ports
from app.services.authorization.register import requires, requires_person, staff_and_apps
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.lists.filters import contains_text, is_searchable
from app.services.lists.paging import Order, columns_for, read_page, read_rows, record_from
from app.services.webhooks.app_reach import seen_webhook, within_reach
from app.services.webhooks.stored_webhooks import (
    EVENTS_OF_WEBHOOK,
    WEBHOOKS,
    read_events,
    to_webhook,
)

_ALL = WEBHOOKS.join(models.App, models.App.id == models.Webhook.app_id).add_columns(
    APP_PERMISSIONS.label("app_permissions")
)
_ANY = _ALL.where(models.Webhook.id == bindparam("webhook_id"))
_OWN = _ANY.where(models.Webhook.app_id == bindparam("viewing_app"))


@staff_and_apps
def webhooks_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, tuple[Webhook, ...]]:
    """Return the webhooks of each of several apps, the oldest first, their secrets included.

    For an app its own, without any permission; for staff those of all apps with MANAGE_APPS, but
    without secrets those of apps with permissions that they lack.
    """
    _require_reach(actor.viewer, app_ids)
    query = _ALL.where(models.Webhook.app_id.in_(app_ids)).order_by(models.Webhook.id)
    with ports.database.reading() as session:
        rows = session.execute(query).all()
    webhooks = [_visible_webhook(ports, actor, row) for row in rows]
    return {
        app_id: tuple(webhook for webhook in webhooks if webhook.app_id == app_id)
        for app_id in app_ids
    }


@requires(Permission.MANAGE_APPS)
def list_webhook_events(_ports: Ports, _actor: Actor) -> tuple[EventType, ...]:
    """Return the events that webhooks can subscribe to (`webhookEvents`)."""
    return tuple(EVENTS)


@staff_and_apps
def show_webhook(ports: Ports, actor: Actor, webhook_id: int) -> Webhook | None:
    """Return the webhook of that key (`webhook`), its secret included as in ``webhooks_of_apps``.

    An app sees its own alone; staff need MANAGE_APPS.
    """
    viewer = actor.viewer
    if not viewer.is_app and not viewer.holds(Permission.MANAGE_APPS):
        raise PermissionDenied(Permission.MANAGE_APPS)
    values = {"webhook_id": webhook_id, "viewing_app": viewer.app_id}
    with ports.database.reading() as session:
        row = session.execute(_OWN if viewer.is_app else _ANY, values).one_or_none()
    return None if row is None else _visible_webhook(ports, actor, row)


def _visible_webhook(ports: Ports, actor: Actor, row: NamedRow) -> Webhook:
    webhook = to_webhook(ports, row.Webhook, row.events)
    return seen_webhook(actor, webhook, read_permissions(row.app_permissions))


def _require_reach(actor: Actor, app_ids: Collection[int]) -> None:
    is_its_own = actor.is_app and set(app_ids) <= {actor.app_id}
    manages = not actor.is_app and actor.holds(Permission.MANAGE_APPS)
    if not (is_its_own or manages):
        raise PermissionDenied(Permission.MANAGE_APPS)


MAX_NAMES = 200
"""The most webhooks that a list to choose from shows."""


@dataclass(frozen=True, slots=True)
class WebhookName:
    """A webhook's name and its app."""

    id: int
    name: str
    app_id: int
    app_name: str


@requires(Permission.MANAGE_APPS)
def list_webhook_names(ports: Ports, actor: Actor) -> tuple[WebhookName, ...]:
    """Return the newest 200 webhooks; one statement."""
    query = (
        select(*columns_for(WebhookName, models.Webhook), models.App.name.label("app_name"))
        .join(models.App, models.App.id == models.Webhook.app_id)
        .order_by(models.Webhook.id.desc())
        .limit(MAX_NAMES)
    )
    with ports.database.reading() as session:
        return tuple(record_from(WebhookName, row) for row in session.execute(query))


HEALTH_SPAN = timedelta(hours=24)
"""The time that the numbers of a webhook's health are of."""


@dataclass(frozen=True, slots=True)
class Health:
    """The deliveries of the last 24 hours: those that arrived, failed for good, or wait."""

    delivered: int = 0
    failed: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class ListedWebhook:
    """A webhook in a list, with whether it has a secret.

    ``failing_since`` is the first failure without a success since; ``last_failure`` the result of
    the last failed attempt. ``disabled_reason`` is set if the installation disabled it.
    ``lacking`` are the app's permissions that the reader lacks, who then doesn't see in
    ``last_failure`` what was answered. ``target_url`` has no keys in a list, nor for them.
    """

    id: int
    app_id: int
    app_name: str
    name: str
    identifier: str
    target_url: str
    is_active: bool
    is_app_active: bool
    has_query: bool
    has_secret: bool
    created_at: datetime
    failing_since: datetime | None
    last_failure_at: datetime | None
    last_failure: str
    disabled_at: datetime | None
    disabled_reason: str
    app_permissions: frozenset[Permission]
    events: tuple[EventType, ...]
    health: Health
    lacking: tuple[Permission, ...] = ()
    paused_at: datetime | None = None
    max_rate: int = 0


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A webhook that subscribes to an event; it is sent events if it and its app are active."""

    id: int
    name: str
    target_url: str
    app_name: str
    is_active: bool
    is_app_active: bool


_APP_COLUMNS = (models.App.name.label("app_name"), models.App.is_active.label("is_app_active"))
_COLUMNS = (
    *columns_for(ListedWebhook, models.Webhook),
    *_APP_COLUMNS,
    (models.Webhook.query != "").label("has_query"),
    (models.Webhook.secret != "").label("has_secret"),
    APP_PERMISSIONS.label("app_permissions"),
    EVENTS_OF_WEBHOOK,
)
"""The fields of ``ListedWebhook``, except its health."""

_SUBSCRIBER_COLUMNS = (*columns_for(Subscriber, models.Webhook), *_APP_COLUMNS)


@dataclass(frozen=True, slots=True)
class WebhookFilter:
    """Conditions on webhooks.

    ``search`` is a part of the name, identifier, target or the app's name; of the target only
    where the caller can see it whole. ``is_failing`` are those that fail, or were disabled for
    failing; ``is_paused`` are those that are paused now.
    """

    search: str = ""
    app_id: int | None = None
    is_active: bool | None = None
    event: EventType | None = None
    is_failing: bool = False
    is_paused: bool = False


class WebhookSort(StrEnum):
    """The sort orders of webhooks: creation (newest first), name, app's name."""

    NEWEST = "newest"
    NAME = "name"
    APP = "app"


ALL_WEBHOOKS = WebhookFilter()
_ORDERS = {
    WebhookSort.NEWEST: Order((models.Webhook.id,), descending=True),
    WebhookSort.NAME: Order((models.Webhook.name, models.Webhook.id)),
    WebhookSort.APP: Order((models.App.name, models.App.id, models.Webhook.id)),
}


@requires_person(Permission.MANAGE_APPS)
def list_webhooks(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    filter_: WebhookFilter = ALL_WEBHOOKS,
    sort: WebhookSort = WebhookSort.NEWEST,
) -> Page[ListedWebhook]:
    """Return the webhooks of all apps, each with its events and its health.

    Two statements, however many a page has; the cost of the health is that of the last day's
    deliveries of these webhooks, not of all that were ever made.
    """
    if not is_searchable(filter_.search):
        return empty_page()
    with ports.database.reading() as session:
        whole = select(models.Webhook.id)
        query = _filtered(actor, filter_)
        found = read_rows(ports, session, query, _ORDERS[sort], page, whole)
        return with_items(found, _listed(ports, actor, session, found.items))


@requires_person(Permission.MANAGE_APPS)
def count_webhooks(ports: Ports, _actor: Actor) -> int:
    """Return how many webhooks there are, counted to ten thousand."""
    some = select(models.Webhook.id).limit(MAX_COUNTED).subquery()
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(some)) or 0


@requires_person(Permission.MANAGE_APPS)
def show_listed_webhook(ports: Ports, actor: Actor, webhook_id: int) -> ListedWebhook | None:
    """Return one webhook as ``list_webhooks`` does; one statement."""
    health = _health(webhook_id, ports.clock.now() - HEALTH_SPAN).subquery()
    query = _of_apps(select(*_COLUMNS)).add_columns(*health.columns).join(health, true())
    with ports.database.reading() as session:
        row = session.execute(query.where(models.Webhook.id == webhook_id)).one_or_none()
    return None if row is None else _webhook(actor, row, record_from(Health, row))


@requires_person(Permission.MANAGE_APPS)
def list_subscribers(
    ports: Ports, actor: Actor, event: EventType, page: PageRequest
) -> Page[Subscriber]:
    """Return the webhooks that subscribe to ``event``, the newest first; one statement."""
    query = _of_apps(select(*_SUBSCRIBER_COLUMNS)).where(_subscribes(event))
    with ports.database.reading() as session:
        return read_page(ports, session, query, _ORDERS[WebhookSort.NEWEST], page, _subscriber)


def _subscriber(row: NamedRow) -> Subscriber:
    return record_from(Subscriber, row, target_url=masked_url(row.target_url))


def _health(webhook_id: int, since: datetime) -> Select[*tuple[Any, ...]]:
    """Return the query for the fields of ``Health``, which reads an index only."""
    delivery = models.Delivery
    counted = {
        "delivered": DeliveryStatus.SUCCESS,
        "failed": DeliveryStatus.FAILED,
        "waiting": DeliveryStatus.PENDING,
    }
    return select(
        *(
            func.count().filter(delivery.status == status.value).label(name)
            for name, status in counted.items()
        )
    ).where(delivery.webhook_id == webhook_id, delivery.created_at >= since)


def _of_apps(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return query.join(models.App, models.App.id == models.Webhook.app_id)


def _subscribes(event: EventType) -> ColumnElement[bool]:
    names = (event.value, EventType.ANY_EVENTS.value)
    subscribed = select(models.WebhookEvent.webhook_id).where(models.WebhookEvent.event.in_(names))
    return models.Webhook.id.in_(subscribed)


def _filtered(actor: Actor, filter_: WebhookFilter) -> Select[*tuple[Any, ...]]:
    query = _of_apps(select(*_COLUMNS))
    if filter_.search.strip():
        text = filter_.search.strip()
        columns = (models.Webhook.name, models.Webhook.identifier, models.App.name)
        in_target = contains_text(models.Webhook.target_url, text)
        query = query.where(
            or_(
                *(contains_text(column, text) for column in columns),
                and_(in_target, within_reach(actor)),
            )
        )
    if filter_.app_id is not None:
        query = query.where(models.Webhook.app_id == filter_.app_id)
    if filter_.is_active is not None:
        query = query.where(models.Webhook.is_active.is_(filter_.is_active))
    if filter_.event is not None:
        query = query.where(_subscribes(filter_.event))
    if filter_.is_paused:
        query = query.where(models.Webhook.paused_at.is_not(None))
    if filter_.is_failing:
        fails = models.Webhook.failing_since.is_not(None) & models.Webhook.is_active.is_(True)
        query = query.where(or_(fails, models.Webhook.disabled_reason != ""))
    return query


def _listed(
    ports: Ports, actor: Actor, session: Session, rows: Sequence[Row[*tuple[Any, ...]]]
) -> list[ListedWebhook]:
    keys = [row.id for row in rows]
    healths = _healths(ports, session, keys)
    webhooks = (_webhook(actor, row, healths.get(row.id, Health())) for row in rows)
    return [replace(webhook, target_url=masked_url(webhook.target_url)) for webhook in webhooks]


def _webhook(actor: Actor, row: NamedRow, health: Health) -> ListedWebhook:
    app_permissions = read_permissions(row.app_permissions)
    lacking = lacking_of_app(actor, app_permissions)
    return record_from(
        ListedWebhook,
        row,
        target_url=masked_url(row.target_url) if lacking else row.target_url,
        last_failure=status_of(row.last_failure) if lacking else row.last_failure,
        app_permissions=app_permissions,
        events=read_events(row.events),
        health=health,
        lacking=lacking,
    )


def _healths(ports: Ports, session: Session, keys: Collection[int]) -> Mapping[int, Health]:
    since = ports.clock.now() - HEALTH_SPAN
    # Keys rise with time: so the index on webhook and key leads past all that is older.
    first = (
        select(models.Delivery.id)
        .where(models.Delivery.created_at >= since)
        .order_by(models.Delivery.created_at, models.Delivery.id)
        .limit(1)
        .scalar_subquery()
    )
    rows = session.execute(
        select(models.Delivery.webhook_id, models.Delivery.status, func.count())
        .where(models.Delivery.webhook_id.in_(keys), models.Delivery.id >= first)
        .group_by(models.Delivery.webhook_id, models.Delivery.status)
    )
    counts: dict[int, dict[str, int]] = {}
    for webhook, status, number in rows:
        counts.setdefault(webhook, {})[status] = number
    return {
        key: Health(
            delivered=by_status.get(DeliveryStatus.SUCCESS, 0),
            failed=by_status.get(DeliveryStatus.FAILED, 0),
            waiting=by_status.get(DeliveryStatus.PENDING, 0),
        )
        for key, by_status in counts.items()
    }
