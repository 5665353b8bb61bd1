"""Activate, deactivate and sign out users; lift blocks, and remove lost second factors."""

from collections.abc import Collection
from datetime import UTC, datetime

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.domain.accounts.staff import activation_problem, deactivation_problem
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.events import CustomerUpdated, StaffUpdated
from app.domain.mails.mail import MailKind
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.models import AuthenticatorAppRecord, PasskeyRecord, UserRecord
from app.ports import Ports
from app.ports.database import account
from app.services.audit.log import record, user_change
from app.services.authorization.register import (
    building_block,
    fresh_proof,
    requires,
    requires_person,
)
from app.services.identity.permission_holders import lock_grants, prevent_unmanageable
from app.services.identity.users import (
    find_manageable,
    find_user_by_key,
    load_user,
    require_manageable,
)
from app.services.outbox.publisher import add_event
from app.services.outbox.security_notices import notify
from app.services.people.users import about_user, bulk_keys
from app.services.second_factors.stored_factors import drop_codes, read_factors
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
        user = find_manageable(session, actor, user_id)
        ended = end_sessions(ports, session, user_id)
        change = user_change("user.sign_out", user, before={"sessions": ended})
        record(ports, actor, session, change)
        return ended


@requires(Permission.MANAGE_USERS)
def set_users_active(
    ports: Ports, actor: Actor, user_ids: Collection[str], *, active: bool
) -> tuple[int, tuple[Problem, ...]]:
    """Activate or deactivate several users (`userBulkSetActive`): all that the caller can.

    Returns how many, and why the others weren't, on ``ids`` with the user. Refuses INVALID on
    ``ids`` for more than ``MAX_IDS``, NOT_FOUND for IDs of other types.
    """
    keys = bulk_keys(user_ids)
    refusals: list[Problem] = []
    for key in keys:
        try:
            _set_active(ports, actor, key, active=active)
        except Refused as refused:
            refusals += (about_user(problem, key) for problem in refused.problems)
        except PermissionDenied as denied:
            refusals.append(Problem("OUT_OF_SCOPE_USER", str(denied), "ids"))
    return len(keys) - len(refusals), tuple(refusals)


@building_block
def switch_active(
    ports: Ports, actor: Actor, session: Session, user: User, *, active: bool
) -> bool:
    """Activate or deactivate ``user``, ending their sessions; return whether it changed.

    Call ``lock_grants`` first. Refuses on ``isActive``: DEACTIVATE_OWN_ACCOUNT,
    DEACTIVATE_SUPERUSER_ACCOUNT and ACTIVATE_SUPERUSER_ACCOUNT (not to the operator),
    LEFT_NOT_MANAGEABLE_PERMISSION.
    """
    refuse_any((activation_problem if active else deactivation_problem)(actor, user))
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
        user = find_manageable(session, actor, user_id)
        if switch_active(ports, actor, session, user, active=active):
            event = StaffUpdated(user_id) if user.is_staff else CustomerUpdated(user_id)
            add_event(ports, actor, session, event)
            action = "user.activate" if active else "user.deactivate"
            before, after = {"is_active": not active}, {"is_active": active}
            record(ports, actor, session, user_change(action, user, before, after))
        session.flush()
        return find_user_by_key(session, user_id)


_OWN_BLOCK = Problem(
    "INVALID",
    "You can't unblock your own account. Wait, or ask someone else who manages people.",
    "id",
)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def unblock_account(ports: Ports, actor: Actor, user_id: int) -> User:
    """Allow an account's password and codes to be entered again at once.

    Staff need MANAGE_STAFF, customers MANAGE_USERS. Refuses on ``id`` NOT_FOUND for an unknown or
    unblocked account, OUT_OF_SCOPE_USER, and INVALID for the caller's own: in a stolen session,
    codes could be guessed without end. Raises ``ThrottleUnavailable``.
    """
    now = ports.throttle.timestamp(ports.shared_clock)
    until = ports.throttle.blocks_of(user_id, (), now).account_until
    with ports.database.transaction() as session:
        user = find_manageable(session, actor, user_id)
        if actor.is_user and actor.user_id == user_id:
            raise Refused(_OWN_BLOCK)
        if until is None:
            raise Refused(Problem("NOT_FOUND", "This account isn't blocked.", "id"))
        # Written first, as when an IP address is unblocked: the counters may be in Redis.
        before = {"blocked_until": datetime.fromtimestamp(until, UTC).isoformat()}
        record(ports, actor, session, user_change("user.unblock", user, before=before))
    ports.throttle.reset_guesses(user_id)
    return user


_MISSING = Problem("NOT_FOUND", "This user doesn't exist.", "id")
_OWN_FACTORS = Problem(
    "INVALID",
    "You can't reset your own second factors. Remove them under Sign-in and security.",
    "id",
)


@fresh_proof("You're about to reset someone's second factors.")
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def reset_second_factors(ports: Ports, actor: Actor, user_id: str) -> User:
    """Remove all second factors and recovery codes of a user (`userSecondFactorReset`).

    Ends all their sessions, and mails them. Their password and SSO identities stay: where the shop
    requires a second factor, they add one at the next sign-in to the console. Refuses on ``id``:
    NOT_FOUND, INVALID for the caller's own account, OUT_OF_SCOPE_USER for a user with permissions
    that the caller lacks. Staff need MANAGE_STAFF, customers MANAGE_USERS. Raises
    ``PermissionDenied`` for extensions, as for apps.
    """
    if actor.is_user and not actor.is_account_owner:
        raise PermissionDenied(Caller.USER)
    key = key_of(user_id, "User")
    with ports.database.transaction(account(key)) as session:
        stored = session.get(UserRecord, key, with_for_update=True)
        if stored is None:
            raise Refused(_MISSING)
        user = load_user(session, key)
        require_manageable(actor, user)
        if actor.is_user and actor.user_id == key:
            raise Refused(_OWN_FACTORS)
        before = _remove(session, key)
        ended = end_sessions(ports, session, key)
        stored.updated_at = ports.clock.now()
        change = user_change("second_factor.reset", user, {**before, "sessions": ended})
        record(ports, actor, session, change)
        if any(before.values()):
            notify(ports, actor, session, key, MailKind.SECOND_FACTORS_RESET)
        return load_user(session, key)


def _remove(session: Session, user_id: int) -> dict[str, object]:
    """Delete the factors and codes; return what there was, for the audit log."""
    had = read_factors(session, user_id)
    for factor in (PasskeyRecord, AuthenticatorAppRecord):
        session.execute(delete(factor).where(factor.user_id == user_id))
    drop_codes(session, user_id)
    return {
        "passkeys": had.passkeys,
        "authenticator_app": had.has_authenticator_app,
        "recovery_codes": had.recovery_codes,
    }
