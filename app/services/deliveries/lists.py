"""Deliveries and their attempts: of one webhook, or found by search in those of all.

They are listed for those who can manage the webhook.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    bindparam,
    false,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from app import models
from app.domain.authorization.actor import Actor, holds_all_permissions
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import Attempt, DeliveryStatus, EventDelivery
from app.domain.events import EVENTS, EventType, kinds_about, named_object
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Page, PageRequest, Range, empty_page, with_items
from app.domain.webhooks import is_within_limit
from app.ports import NamedRow, Ports
from app.services.authorization.register import (
    building_block,
    lists_from_replica,
    requires_person,
    staff_and_apps,
)
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.lists import paging
from app.services.lists.filters import contains_text, in_range, is_searchable, without_index
from app.services.outbox.publisher import holds_secret, redacted_payload
from app.services.webhooks.app_reach import lacking_for_payload, payload_within_reach
from app.services.webhooks.stored_webhooks import SAVER_COLUMNS, read_saver
from app.services.webhooks.subscribers import sent_links

DELIVERY_COLUMNS = paging.columns_for(EventDelivery, models.Delivery)
ATTEMPT_COLUMNS = paging.columns_for(Attempt, models.DeliveryAttempt)

_APP = "viewing_app"
_JUDGED = (models.Delivery.event.label("judged_event"), APP_PERMISSIONS.label("app_permissions"))
"""By what it is judged whether a person sees a delivery's payload."""

Pages = Mapping[int, Page[Row[*tuple[object, ...]]]]


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """Conditions on deliveries; ``event`` is its name."""

    status: DeliveryStatus | None = None
    event: str = ""


_BY_AGE = {
    oldest_first: paging.Order((models.Delivery.id,), descending=not oldest_first)
    for oldest_first in (False, True)
}
_ATTEMPTS_BY_AGE = {
    oldest_first: paging.Order((models.DeliveryAttempt.id,), descending=not oldest_first)
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
    query = paging.with_conditions(_visible(actor, *DELIVERY_COLUMNS), _filter_conditions(filter_))
    order = _BY_AGE[oldest_first]
    with ports.database.reading() as session:
        parents = paging.Parents(models.Delivery.webhook_id, webhook_ids)
        found = paging.read_rows_by_parent(
            ports, session, query, parents, order, page, _viewer(actor)
        )
        found = _within_limit(session, actor, models.Webhook.id, found)
        read = [_delivery(actor, row) for rows in found.values() for row in rows.items]
        shown = {
            delivery.id: delivery for delivery in _visible_deliveries(ports, actor, session, read)
        }
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
        parents = paging.Parents(models.DeliveryAttempt.delivery_id, delivery_ids)
        found = paging.read_rows_by_parent(
            ports, session, query, parents, order, page, _viewer(actor)
        )
        found = _within_limit(session, actor, models.Delivery.id, found)
    pages = {
        key: with_items(
            rows, [to_attempt(row).withheld(_lacking(actor, row)) for row in rows.items]
        )
        for key, rows in found.items()
    }
    return {key: pages.get(key) or empty_page() for key in delivery_ids}


@staff_and_apps
def show_delivery(ports: Ports, actor: Actor, delivery_id: int) -> EventDelivery | None:
    """Return the delivery of that key: an app's own, or for staff with MANAGE_APPS any.

    By a limited app token only one of a webhook that it can change.
    """
    query = _visible(actor, *DELIVERY_COLUMNS, *SAVER_COLUMNS)
    query = query.where(models.Delivery.id == delivery_id)
    with ports.database.reading() as session:
        row = session.execute(query, _viewer(actor)).one_or_none()
        if row is None or not is_within_limit(actor, read_saver(row)):
            return None
        (delivery,) = _visible_deliveries(ports, actor, session, [_delivery(actor, row)])
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
        .select_from(models.Delivery)
        .join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
    )
    return query.where(models.Webhook.app_id == bindparam(_APP)) if of_app else query


@cache
def _judged_query(*columns: InstrumentedAttribute[Any]) -> Select[*tuple[object, ...]]:
    query = _query(*columns, of_app=False).add_columns(*_JUDGED)
    return query.join(models.App, models.App.id == models.Webhook.app_id)


@cache
def _with_attempts(query: Select[*tuple[object, ...]]) -> Select[*tuple[object, ...]]:
    return query.join(
        models.DeliveryAttempt, models.DeliveryAttempt.delivery_id == models.Delivery.id
    )


def _filter_conditions(filter_: DeliveryFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.status is not None:
        yield models.Delivery.status == filter_.status.value
    if filter_.event:
        yield models.Delivery.event == filter_.event


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
    if column is models.Delivery.id:
        query = query.join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
    rows = session.execute(query).all()
    return {row.key: found[row.key] for row in rows if is_within_limit(actor, read_saver(row))}


def _visible_deliveries(
    ports: Ports, actor: Actor, session: Session, deliveries: Sequence[EventDelivery]
) -> list[EventDelivery]:
    """Return them as ``actor`` can see them: only the app that was sent a link sees its secret."""
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


@building_block
def to_delivery(row: NamedRow) -> EventDelivery:
    """Return the delivery in a row that has ``DELIVERY_COLUMNS``."""
    return paging.record_from(EventDelivery, row, status=DeliveryStatus(row.status), lacking=())


@building_block
def to_attempt(row: NamedRow) -> Attempt:
    """Return the attempt in a row that has ``ATTEMPT_COLUMNS``."""
    return paging.record_from(Attempt, row, status=DeliveryStatus(row.status), lacking=())


NO_ANSWER = 0
"""Stands for the response code of an attempt without a response."""

MAX_SEARCHED = 5000
"""Deliveries that a text is looked for in: the newest of what the rest of a filter leaves."""

MAX_RESPONSE = 4096
"""Characters of the last response that a list has."""

_CART = (
    select(models.Checkout.token)
    .where(models.Checkout.id == models.Delivery.subject_id)
    .scalar_subquery()
)
_LAST_RESPONSE = (
    select(func.substr(models.DeliveryAttempt.response, 1, MAX_RESPONSE))
    .where(models.DeliveryAttempt.delivery_id == models.Delivery.id)
    .order_by(models.DeliveryAttempt.id.desc())
    .limit(1)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class DeliveryLine:
    """A delivery in a list, without its payload.

    ``attempts`` counts those since it was last resent; ``response_status`` is the last response's,
    ``last_response`` the beginning of its body, or the network error. ``next_attempt_at`` is empty
    when nothing more is tried; ``given_up`` is then the reason in addition to the response, if
    any. ``object_id`` is the global ID of the event's object, empty for a deleted cart.
    ``lacking`` are permissions without which its reader doesn't see what was sent and answered:
    ``last_response`` is empty then, except for a network error, and so is a cart's ``object_id``.
    ``target_url`` has no keys in a list.
    """

    id: int
    webhook_id: int
    webhook_name: str
    target_url: str
    is_webhook_active: bool
    app_id: int
    app_name: str
    is_app_active: bool
    event: EventType
    status: DeliveryStatus
    created_at: datetime
    attempts: int
    response_status: int | None
    last_response: str
    next_attempt_at: datetime | None
    given_up: str
    message_id: str
    object_id: str
    lacking: tuple[Permission, ...] = ()


LINE_COLUMNS = (
    *paging.columns_for(DeliveryLine, models.Delivery),
    models.Webhook.name.label("webhook_name"),
    models.Webhook.target_url,
    models.Webhook.is_active.label("is_webhook_active"),
    models.App.id.label("app_id"),
    models.App.name.label("app_name"),
    models.App.is_active.label("is_app_active"),
    func.coalesce(_LAST_RESPONSE, "").label("last_response"),
    models.Delivery.subject_id,
    _CART.label("checkout_token"),
    APP_PERMISSIONS.label("app_permissions"),
)
"""The fields of ``DeliveryLine``; the last three make its ``object_id`` and ``lacking``."""


@dataclass(frozen=True, slots=True)
class DeliverySearch:
    """Conditions on deliveries; an empty field matches all.

    ``is_retrying`` if it failed so far and waits for another attempt.
    ``response_status`` is that of the last response, ``NO_ANSWER`` for none. ``object_id`` is a
    global id. ``text`` is a part of the payload or the reason, or a whole ``webhook-id``; only the
    newest ``MAX_SEARCHED`` deliveries that match the other conditions are searched for it.
    """

    webhook_id: int | None = None
    app_id: int | None = None
    event: EventType | None = None
    status: DeliveryStatus | None = None
    is_retrying: bool = False
    response_status: int | None = None
    created: Range[datetime] = field(default_factory=Range)
    object_id: str = ""
    text: str = ""
    oldest_first: bool = False


def _deliveries(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[DeliveryLine, ...]:
    return paging.read_by_keys(
        ports, select_lines(), models.Delivery.id, keys, partial(_listed, actor)
    )


@lists_from_replica(_deliveries)
@requires_person(Permission.MANAGE_APPS)
def search_deliveries(
    ports: Ports, actor: Actor, page: PageRequest, search: DeliverySearch
) -> Page[DeliveryLine]:
    """Search deliveries by creation time; one statement a page.

    Refuses INVALID_ID on ``objectId`` for a type that events don't have.
    """
    if not is_searchable(search.text):
        return empty_page()
    query = select_lines().where(*matching_deliveries(actor, search))
    by_time: tuple[paging.Column, ...] = (models.Delivery.created_at, models.Delivery.id)
    # All indexes but that of a webhook's own deliveries go by time.
    columns = by_time if search.webhook_id is None else (models.Delivery.id,)
    order = paging.Order(columns, descending=not search.oldest_first)
    with ports.database.reading() as session:
        whole = select(models.Delivery.id)
        return paging.read_page(ports, session, query, order, page, partial(_listed, actor), whole)


def _listed(actor: Actor, row: NamedRow) -> DeliveryLine:
    line = to_line(actor, row)
    return replace(line, target_url=masked_url(line.target_url))


@building_block
def select_lines() -> Select[*tuple[Any, ...]]:
    """Return the columns that ``to_line`` reads."""
    return (
        select(*LINE_COLUMNS)
        .join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
        .join(models.App, models.App.id == models.Webhook.app_id)
    )


@building_block
def to_line(actor: Actor, row: NamedRow) -> DeliveryLine:
    """Return the line of a row with ``LINE_COLUMNS``, as ``actor`` can see it."""
    event = EventType(row.event)
    subject = EVENTS[event].subject
    lacking = lacking_for_payload(actor, read_permissions(row.app_permissions), row.event)
    key = row.subject_id
    if subject.has_token:
        # Who knows a cart's ID can read and change it.
        key = None if lacking else row.checkout_token
    is_answer = row.response_status is not None
    return paging.record_from(
        DeliveryLine,
        row,
        event=event,
        status=DeliveryStatus(row.status),
        object_id=to_global_id(subject.type, key) if key else "",
        target_url=masked_url(row.target_url) if lacking else row.target_url,
        last_response="" if lacking and is_answer else row.last_response,
        lacking=lacking,
    )


@building_block
def matching_deliveries(actor: Actor, search: DeliverySearch) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of ``search``; refuses as ``search_deliveries`` does.

    A text is looked for only in payloads that ``actor`` can see.
    """
    if not is_searchable(search.text):
        yield false()
        return
    yield from _conditions(search)
    if search.text.strip():
        yield from _mentions_text(actor, search)


def _conditions(search: DeliverySearch) -> Iterator[ColumnElement[bool]]:
    if search.webhook_id is not None:
        yield models.Delivery.webhook_id == search.webhook_id
    if search.app_id is not None:
        yield models.Delivery.webhook_id.in_(
            select(models.Webhook.id).where(models.Webhook.app_id == search.app_id)
        )
    if search.event is not None:
        # Few wait or have failed: what is left of those is the quickest to go through.
        states = (DeliveryStatus.PENDING, DeliveryStatus.FAILED)
        few = search.is_retrying or search.status in states
        event = without_index(models.Delivery.event) if few else models.Delivery.event
        yield event == search.event.value
    if search.status is not None:
        yield models.Delivery.status == search.status.value
    if search.is_retrying:
        yield models.Delivery.status == DeliveryStatus.PENDING.value
        yield models.Delivery.attempts > literal_column("0")
    if search.response_status == NO_ANSWER:
        yield models.Delivery.response_status.is_(None)
        yield models.Delivery.attempts > literal_column("0")
    elif search.response_status is not None:
        yield models.Delivery.response_status == search.response_status
    yield from in_range(models.Delivery.created_at, search.created)
    if search.object_id:
        yield from _is_about(search.object_id)


def _is_about(object_id: str) -> Iterator[ColumnElement[bool]]:
    named = named_object(object_id)
    kinds = kinds_about(EVENTS.values(), named)
    if not kinds:
        message = "This ID doesn't belong to an object that events can be about."
        raise Refused(Problem("INVALID_ID", message, "objectId"))
    yield models.Delivery.event.in_([kind.type.value for kind in kinds])
    if kinds[0].subject.has_token:
        carts = select(models.Checkout.id).where(models.Checkout.token == named.token)
        yield models.Delivery.subject_id.in_(carts)
    else:
        yield models.Delivery.subject_id == named.key


def _mentions_text(actor: Actor, search: DeliverySearch) -> Iterator[ColumnElement[bool]]:
    text = search.text.strip()
    newest = (
        select(models.Delivery.id)
        .where(*_conditions(search))
        .order_by(models.Delivery.id.desc())
        .limit(MAX_SEARCHED)
    )
    yield models.Delivery.id.in_(newest)
    yield or_(
        models.Delivery.message_id == text,
        and_(payload_within_reach(actor), contains_text(models.Delivery.payload, text)),
        contains_text(models.Delivery.given_up, text),
    )
