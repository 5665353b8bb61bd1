"""Extensions that apps add to the dashboard, and tokens with which they act for their user."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, bindparam, select

from app import models
from app.domain.apps.apps import (
    EXTENSION_TOKEN_LIFETIME,
    App,
    AppType,
    Extension,
    extension_claims,
)
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, split_names
from app.domain.sign_in.tokens import Subject, TokenType, make_claims
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import Page, PageRequest, empty_page
from app.domain.values.text_rules import is_storable
from app.ports import NamedRow, Ports
from app.services.apps.app_lists import sees_others
from app.services.authorization.register import staff_and_apps
from app.services.authorization.shop_state import moment
from app.services.identity.stored_apps import APP_COLUMNS, to_app
from app.services.keys import ring
from app.services.lists.paging import Order, columns_for, read_page, record_from

_BY_AGE = Order((models.AppExtension.id,))
_COLUMNS = columns_for(Extension, models.AppExtension)
_OF_ACTIVE_APPS: Select[*tuple[object, ...]] = (
    select(*APP_COLUMNS, *_COLUMNS)
    .join(models.AppExtension, models.AppExtension.app_id == models.App.id)
    .where(models.App.is_active.is_(True), models.App.is_installed.is_(True))
)


@dataclass(frozen=True, slots=True)
class ExtensionFilter:
    """Conditions on extensions: one of ``mounts`` (any if empty), and ``target``."""

    mounts: tuple[str, ...] = ()
    target: str = ""


ALL_EXTENSIONS = ExtensionFilter()


@staff_and_apps
def list_extensions(
    ports: Ports, actor: Actor, page: PageRequest, filter_: ExtensionFilter = ALL_EXTENSIONS
) -> Page[Extension]:
    """The extensions of active apps (`appExtensions`), the oldest first; for an app its own."""
    mounts = [mount.upper() for mount in filter_.mounts]
    if not all(map(is_storable, (*mounts, filter_.target))):
        return empty_page()  # nothing can be called that
    query = _OF_ACTIVE_APPS
    if not sees_others(actor):
        query = query.where(models.App.id == actor.app_id)
    if mounts:
        query = query.where(models.AppExtension.mount.in_(mounts))
    if filter_.target:
        query = query.where(models.AppExtension.target == filter_.target.upper())
    with ports.database.reading() as session:
        return read_page(ports, session, query, _BY_AGE, page, _of_its_app)


@staff_and_apps
def show_extension(ports: Ports, actor: Actor, extension_id: int) -> Extension | None:
    """Return the extension of that key (`appExtension`), of an active app.

    Raises ``PermissionDenied`` to an app without MANAGE_APPS for what isn't its own.
    """
    query = _OF_ACTIVE_APPS.where(models.AppExtension.id == extension_id)
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    extension = None if row is None else _of_its_app(row)
    is_own = extension is not None and extension.app.id == actor.app_id
    if not (is_own or sees_others(actor)):
        raise PermissionDenied(Permission.MANAGE_APPS)
    return extension


@staff_and_apps
def extensions_of_apps(
    ports: Ports, actor: Actor, apps: Collection[App]
) -> Mapping[int, tuple[Extension, ...]]:
    """Return the extensions of each of several apps, active or not; one statement for all."""
    by_id = {app.id: app for app in apps}
    query: Select[*tuple[object, ...]] = select(
        models.AppExtension.app_id.label("extended_id"), *_COLUMNS
    )
    query = query.where(models.AppExtension.app_id.in_(by_id))
    with ports.database.reading() as session:
        rows = session.execute(query.order_by(models.AppExtension.id)).all()
    found = [_extension(by_id[row.extended_id], row) for row in rows]
    return {
        app_id: tuple(extension for extension in found if extension.app.id == app_id)
        for app_id in by_id
    }


def _of_its_app(row: NamedRow) -> Extension:
    return _extension(to_app(row), row)


def _extension(app: App, row: NamedRow) -> Extension:
    permissions = split_names(row.permissions)
    return record_from(Extension, row, app=app, permissions=permissions)


_SESSION: Select[*tuple[object, ...]] = select(
    models.Session.token, models.Session.expires_at
).where(models.Session.id == bindparam("session_id"))


@staff_and_apps
def extension_token_signer(ports: Ports, actor: Actor) -> Callable[[App], str | None]:
    """Return what creates a five-minute token for an app to act for the caller (`accessToken`).

    It belongs to the caller's session, ends with it, and has the permissions that both hold. None
    for apps and extensions, for staff without a session here, for an inactive app, and for a
    local app without a page. Two statements, whatever the number of apps.
    """
    if not actor.is_account_owner or actor.user_id is None:
        return _no_token
    rows = ports.database.read(_SESSION, {"session_id": actor.session_id})
    if not rows:
        return _no_token
    session, ends = rows[0].token, moment(rows[0].expires_at)
    now = ports.clock.timestamp()
    expires = now + EXTENSION_TOKEN_LIFETIME
    if isinstance(ends, datetime):
        expires = min(expires, ends.timestamp())
    claims = make_claims(
        Subject(
            user_id=actor.user_id,
            email=actor.name,
            is_staff=actor.is_staff,
            session=session,
            issuer=actor.issuer,
            owner=ports.configuration.token_owner,
            amr=actor.amr,
        ),
        TokenType.EXTENSION,
        now=now,
        expires=expires,
    )
    signer = ring(ports).signer

    def sign(app: App) -> str | None:
        if not (app.is_active and app.type is AppType.THIRDPARTY):
            return None
        return ports.keys.sign(signer, claims | extension_claims(app, actor.permissions))

    return sign


def _no_token(_app: App) -> None:
    """Return no token."""
