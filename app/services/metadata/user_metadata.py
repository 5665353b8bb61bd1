"""Metadata of users: public for themselves and who sees them, private for who manages them."""

from collections.abc import Collection, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.accounts.visibility import account_readers, sees_account
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import key_of
from app.domain.values.metadata import Metadata, MetadataChange
from app.models import UserRecord
from app.ports import Ports
from app.ports.database import account
from app.services.accounts.account_details import add_user_updated
from app.services.audit.log import Change, record
from app.services.authorization.register import public, requires, users_or
from app.services.identity.manageable_users import NEEDED, require_manageable
from app.services.identity.users import find_user_by_key, load_caller, load_user
from app.services.metadata.stored_metadata import change_stored_metadata, metadata_by_key

_MANAGERS = (Permission.MANAGE_USERS, Permission.MANAGE_STAFF)


@public
def public_metadata_of_users(
    ports: Ports, actor: Actor, users: Collection[User], proven: Collection[int] = ()
) -> Mapping[int, Metadata]:
    """Return the public metadata of each of ``users``, in one statement.

    Raises ``PermissionDenied`` unless the caller sees each of them, see ``sees_account``.
    """
    for user in users:
        if not sees_account(actor, user, proven):
            raise PermissionDenied(*account_readers(user))
    with ports.database.reading() as session:
        found = metadata_by_key(session, UserRecord, [user.id for user in users])
    return {key: stored.public for key, stored in found.items()}


@requires(*_MANAGERS)
def private_metadata_of_users(
    ports: Ports, actor: Actor, users: Collection[User]
) -> Mapping[int, Metadata]:
    """Return the private metadata of each of ``users``, in one statement.

    Raises ``PermissionDenied`` for staff without MANAGE_STAFF, for customers without MANAGE_USERS.
    """
    for user in users:
        needed = NEEDED[user.is_staff]
        if not (actor.holds(needed) and actor.viewer.holds(needed)):
            raise PermissionDenied(needed)
    with ports.database.reading() as session:
        found = metadata_by_key(session, UserRecord, [user.id for user in users])
    return {key: stored.private for key, stored in found.items()}


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
        session.execute(select(UserRecord.id).where(UserRecord.id == key).with_for_update())
        if not is_own or change.is_private:
            _require_manager(session, actor, key)
        keys = change_stored_metadata(session, UserRecord, key, change)
        if keys:
            _note_change(ports, actor, session, key, change, keys)
        return load_caller(ports, session, actor, key) if is_own else load_user(session, key)


def _require_manager(session: Session, actor: Actor, key: int) -> None:
    if not any(actor.holds(permission) for permission in _MANAGERS):
        raise PermissionDenied(*_MANAGERS)
    require_manageable(actor, find_user_by_key(session, key))


def _note_change(
    ports: Ports,
    actor: Actor,
    session: Session,
    key: int,
    change: MetadataChange,
    keys: tuple[str, ...],
) -> None:
    """Record which keys differ, not their values: they can be personal."""
    user = session.get_one(UserRecord, key)
    user.updated_at = ports.clock.now()
    add_user_updated(ports, actor, session, user)
    after: dict[str, object] = {"private" if change.is_private else "public": list(keys)}
    entry = Change("user.update_metadata", "User", key, user.email, after=after)
    record(ports, actor, session, entry)
