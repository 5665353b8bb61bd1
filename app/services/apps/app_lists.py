"""List apps for staff and for each app itself, with counts of their tokens and webhooks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, false, func, or_, select

from app import models
from app.domain.apps.apps import App, AppSortField, AppType
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.events import EventType
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected
from app.domain.values.pages import Page, PageRequest, empty_page
from app.ports import Ports
from app.services.authorization import register
from app.services.identity.stored_apps import ALL_APPS, APPS, to_app
from app.services.lists.filters import contains_text, is_searchable
from app.services.lists.paging import Order, columns_for, read_by_keys, read_page, record_from
from app.services.webhooks.stored_webhooks import EVENTS_OF_WEBHOOK, read_events

_COLUMNS = {
    None: (models.App.id,),
    AppSortField.NAME: (models.App.name, models.App.id),
    AppSortField.CREATION_DATE: (models.App.created_at, models.App.id),
}


@dataclass(frozen=True, slots=True)
class AppFilter:
    """Conditions on apps; ``search`` is a part of the name, ``name`` all of it."""

    search: str = ""
    name: str = ""
    is_active: bool | None = None
    type: AppType | None = None


NO_FILTER = AppFilter()


@register.staff_only
def list_apps(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    filter_: AppFilter = NO_FILTER,
    sort_by: AppSortField | None = None,
    *,
    descending: bool = False,
) -> Page[App]:
    """Return the apps (`apps`), without ``sort_by`` in the order they were made."""
    if not all(map(is_searchable, (filter_.search, filter_.name))):
        return empty_page()  # no name can hold that
    query = APPS
    if filter_.search:
        query = query.where(contains_text(models.App.name, filter_.search))
    if filter_.name:
        query = query.where(models.App.name == filter_.name)
    if filter_.is_active is not None:
        query = query.where(models.App.is_active.is_(filter_.is_active))
    if filter_.type is not None:
        query = query.where(models.App.type == filter_.type.value)
    order = Order(_COLUMNS[sort_by], descending)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, to_app, APPS)


@register.staff_and_apps
def show_app(ports: Ports, actor: Actor, app_id: int) -> App | None:
    """The app of that key (`app`), to itself and to staff; other apps need MANAGE_APPS for it."""
    is_itself = actor.is_app and actor.app_id == app_id
    if not is_itself and not sees_others(actor):
        raise PermissionDenied(Permission.MANAGE_APPS)
    return next(iter(_visible(ports, actor, [app_id])), None)


@register.staff_and_apps
def apps_by_key(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[App, ...]:
    """Return those apps that ``show_app`` shows the caller, in one statement."""
    return _visible(ports, actor, keys)


def _visible(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[App, ...]:
    shown: ColumnElement[bool] = (
        models.App.is_installed.is_(True) if sees_others(actor) else false()
    )
    if actor.is_app:
        shown |= models.App.id == actor.app_id
    return read_by_keys(ports, ALL_APPS.where(shown), models.App.id, keys, to_app)


@register.building_block
def sees_others(actor: Actor) -> bool:
    """Return whether ``actor`` sees other apps than its own."""
    return not actor.is_app or actor.holds(Permission.MANAGE_APPS)


@register.apps_only
def show_calling_app(ports: Ports, actor: Actor) -> App:
    """Return the app that is calling (`app` without an id), even while it is being installed."""
    if actor.app_id is None:
        raise PermissionDenied(Caller.APP)
    with ports.database.reading() as session:
        row = session.execute(ALL_APPS.where(models.App.id == actor.app_id)).one_or_none()
    if row is None:
        raise TokenRejected(TokenFault.INVALID)  # it has been deleted in this very moment
    return to_app(row)


@register.public
def show_app_logo(ports: Ports, actor: Actor, name: str, size: int) -> bytes | None:
    """Return the file of an app's logo: WebP by size, PNG for 0; ``None`` if it doesn't exist."""
    query = select(models.AppLogo.data).where(
        models.AppLogo.name == name, models.AppLogo.size == size
    )
    with ports.database.reading() as session:
        return session.scalar(query)


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


@register.requires(Permission.MANAGE_APPS)
def summaries_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, AppSummary]:
    """Return the summary of each of several apps; one statement for all."""
    newest = (
        select(models.AppToken.last_four)
        .where(models.AppToken.app_id == models.App.id)
        .order_by(models.AppToken.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    in_trouble = or_(
        models.Webhook.failing_since.is_not(None), models.Webhook.disabled_reason != ""
    )
    query: Select[*tuple[Any, ...]] = select(
        models.App.id,
        _of_tokens(func.count()).label("tokens"),
        func.coalesce(newest, "").label("last_four"),
        _of_tokens(func.max(models.AppToken.last_used_at)).label("last_used_at"),
        _of_tokens(func.count(models.AppToken.imported_hash)).label("unused_imports"),
        _webhooks().scalar_subquery().label("webhooks"),
        _webhooks().where(in_trouble).scalar_subquery().label("failing"),
    ).where(models.App.id.in_(app_ids))
    with ports.database.reading() as session:
        return {row.id: record_from(AppSummary, row) for row in session.execute(query)}


def _of_tokens(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return (
        select(column)
        .select_from(models.AppToken)
        .where(models.AppToken.app_id == models.App.id)
        .scalar_subquery()
    )


def _webhooks() -> Select[int]:
    return (
        select(func.count())
        .select_from(models.Webhook)
        .where(models.Webhook.app_id == models.App.id)
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


@register.requires(Permission.MANAGE_APPS)
def list_webhooks_of_app(ports: Ports, actor: Actor, app_id: int) -> tuple[AppWebhook, ...]:
    """Return the webhooks of an app, the oldest first; one statement."""
    query = (
        select(
            *columns_for(AppWebhook, models.Webhook),
            models.Webhook.failing_since.is_not(None).label("is_failing"),
            EVENTS_OF_WEBHOOK,
        )
        .where(models.Webhook.app_id == app_id)
        .order_by(models.Webhook.id)
    )
    with ports.database.reading() as session:
        rows = session.execute(query).all()
    return tuple(
        record_from(
            AppWebhook, row, events=read_events(row.events), target_url=masked_url(row.target_url)
        )
        for row in rows
    )
