"""Read apps and their tokens, and write them within a transaction."""

from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app import models
from app.domain.apps import apps
from app.domain.authorization.actor import Actor, is_manageable, manages_app
from app.domain.authorization.permissions import Permission, in_order, joined_names, split_names
from app.domain.values.errors import Problem, Refused
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.lists.paging import record_from

_FIELDS = tuple(field.name for field in fields(apps.App))
APP_COLUMNS = tuple(
    APP_PERMISSIONS.label("app_permissions")
    if name == "permissions"
    else getattr(models.App, name).label(f"app_{name}")
    for name in _FIELDS
)
"""What ``to_app`` expects in a row."""

ALL_APPS: Select[*tuple[object, ...]] = select(*APP_COLUMNS)
"""Every app; those that are being installed are among them."""

APPS = ALL_APPS.where(models.App.is_installed.is_(True))
"""The apps that anybody but they themselves gets to see."""


@building_block
def to_app(row: NamedRow) -> apps.App:
    """Return the app in a row that has ``APP_COLUMNS``."""
    values: dict[str, Any] = {name: getattr(row, f"app_{name}") for name in _FIELDS}
    values["type"] = apps.AppType(values["type"])
    values["permissions"] = read_permissions(values["permissions"])
    return apps.App(**values)


@building_block
def stored_app(session: Session, app_id: int, field: str) -> apps.App:
    """Return the app of that key, installed; refuses NOT_FOUND on ``field``."""
    row = session.execute(APPS.where(models.App.id == app_id)).one_or_none()
    if row is None:
        raise Refused(Problem("NOT_FOUND", "App not found.", field))
    return to_app(row)


@building_block
def locked_app_of_any_scope(session: Session, app_id: int, field: str) -> apps.App:
    """Lock and return the app of that key, whatever it can do; refuses NOT_FOUND on ``field``.

    Only for what gives the caller nothing of the app's permissions, such as stopping it.
    """
    session.execute(select(models.App.id).where(models.App.id == app_id).with_for_update())
    return stored_app(session, app_id, field)


@building_block
def locked_app(session: Session, actor: Actor, app_id: int, field: str) -> apps.App:
    """Lock and return the app of that key.

    Refuses NOT_FOUND, and OUT_OF_SCOPE_APP for an app with permissions that the caller lacks, or
    has in some channels only.
    """
    app = locked_app_of_any_scope(session, app_id, field)
    if not manages_app(actor, app.permissions):
        message = "You can't manage this app: it has permissions that you don't have."
        if is_manageable(actor, app.permissions):
            message = "You can't manage this app: its permissions hold in all channels."
        raise Refused(Problem("OUT_OF_SCOPE_APP", message, field))
    return app


@building_block
def refuse_apps(actor: Actor, field: str) -> None:
    """Refuse OUT_OF_SCOPE_APP to every app, also for itself.

    Contract, "Staff and permissions": apps with MANAGE_APPS get this code.
    """
    if actor.is_app:
        message = "You can't manage this app: managing apps is for people."
        raise Refused(Problem("OUT_OF_SCOPE_APP", message, field))


@building_block
def app_snapshot(app: apps.App) -> dict[str, object]:
    return {name: _plain(getattr(app, name)) for name in _FIELDS}


@building_block
def to_token(stored: models.AppToken) -> apps.AppToken:
    """Return the token of a record, without its digest."""
    narrowed = stored.permissions
    return record_from(
        apps.AppToken,
        stored,
        permissions=None if narrowed is None else split_names(narrowed),
        awaits_first_use=stored.imported_hash is not None,
    )


@building_block
def store_token(
    ports: Ports,
    session: Session,
    app_id: int,
    name: str,
    expires_at: datetime | None = None,
    permissions: frozenset[Permission] | None = None,
    *,
    is_by_client: bool = False,
) -> apps.NewAppToken:
    """Return a new token of that app; only its digest and its last four characters are kept."""
    secret = apps.make_app_token(ports.randomness.token(apps.TOKEN_RANDOM_LENGTH))
    stored = models.AppToken(
        app_id=app_id,
        name=name,
        digest=apps.token_digest(secret),
        last_four=apps.last_four(secret),
        permissions=None if permissions is None else joined_names(permissions),
        created_at=ports.clock.now(),
        expires_at=expires_at,
        is_by_client=is_by_client,
    )
    session.add(stored)
    session.flush()
    return apps.NewAppToken(to_token(stored), secret)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset):
        return [permission.value for permission in in_order(value)]
    return value.value if isinstance(value, StrEnum) else value
