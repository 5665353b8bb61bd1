"""Notes and external references of people: who reads them."""

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, false, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.accounts.users import User, account_readers, sees_account
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.values.text_rules import is_storable
from app.models import UserRecord
from app.ports import Ports
from app.services.authorization.register import part, public, requires
from app.services.identity.users import NEEDED


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def notes_of_users(ports: Ports, actor: Actor, users: Collection[User]) -> Mapping[int, str]:
    """Return the note of each of ``users``, empty for none, in one statement.

    Raises ``PermissionDenied`` for staff without MANAGE_STAFF, for customers without MANAGE_USERS:
    also for the note about themselves.
    """
    for user in users:
        needed = NEEDED[user.is_staff]
        if not (actor.holds(needed) and actor.viewer.holds(needed)):
            raise PermissionDenied(needed)
    return _texts(ports, UserRecord.note, users)


@public
def external_references_of_users(
    ports: Ports, actor: Actor, users: Collection[User], proven: Collection[int] = ()
) -> Mapping[int, str]:
    """Return the external reference of each of ``users``, empty for none, in one statement.

    Raises ``PermissionDenied`` unless the caller sees each of them, see ``sees_account``.
    """
    for user in users:
        if not sees_account(actor, user, proven):
            raise PermissionDenied(*account_readers(is_staff=user.is_staff))
    return _texts(ports, UserRecord.external_reference, users)


@part
def has_reference(external_reference: str) -> ColumnElement[bool]:
    """Return the condition that finds the user of an external reference."""
    # No database can be asked for what it cannot hold.
    if not external_reference or not is_storable(external_reference):
        return false()
    return UserRecord.external_reference == external_reference


def _texts(
    ports: Ports,
    column: InstrumentedAttribute[str] | InstrumentedAttribute[str | None],
    users: Collection[User],
) -> Mapping[int, str]:
    query = select(UserRecord.id, column.label("text"))
    with ports.database.reading() as session:
        rows = session.execute(query.where(UserRecord.id.in_([user.id for user in users])))
        return {row.id: row.text or "" for row in rows}
