"""The apps there are: listed and looked at, by staff, and by each app itself."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ColumnElement, false

from app.domain.apps.apps import App, AppSortField, AppType
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected
from app.domain.values.pages import Page, PageRequest, empty_page
from app.models import AppRecord
from app.ports import Ports
from app.services.authorization.register import apps_only, staff_and_apps, staff_only
from app.services.identity.stored_apps import ALL_APPS, APPS, to_app
from app.services.lists.filters import contains_text, is_searchable
from app.services.lists.paging import Order, read_by_keys, read_page

_COLUMNS = {
    None: (AppRecord.id,),
    AppSortField.NAME: (AppRecord.name, AppRecord.id),
    AppSortField.CREATION_DATE: (AppRecord.created_at, AppRecord.id),
}


@dataclass(frozen=True, slots=True)
class AppFilter:
    """Conditions on apps; ``search`` is a part of the name, ``name`` all of it."""

    search: str = ""
    name: str = ""
    is_active: bool | None = None
    type: AppType | None = None


NO_FILTER = AppFilter()


@staff_only
def list_apps(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    filter_: AppFilter = NO_FILTER,
    sort_by: AppSortField | None = None,
    *,
    descending: bool = False,
) -> Page[App]:
    """The apps (`apps`), without ``sort_by`` in the order they were made."""
    if not all(map(is_searchable, (filter_.search, filter_.name))):
        return empty_page()  # no name can hold that
    query = APPS
    if filter_.search:
        query = query.where(contains_text(AppRecord.name, filter_.search))
    if filter_.name:
        query = query.where(AppRecord.name == filter_.name)
    if filter_.is_active is not None:
        query = query.where(AppRecord.is_active.is_(filter_.is_active))
    if filter_.type is not None:
        query = query.where(AppRecord.type == filter_.type.value)
    order = Order(_COLUMNS[sort_by], descending)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, to_app, APPS)


@staff_and_apps
def show_app(ports: Ports, actor: Actor, app_id: int) -> App | None:
    """The app of that key (`app`), to itself and to staff; other apps need MANAGE_APPS for it."""
    is_itself = actor.is_app and actor.app_id == app_id
    if not is_itself and not _sees_others(actor):
        raise PermissionDenied(Permission.MANAGE_APPS)
    return next(iter(_visible(ports, actor, [app_id])), None)


@staff_and_apps
def apps_by_key(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[App, ...]:
    """Return those apps that ``show_app`` shows the caller, in one statement."""
    return _visible(ports, actor, keys)


def _visible(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[App, ...]:
    shown: ColumnElement[bool] = (
        AppRecord.is_installed.is_(True) if _sees_others(actor) else false()
    )
    if actor.is_app:
        shown |= AppRecord.id == actor.app_id
    return read_by_keys(ports, ALL_APPS.where(shown), AppRecord.id, keys, to_app)


def _sees_others(actor: Actor) -> bool:
    return not actor.is_app or actor.holds(Permission.MANAGE_APPS)


@apps_only
def show_calling_app(ports: Ports, actor: Actor) -> App:
    """The app that is calling (`app` without an id), even while it is being installed."""
    if actor.app_id is None:
        raise PermissionDenied(Caller.APP)
    with ports.database.reading() as session:
        row = session.execute(ALL_APPS.where(AppRecord.id == actor.app_id)).one_or_none()
    if row is None:
        raise TokenRejected(TokenFault.INVALID)  # it has been deleted in this very moment
    return to_app(row)
