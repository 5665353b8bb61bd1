"""Counts of tokens and webhooks for lists of apps."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.urls.web_urls import masked_url
from app.models import AppRecord, AppTokenRecord, WebhookEventRecord, WebhookRecord
from app.models.json_arrays import json_array_text
from app.ports import Ports
from app.services.authorization.register import requires
from app.services.lists.paging import record_from


@dataclass(frozen=True, slots=True)
class AppSummary:
    """An app's number of tokens, ``last_four`` of the newest, and the last use of any.

    ``unused_imports`` counts tokens that were imported and not used here yet, ``failing`` those
    of its ``webhooks`` that fail or were disabled for failing.
    """

    tokens: int
    last_four: str
    last_used_at: datetime | None
    webhooks: int
    failing: int
    unused_imports: int = 0


@requires(Permission.MANAGE_APPS)
def summaries_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, AppSummary]:
    """The summary of each of several apps; one statement for all."""
    newest = (
        select(AppTokenRecord.last_four)
        .where(AppTokenRecord.app_id == AppRecord.id)
        .order_by(AppTokenRecord.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    in_trouble = or_(WebhookRecord.failing_since.is_not(None), WebhookRecord.disabled_reason != "")
    query: Select[*tuple[Any, ...]] = select(
        AppRecord.id,
        _of_tokens(func.count()).label("tokens"),
        func.coalesce(newest, "").label("last_four"),
        _of_tokens(func.max(AppTokenRecord.last_used_at)).label("last_used_at"),
        _of_tokens(func.count(AppTokenRecord.imported_hash)).label("unused_imports"),
        _webhooks().scalar_subquery().label("webhooks"),
        _webhooks().where(in_trouble).scalar_subquery().label("failing"),
    ).where(AppRecord.id.in_(app_ids))
    with ports.database.reading() as session:
        return {row.id: record_from(AppSummary, row) for row in session.execute(query)}


def _of_tokens(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return (
        select(column)
        .select_from(AppTokenRecord)
        .where(AppTokenRecord.app_id == AppRecord.id)
        .scalar_subquery()
    )


def _webhooks() -> Select[int]:
    return (
        select(func.count()).select_from(WebhookRecord).where(WebhookRecord.app_id == AppRecord.id)
    )


@dataclass(frozen=True, slots=True)
class AppWebhook:
    """A webhook on its app's page."""

    id: int
    name: str
    target_url: str
    is_active: bool
    is_failing: bool
    disabled_reason: str
    events: tuple[EventType, ...]


@requires(Permission.MANAGE_APPS)
def list_webhooks_of_app(ports: Ports, actor: Actor, app_id: int) -> tuple[AppWebhook, ...]:
    """The webhooks of an app, the oldest first; one statement."""
    events = (
        select(json_array_text(WebhookEventRecord.event))
        .where(WebhookEventRecord.webhook_id == WebhookRecord.id)
        .scalar_subquery()
    )
    query = (
        select(
            WebhookRecord.id,
            WebhookRecord.name,
            WebhookRecord.target_url,
            WebhookRecord.is_active,
            WebhookRecord.failing_since.is_not(None).label("is_failing"),
            WebhookRecord.disabled_reason,
            events.label("events"),
        )
        .where(WebhookRecord.app_id == app_id)
        .order_by(WebhookRecord.id)
    )
    with ports.database.reading() as session:
        rows = session.execute(query).all()
    return tuple(
        record_from(
            AppWebhook,
            row,
            events=_events(row.events),
            target_url=masked_url(row.target_url),
        )
        for row in rows
    )


def _events(text: str) -> tuple[EventType, ...]:
    names = json.loads(text)
    return tuple(event for event in EventType if event.value in names)
