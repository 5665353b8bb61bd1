"""Metadata of users, their addresses and apps: public for who sees them, private for managers."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.addresses import Address
from app.domain.accounts.users import User, require_sees_account, sees_account
from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import AddressUpdated, CustomerMetadataUpdated
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import key_of
from app.domain.values.metadata import (
    Metadata,
    MetadataChange,
    StoredMetadata,
    read_metadata,
    to_stored_metadata,
)
from app.ports import NamedRow, Ports
from app.ports.database import Subject, SubjectKind, account
from app.services.accounts.account_details import add_user_updated
from app.services.accounts.stored_addresses import to_address
from app.services.audit.log import Change, record
from app.services.authorization.register import (
    public,
    requires,
    staff_and_apps,
    staff_only,
    users_or,
)
from app.services.identity.stored_apps import ALL_APPS, APPS, locked_app, to_app
from app.services.identity.stored_metadata import (
    change_stored_metadata,
    private_metadata,
    public_metadata,
)
from app.services.identity.users import (
    NEEDED,
    find_user_by_key,
    load_caller,
    load_user,
    require_manageable,
    require_private_reader,
)
from app.services.outbox.publisher import add_event

_MANAGERS = (Permission.MANAGE_USERS, Permission.MANAGE_STAFF)


@public
def public_metadata_of_users(
    ports: Ports, actor: Actor, users: Collection[User], proven: Collection[int] = ()
) -> Mapping[int, Metadata]:
    """Return the public metadata of each of ``users``, in one statement.

    Raises ``PermissionDenied`` unless the caller sees each of them, see ``sees_account``.
    """
    for user in users:
        require_sees_account(actor, user.id, is_staff=user.is_staff, proven=proven)
    return public_metadata(ports, models.User, [user.id for user in users])


@requires(*_MANAGERS)
def private_metadata_of_users(
    ports: Ports, actor: Actor, users: Collection[User]
) -> Mapping[int, Metadata]:
    """Return the private metadata of each of ``users``, in one statement.

    Raises ``PermissionDenied`` for staff without MANAGE_STAFF, for customers without MANAGE_USERS.
    """
    for user in users:
        require_private_reader(actor, is_staff=user.is_staff)
    return private_metadata(ports, models.User, [user.id for user in users])


@public
def public_metadata_of_addresses(
    ports: Ports, actor: Actor, keys: Collection[int], proven: Collection[int] = ()
) -> Mapping[int, Metadata]:
    """Return the public metadata of each address that exists, in one statement.

    Raises ``PermissionDenied`` unless the caller sees the user of each, see ``sees_account``.
    """
    found: dict[int, Metadata] = {}
    for row in _addresses(ports, keys):
        require_sees_account(actor, row.user_id, is_staff=row.is_staff, proven=proven)
        found[row.id] = read_metadata(row.public_metadata)
    return found


@requires(*_MANAGERS)
def private_metadata_of_addresses(
    ports: Ports, actor: Actor, keys: Collection[int]
) -> Mapping[int, Metadata]:
    """Return the private metadata of each address that exists, in one statement.

    Raises ``PermissionDenied`` for staff's without MANAGE_STAFF, customers' without MANAGE_USERS.
    """
    found: dict[int, Metadata] = {}
    for row in _addresses(ports, keys):
        require_private_reader(actor, is_staff=row.is_staff)
        found[row.id] = read_metadata(row.private_metadata)
    return found


def _addresses(ports: Ports, keys: Collection[int]) -> Sequence[NamedRow]:
    query = (
        select(
            models.Address.id,
            models.Address.user_id,
            models.Address.public_metadata,
            models.Address.private_metadata,
            models.User.is_staff,
        )
        .join(models.User, models.User.id == models.Address.user_id)
        .where(models.Address.id.in_(keys))
    )
    with ports.database.reading() as session:
        return session.execute(query).all()


@users_or(*_MANAGERS)
def change_address_metadata(
    ports: Ports, actor: Actor, address_id: str, change: MetadataChange
) -> Address:
    """Set or delete metadata of the address of a global ID; return the address.

    People change the public metadata of their own addresses, but not through a dashboard
    extension. All else takes MANAGE_USERS for customers', and a person with MANAGE_STAFF for
    staff's. Refuses NOT_FOUND on ``id``, also for addresses that the caller can't see, and as
    ``changed_metadata`` does.
    """
    key = key_of(address_id, "Address")
    with ports.database.transaction() as session:
        found = session.get(models.Address, key)
        owner = None if found is None else session.get(models.User, found.user_id)
        if owner is None or not sees_account(actor, owner.id, is_staff=owner.is_staff):
            raise Refused(Problem("NOT_FOUND", "There is no such address.", "id"))
        is_own = actor.is_account_owner and actor.user_id == owner.id
        if not is_own or change.is_private:
            _require_address_manager(actor, is_staff=owner.is_staff)
        session.execute(select(models.User.id).where(models.User.id == owner.id).with_for_update())
        stored = session.get(models.Address, key, with_for_update=True, populate_existing=True)
        if stored is None:
            raise Refused(Problem("NOT_FOUND", "There is no such address.", "id"))
        keys = change_stored_metadata(session, models.Address, key, change)
        if keys:
            add_event(ports, actor, session, AddressUpdated(key))
            _record_change(ports, actor, session, owner.id, change, keys, address_id=key)
        return to_address(stored)


def _require_address_manager(actor: Actor, *, is_staff: bool) -> None:
    needed = NEEDED[is_staff]
    if not actor.holds(needed) or (is_staff and not actor.is_user):
        raise PermissionDenied(needed)


@users_or(*_MANAGERS)
def change_user_metadata(ports: Ports, actor: Actor, user_id: str, change: MetadataChange) -> User:
    """Set or delete metadata of the user of a global ID; return the user.

    People change their own public metadata, but not through a dashboard extension. All else takes
    MANAGE_USERS for customers; for staff, a person with MANAGE_STAFF and every permission of that
    member. Refuses NOT_FOUND and OUT_OF_SCOPE_USER on ``id``, and as ``changed_metadata`` does.
    """
    key = key_of(user_id, "User")
    is_own = actor.is_account_owner and actor.user_id == key
    with ports.database.transaction(account(key)) as session:
        session.execute(select(models.User.id).where(models.User.id == key).with_for_update())
        if not is_own or change.is_private:
            _require_manager(session, actor, key)
        keys = change_stored_metadata(session, models.User, key, change)
        if keys:
            _record_change(ports, actor, session, key, change, keys)
            if not session.get_one(models.User, key).is_staff:
                add_event(ports, actor, session, CustomerMetadataUpdated(key))
        return load_caller(ports, session, actor, key) if is_own else load_user(session, key)


def _require_manager(session: Session, actor: Actor, key: int) -> None:
    if not any(actor.holds(permission) for permission in _MANAGERS):
        raise PermissionDenied(*_MANAGERS)
    require_manageable(actor, find_user_by_key(session, key))


def _record_change(
    ports: Ports,
    actor: Actor,
    session: Session,
    key: int,
    change: MetadataChange,
    keys: tuple[str, ...],
    *,
    address_id: int | None = None,
) -> None:
    """Record which keys differ, not their values: they can be personal."""
    user = session.get_one(models.User, key)
    user.updated_at = ports.clock.now()
    add_user_updated(ports, actor, session, user)
    after: dict[str, object] = {"private" if change.is_private else "public": list(keys)}
    action = "user.update_metadata"
    if address_id is not None:
        action, after["address"] = "address.update_metadata", address_id
    entry = Change(action, "User", key, user.email, after=after)
    record(ports, actor, session, entry)


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
    return public_metadata(ports, models.App, app_ids)


@staff_and_apps
def private_metadata_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, Metadata]:
    """Return the private metadata of apps, in one statement.

    Raises ``PermissionDenied`` except to people with MANAGE_APPS, and to an app for its own.
    """
    for app_id in app_ids:
        _require_app_manager(actor, app_id)
    return private_metadata(ports, models.App, app_ids)


@staff_only
def show_app_with_metadata(
    ports: Ports, actor: Actor, app_id: int
) -> tuple[App, StoredMetadata] | None:
    """Return an app and its metadata, in one statement; ``None`` if there is no such app.

    The metadata is empty for people without MANAGE_APPS.
    """
    columns = (models.App.public_metadata, models.App.private_metadata)
    with ports.database.reading() as session:
        row = session.execute(
            APPS.add_columns(*columns).where(models.App.id == app_id)
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
    _require_app_manager(actor, key)
    with ports.database.transaction(Subject(SubjectKind.APP, key)) as session:
        app = (
            _lock_own_app(session, key)
            if _is_own(actor, key)
            else locked_app(session, actor, key, "id")
        )
        keys = change_stored_metadata(session, models.App, key, change)
        if keys:
            after: dict[str, object] = {"private" if change.is_private else "public": list(keys)}
            record(
                ports,
                actor,
                session,
                Change("app.update_metadata", "App", key, app.name, after=after),
            )
        return app


def _require_app_manager(actor: Actor, app_id: int) -> None:
    """Raise unless ``actor``, and the viewer of a payload's preview, manage that app."""
    for reader in (actor, actor.viewer):
        is_manager = reader.is_user and reader.holds(Permission.MANAGE_APPS)
        if not (_is_own(reader, app_id) or is_manager or reader.is_trusted):
            raise PermissionDenied(Permission.MANAGE_APPS)


def _is_own(actor: Actor, app_id: int) -> bool:
    return actor.is_app and actor.app_id == app_id


def _lock_own_app(session: Session, app_id: int) -> App:
    """Lock and return an app for itself, also while it is being installed."""
    session.execute(select(models.App.id).where(models.App.id == app_id).with_for_update())
    return to_app(session.execute(ALL_APPS.where(models.App.id == app_id)).one())
