"""Deliveries of all webhooks, found by whatever is known of them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, false, func, literal_column, or_, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EVENTS, EventType, kinds_about
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of, to_global_id
from app.domain.values.pages import Page, PageRequest, Range, empty_page
from app.models import (
    AppRecord,
    CheckoutRecord,
    DeliveryAttemptRecord,
    DeliveryRecord,
    WebhookRecord,
)
from app.ports import NamedRow, Ports
from app.services.authorization.register import lists_from_replica, part, requires_person
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.commerce.checkouts import token_in
from app.services.lists.filters import contains_text, in_range, is_searchable, without_index
from app.services.lists.paging import Column, Order, read_by_keys, read_page, record_from
from app.services.webhooks.app_reach import lacking_for_payload, payload_within_reach

NO_ANSWER = 0
"""Stands for the response code of an attempt that nobody answered."""

MAX_SEARCHED = 5000
"""Deliveries that a text is looked for in: the newest of what the rest of a filter leaves."""

MAX_RESPONSE = 4096
"""Characters of the last response that a list has."""

_CART = (
    select(CheckoutRecord.token)
    .where(CheckoutRecord.id == DeliveryRecord.subject_id)
    .scalar_subquery()
)
_LAST_RESPONSE = (
    select(func.substr(DeliveryAttemptRecord.response, 1, MAX_RESPONSE))
    .where(DeliveryAttemptRecord.delivery_id == DeliveryRecord.id)
    .order_by(DeliveryAttemptRecord.id.desc())
    .limit(1)
    .scalar_subquery()
)
LINE_COLUMNS = (
    DeliveryRecord.id,
    DeliveryRecord.webhook_id,
    WebhookRecord.name.label("webhook_name"),
    WebhookRecord.target_url,
    WebhookRecord.is_active.label("is_webhook_active"),
    AppRecord.id.label("app_id"),
    AppRecord.name.label("app_name"),
    AppRecord.is_active.label("is_app_active"),
    DeliveryRecord.event,
    DeliveryRecord.status,
    DeliveryRecord.created_at,
    DeliveryRecord.attempts,
    DeliveryRecord.response_status,
    func.coalesce(_LAST_RESPONSE, "").label("last_response"),
    DeliveryRecord.next_attempt_at,
    DeliveryRecord.given_up,
    DeliveryRecord.message_id,
    DeliveryRecord.subject_id,
    _CART.label("checkout_token"),
    APP_PERMISSIONS.label("app_permissions"),
)
"""The fields of ``DeliveryLine``; the last three make its ``object_id`` and ``lacking``."""


@dataclass(frozen=True, slots=True)
class DeliveryLine:
    """A delivery in a list, without its payload.

    ``attempts`` counts those since it was last resent; ``response_status`` is the last response's,
    ``last_response`` the beginning of its body, or the network error. ``next_attempt_at`` is empty
    when nothing more is tried; ``given_up`` is then the reason besides the response, if any.
    ``object_id`` is the global ID of the event's object, empty for a deleted cart. ``lacking`` are
    permissions without which its reader doesn't see what was sent and answered:
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


@dataclass(frozen=True, slots=True)
class DeliverySearch:
    """Conditions on deliveries; an empty field matches all.

    ``response_status`` is that of the last response, ``NO_ANSWER`` for none. ``object_id`` is a
    global id. ``text`` is a part of the payload or the reason, or a whole ``webhook-id``; only the
    newest ``MAX_SEARCHED`` deliveries that match the other conditions are searched for it.
    """

    webhook_id: int | None = None
    app_id: int | None = None
    event: EventType | None = None
    status: DeliveryStatus | None = None
    response_status: int | None = None
    created: Range[datetime] = field(default_factory=Range)
    object_id: str = ""
    text: str = ""
    oldest_first: bool = False


def _deliveries(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[DeliveryLine, ...]:
    return read_by_keys(ports, select_lines(), DeliveryRecord.id, keys, partial(_listed, actor))


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
    by_time: tuple[Column, ...] = (DeliveryRecord.created_at, DeliveryRecord.id)
    # All indexes but that of a webhook's own deliveries go by time.
    columns = by_time if search.webhook_id is None else (DeliveryRecord.id,)
    order = Order(columns, descending=not search.oldest_first)
    with ports.database.reading() as session:
        whole = select(DeliveryRecord.id)
        return read_page(ports, session, query, order, page, partial(_listed, actor), whole)


def _listed(actor: Actor, row: NamedRow) -> DeliveryLine:
    line = to_line(actor, row)
    return replace(line, target_url=masked_url(line.target_url))


@part
def select_lines() -> Select[*tuple[Any, ...]]:
    """Return the columns that ``to_line`` reads."""
    return (
        select(*LINE_COLUMNS)
        .join(WebhookRecord, WebhookRecord.id == DeliveryRecord.webhook_id)
        .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
    )


@part
def to_line(actor: Actor, row: NamedRow) -> DeliveryLine:
    """The line in a row that has ``LINE_COLUMNS``, as ``actor`` may see it."""
    event = EventType(row.event)
    subject = EVENTS[event].subject
    lacking = lacking_for_payload(actor, read_permissions(row.app_permissions), row.event)
    key = row.subject_id
    if subject.has_token:
        # Who knows a cart's ID can read and change it.
        key = None if lacking else row.checkout_token
    is_answer = row.response_status is not None
    return record_from(
        DeliveryLine,
        row,
        event=event,
        status=DeliveryStatus(row.status),
        object_id=to_global_id(subject.type, key) if key else "",
        target_url=masked_url(row.target_url) if lacking else row.target_url,
        last_response="" if lacking and is_answer else row.last_response,
        lacking=lacking,
    )


@part
def matching_deliveries(actor: Actor, search: DeliverySearch) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of ``search``; refuses as ``search_deliveries`` does.

    A text is looked for only in payloads that ``actor`` can see.
    """
    if not is_searchable(search.text):
        yield false()
        return
    yield from _conditions(search)
    if search.text.strip():
        yield from _mentions_object(actor, search)


def _conditions(search: DeliverySearch) -> Iterator[ColumnElement[bool]]:
    if search.webhook_id is not None:
        yield DeliveryRecord.webhook_id == search.webhook_id
    if search.app_id is not None:
        yield DeliveryRecord.webhook_id.in_(
            select(WebhookRecord.id).where(WebhookRecord.app_id == search.app_id)
        )
    if search.event is not None:
        # Few wait or have failed: what is left of those is the quickest to go through.
        few = search.status in (DeliveryStatus.PENDING, DeliveryStatus.FAILED)
        event = without_index(DeliveryRecord.event) if few else DeliveryRecord.event
        yield event == search.event.value
    if search.status is not None:
        yield DeliveryRecord.status == search.status.value
    if search.response_status == NO_ANSWER:
        yield DeliveryRecord.response_status.is_(None)
        yield DeliveryRecord.attempts > literal_column("0")
    elif search.response_status is not None:
        yield DeliveryRecord.response_status == search.response_status
    yield from in_range(DeliveryRecord.created_at, search.created)
    if search.object_id:
        yield from _matches_text(search.object_id)


def _matches_text(object_id: str) -> Iterator[ColumnElement[bool]]:
    kinds = kinds_about(EVENTS.values(), object_id)
    if not kinds:
        message = "This ID doesn't belong to an object that events can be about."
        raise Refused(Problem("INVALID_ID", message, "objectId"))
    yield DeliveryRecord.event.in_([kind.type.value for kind in kinds])
    if kinds[0].subject.has_token:
        carts = select(CheckoutRecord.id).where(CheckoutRecord.token == token_in(object_id))
        yield DeliveryRecord.subject_id.in_(carts)
    else:
        yield DeliveryRecord.subject_id == key_of(object_id, kinds[0].subject.type)


def _mentions_object(actor: Actor, search: DeliverySearch) -> Iterator[ColumnElement[bool]]:
    text = search.text.strip()
    newest = (
        select(DeliveryRecord.id)
        .where(*_conditions(search))
        .order_by(DeliveryRecord.id.desc())
        .limit(MAX_SEARCHED)
    )
    yield DeliveryRecord.id.in_(newest)
    yield or_(
        DeliveryRecord.message_id == text,
        and_(payload_within_reach(actor), contains_text(DeliveryRecord.payload, text)),
        contains_text(DeliveryRecord.given_up, text),
    )
