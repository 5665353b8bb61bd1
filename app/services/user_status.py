"""Whether people may come in: deactivated, activated, signed out everywhere."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.actor import Actor
from app.domain.errors import Problem, Refused
from app.domain.events import CustomerUpdated, StaffUpdated
from app.domain.permissions import Permission
from app.domain.users import User
from app.models import UserRecord
from app.ports import Ports
from app.services.access import requires
from app.services.audit import Change, record
from app.services.callers import USER_COLUMNS, read_user
from app.services.outbox import put_event
from app.services.reach import require_manageable
from app.services.sessions import end_sessions


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def deactivate_user(ports: Ports, actor: Actor, user_id: int) -> User:
    """Lock somebody out and end all their sessions, at once and in every process.

    Refuses NOT_FOUND on ``id``, DEACTIVATE_OWN_ACCOUNT, DEACTIVATE_SUPERUSER_ACCOUNT (the operator
    may), and OUT_OF_SCOPE_USER for somebody who may do what the caller may not.
    """
    if actor.user_id == user_id:
        message = "You cannot deactivate your own account."
        raise Refused(Problem("DEACTIVATE_OWN_ACCOUNT", message, "isActive"))
    return _set_active(ports, actor, user_id, active=False)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def activate_user(ports: Ports, actor: Actor, user_id: int) -> User:
    """Let somebody in again. Refuses as ``deactivate_user`` does."""
    return _set_active(ports, actor, user_id, active=True)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def sign_out_user(ports: Ports, actor: Actor, user_id: int) -> int:
    """End all sessions of somebody; how many there were. Refuses NOT_FOUND, OUT_OF_SCOPE_USER."""
    with ports.database.transaction() as session:
        user = _find(actor, session, user_id)
        ended = end_sessions(ports, session, user_id)
        change = Change("user.sign_out", "User", user_id, user.email, before={"sessions": ended})
        record(ports, actor, session, change)
        return ended


def _set_active(ports: Ports, actor: Actor, user_id: int, *, active: bool) -> User:
    with ports.database.transaction() as session:
        user = _find(actor, session, user_id)
        if user.is_superuser and not actor.is_trusted:
            verb = "activate" if active else "deactivate"
            code = f"{verb.upper()}_SUPERUSER_ACCOUNT"
            raise Refused(Problem(code, f"Cannot {verb} superuser's account.", "isActive"))
        if user.is_active is not active:
            stored = session.get_one(UserRecord, user_id)
            stored.is_active = active
            stored.updated_at = ports.clock.now()
            event = StaffUpdated(user_id) if user.is_staff else CustomerUpdated(user_id)
            put_event(ports, actor, session, event)
            action = "user.activate" if active else "user.deactivate"
            record(
                ports,
                actor,
                session,
                Change(
                    action,
                    "User",
                    user_id,
                    user.email,
                    before={"is_active": not active},
                    after={"is_active": active},
                ),
            )
        if not active:
            end_sessions(ports, session, user_id)
        session.flush()
        return _read(session, user_id)


def _find(actor: Actor, session: Session, user_id: int) -> User:
    user = _read(session, user_id)
    require_manageable(actor, user)
    return user


def _read(session: Session, user_id: int) -> User:
    row = session.execute(select(*USER_COLUMNS).where(UserRecord.id == user_id)).one_or_none()
    if row is None:
        raise Refused(Problem("NOT_FOUND", "There is no such user.", "id"))
    return read_user(row)
