"""Activate, deactivate and sign out users."""

from sqlalchemy.orm import Session

from app.domain.accounts.staff import activation_problem, deactivation_problem
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import CustomerUpdated, StaffUpdated
from app.domain.values.errors import Refused
from app.models import UserRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part, requires
from app.services.identity.users import find_user_by_key, require_manageable
from app.services.outbox.publisher import add_event
from app.services.people.permission_holders import lock_grants, prevent_unmanageable
from app.services.sign_in.sessions import end_sessions


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def deactivate_user(ports: Ports, actor: Actor, user_id: int) -> User:
    """Deactivate a user and end all their sessions, immediately in every process.

    Refuses NOT_FOUND on ``id``, OUT_OF_SCOPE_USER for a user with permissions that the caller
    lacks, and what ``switch_active`` refuses.
    """
    return _set_active(ports, actor, user_id, active=False)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def activate_user(ports: Ports, actor: Actor, user_id: int) -> User:
    """Activate a user. Refuses as ``deactivate_user`` does."""
    return _set_active(ports, actor, user_id, active=True)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def sign_out_user(ports: Ports, actor: Actor, user_id: int) -> int:
    """End all sessions of a user; return how many. Refuses NOT_FOUND, OUT_OF_SCOPE_USER."""
    with ports.database.transaction() as session:
        user = _find(actor, session, user_id)
        ended = end_sessions(ports, session, user_id)
        change = Change("user.sign_out", "User", user_id, user.email, before={"sessions": ended})
        record(ports, actor, session, change)
        return ended


@part
def switch_active(
    ports: Ports, actor: Actor, session: Session, user: User, *, active: bool
) -> bool:
    """Activate or deactivate ``user``, ending their sessions; return whether it changed.

    Call ``lock_grants`` first. Refuses on ``isActive``: DEACTIVATE_OWN_ACCOUNT,
    DEACTIVATE_SUPERUSER_ACCOUNT and ACTIVATE_SUPERUSER_ACCOUNT (not to the operator),
    LEFT_NOT_MANAGEABLE_PERMISSION.
    """
    problem = (activation_problem if active else deactivation_problem)(actor, user)
    if problem is not None:
        raise Refused(problem)
    if user.is_active is not active:
        with prevent_unmanageable(actor, session, "isActive"):
            stored = session.get_one(UserRecord, user.id)
            stored.is_active = active
            stored.updated_at = ports.clock.now()
    if not active:
        end_sessions(ports, session, user.id)
    return user.is_active is not active


def _set_active(ports: Ports, actor: Actor, user_id: int, *, active: bool) -> User:
    with ports.database.transaction() as session:
        lock_grants(session)
        user = _find(actor, session, user_id)
        if switch_active(ports, actor, session, user, active=active):
            event = StaffUpdated(user_id) if user.is_staff else CustomerUpdated(user_id)
            add_event(ports, actor, session, event)
            change = Change(
                "user.activate" if active else "user.deactivate",
                "User",
                user_id,
                user.email,
                before={"is_active": not active},
                after={"is_active": active},
            )
            record(ports, actor, session, change)
        session.flush()
        return find_user_by_key(session, user_id)


def _find(actor: Actor, session: Session, user_id: int) -> User:
    user = find_user_by_key(session, user_id)
    require_manageable(actor, user)
    return user
