"""Metadata of apps, for themselves and for people who manage apps."""

from collections.abc import Collection, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import key_of
from app.domain.values.metadata import Metadata, MetadataChange, StoredMetadata, to_stored_metadata
from app.models import AppRecord
from app.ports import Ports
from app.ports.database import Subject, SubjectKind
from app.services.audit.log import Change, record
from app.services.authorization.register import staff_and_apps, staff_only
from app.services.identity.stored_apps import ALL_APPS, APPS, locked_app, to_app
from app.services.identity.stored_metadata import change_stored_metadata, metadata_by_key


@staff_and_apps
def public_metadata_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, Metadata]:
    """Return the public metadata of apps, in one statement.

    Raises ``PermissionDenied`` except to people and apps with MANAGE_APPS, and to an app and its
    extensions for its own.
    """
    for app_id in app_ids:
        for reader in (actor, actor.viewer):
            is_own = reader.app_id == app_id
            if not (is_own or reader.holds(Permission.MANAGE_APPS) or reader.is_trusted):
                raise PermissionDenied(Permission.MANAGE_APPS)
    with ports.database.reading() as session:
        found = metadata_by_key(session, AppRecord, app_ids)
    return {key: stored.public for key, stored in found.items()}


@staff_and_apps
def private_metadata_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, Metadata]:
    """Return the private metadata of apps, in one statement.

    Raises ``PermissionDenied`` except to people with MANAGE_APPS, and to an app for its own.
    """
    for app_id in app_ids:
        _require_manager(actor, app_id)
    with ports.database.reading() as session:
        found = metadata_by_key(session, AppRecord, app_ids)
    return {key: stored.private for key, stored in found.items()}


@staff_only
def show_app_with_metadata(
    ports: Ports, actor: Actor, app_id: int
) -> tuple[App, StoredMetadata] | None:
    """Return an app and its metadata, in one statement; ``None`` if there is no such app.

    The metadata is empty for people without MANAGE_APPS.
    """
    columns = (AppRecord.public_metadata, AppRecord.private_metadata)
    with ports.database.reading() as session:
        row = session.execute(
            APPS.add_columns(*columns).where(AppRecord.id == app_id)
        ).one_or_none()
    if row is None:
        return None
    if not actor.holds(Permission.MANAGE_APPS):
        return to_app(row), StoredMetadata({}, {})
    return to_app(row), to_stored_metadata(row.public_metadata, row.private_metadata)


@staff_and_apps
def change_app_metadata(ports: Ports, actor: Actor, app_id: str, change: MetadataChange) -> App:
    """Set or delete metadata of the app of a global ID; return the app.

    For people with MANAGE_APPS, and for an app its own. Refuses NOT_FOUND and OUT_OF_SCOPE_APP on
    ``id``, and as ``changed_metadata`` does.
    """
    key = key_of(app_id, "App")
    _require_manager(actor, key)
    with ports.database.transaction(Subject(SubjectKind.APP, key)) as session:
        app = _own(session, key) if _is_own(actor, key) else locked_app(session, actor, key, "id")
        keys = change_stored_metadata(session, AppRecord, key, change)
        if keys:
            after: dict[str, object] = {"private" if change.is_private else "public": list(keys)}
            record(
                ports,
                actor,
                session,
                Change("app.update_metadata", "App", key, app.name, after=after),
            )
        return app


def _require_manager(actor: Actor, app_id: int) -> None:
    """Raise unless ``actor``, and the viewer of a payload's preview, manage that app."""
    for reader in (actor, actor.viewer):
        is_manager = reader.is_user and reader.holds(Permission.MANAGE_APPS)
        if not (_is_own(reader, app_id) or is_manager or reader.is_trusted):
            raise PermissionDenied(Permission.MANAGE_APPS)


def _is_own(actor: Actor, app_id: int) -> bool:
    return actor.is_app and actor.app_id == app_id


def _own(session: Session, app_id: int) -> App:
    """Lock and return an app for itself, also while it is being installed."""
    session.execute(select(AppRecord.id).where(AppRecord.id == app_id).with_for_update())
    return to_app(session.execute(ALL_APPS.where(AppRecord.id == app_id)).one())
