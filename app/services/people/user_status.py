"""People as those who manage them see them: their sessions, status, blocks and second factors.

Users are activated, deactivated and signed out, blocks lifted, and lost second factors removed.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.staff import activation_problem, deactivation_problem
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.events import CustomerUpdated, StaffUpdated
from app.domain.mails.mail import MailKind
from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.domain.sign_in.devices import SignedIn
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.metadata import Metadata, StoredMetadata, to_stored_metadata
from app.ports import NamedRow, Ports
from app.ports.database import account
from app.services.audit.log import record, user_change
from app.services.authorization.register import (
    building_block,
    fresh_proof,
    requires,
    requires_person,
)
from app.services.authorization.session_rights import USER_COLUMNS, read_permissions, read_user
from app.services.identity.permission_holders import lock_grants, prevent_unmanageable
from app.services.identity.users import (
    find_manageable,
    find_user_by_key,
    load_user,
    require_manage_permission,
    require_manageable,
)
from app.services.outbox.publisher import add_event
from app.services.outbox.security_notices import notify
from app.services.people.users import about_user, bulk_keys
from app.services.second_factors.stored_factors import (
    FACTOR_COLUMNS,
    FactorCounts,
    drop_codes,
    factors_in,
    read_factors,
)
from app.services.sign_in.sessions import by_use, end_sessions, signed_in


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
            stored = session.get_one(models.User, user.id)
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
        stored = session.get(models.User, key, with_for_update=True)
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
    for factor in (models.Passkey, models.AuthenticatorApp):
        session.execute(delete(factor).where(factor.user_id == user_id))
    drop_codes(session, user_id)
    return {
        "passkeys": had.passkeys,
        "authenticator_app": had.has_authenticator_app,
        "recovery_codes": had.recovery_codes,
    }


@dataclass(frozen=True, slots=True)
class AccountOrigin:
    """The import that an account came with, and what has become of the imported password.

    ``imported_at`` is when the import began. ``replaced_at`` is when a sign-in replaced the
    password's hash.
    """

    source: str
    imported_at: datetime
    password: ImportedPasswordState
    replaced_at: datetime | None = None


ORIGIN_COLUMNS = (
    models.Import.source.label("origin_source"),
    models.Import.started_at.label("origin_imported_at"),
    models.ImportedPassword.state.label("origin_password"),
    models.ImportedPassword.replaced_at.label("origin_replaced_at"),
)
"""What ``read_origin`` reads."""


@building_block
def with_origin(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Join what a query of users with ``ORIGIN_COLUMNS`` needs."""
    password = models.ImportedPassword
    return query.outerjoin(password, password.user_id == models.User.id).outerjoin(
        models.Import, models.Import.id == password.import_id
    )


@building_block
def read_origin(row: NamedRow) -> AccountOrigin | None:
    """Return the origin of the user in the row, ``None`` for one that was created here."""
    if row.origin_source is None:
        return None
    return AccountOrigin(
        row.origin_source,
        row.origin_imported_at,
        ImportedPasswordState(row.origin_password),
        row.origin_replaced_at,
    )


LISTED_SESSIONS = 100
"""Sessions of one person that are shown: the newest."""


PERSON_COLUMNS = (
    models.User.public_metadata,
    models.User.private_metadata,
    models.User.note,
    models.User.external_reference,
    *ORIGIN_COLUMNS,
    *FACTOR_COLUMNS,
)
"""The columns of what a ``Person`` has in addition to the user and the sessions."""


@dataclass(frozen=True, slots=True)
class Person:
    """A user with the newest ``LISTED_SESSIONS`` of their ``session_count`` sessions.

    ``metadata`` is there where the reader manages the user, else ``public_metadata``; so are
    ``note``, ``external_reference`` and ``origin``, which is that of an imported account.
    ``direct_permissions`` are those that no group grants, also those of a superuser.
    """

    user: User
    sessions: tuple[SignedIn, ...] = ()
    session_count: int = 0
    metadata: StoredMetadata | None = None
    public_metadata: Metadata = field(default_factory=dict)
    note: str = ""
    external_reference: str = ""
    origin: AccountOrigin | None = None
    factors: FactorCounts = field(default_factory=FactorCounts)
    direct_permissions: frozenset[Permission] = frozenset()


@building_block
def find_sessions(
    ports: Ports, actor: Actor, session: Session, user_id: int
) -> tuple[tuple[SignedIn, ...], int]:
    """Return the newest live sessions of a user, last used first, and how many there are."""
    alive = (
        select(models.Session, func.count().over().label("total"))
        .where(models.Session.user_id == user_id, models.Session.expires_at > ports.clock.now())
        .order_by(models.Session.id.desc())
        .limit(LISTED_SESSIONS)
    )
    rows = session.execute(alive).all()
    found = [signed_in(actor, row.Session) for row in rows]
    return tuple(sorted(found, key=by_use, reverse=True)), rows[0].total if rows else 0


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def show_person(ports: Ports, actor: Actor, user_id: int) -> Person:
    """Return a user with live sessions and metadata.

    Staff need MANAGE_STAFF, customers MANAGE_USERS. Refuses NOT_FOUND on ``id``.
    """
    query = with_origin(select(*USER_COLUMNS, *PERSON_COLUMNS).select_from(models.User))
    with ports.database.reading() as session:
        row = session.execute(query.where(models.User.id == user_id)).one_or_none()
        if row is None:
            raise Refused(Problem("NOT_FOUND", "There is no such user.", "id"))
        user = read_user(row)
        require_manage_permission(actor, is_staff=user.is_staff)
        sessions, count = find_sessions(ports, actor, session, user_id)
    return make_person(row, user, sessions, count)


@building_block
def make_person(
    row: NamedRow, user: User, sessions: tuple[SignedIn, ...], session_count: int
) -> Person:
    """Return the person of a row of a query ``with_origin``.

    It has ``PERSON_COLUMNS``, and the columns of which ``user`` was read.
    """
    return Person(
        user,
        sessions,
        session_count,
        to_stored_metadata(row.public_metadata, row.private_metadata),
        note=row.note,
        external_reference=row.external_reference or "",
        origin=read_origin(row),
        factors=factors_in(row),
        direct_permissions=read_permissions(row.user_permissions),
    )


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def end_user_session(ports: Ports, actor: Actor, user_id: int, session_id: int) -> None:
    """End one session of a user; its tokens stop working immediately in every process.

    Refuses on ``id`` NOT_FOUND and OUT_OF_SCOPE_USER for the user, NOT_FOUND for an ended session
    or another user's. ``sign_out_user`` ends all.
    """
    with ports.database.transaction() as session:
        user = find_manageable(session, actor, user_id)
        ended = session.scalar(
            delete(models.Session)
            .where(models.Session.id == session_id, models.Session.user_id == user_id)
            .returning(models.Session.id)
        )
        if ended is None:
            raise Refused(Problem("NOT_FOUND", "This session has already ended.", "id"))
        before = {"session": session_id}
        record(ports, actor, session, user_change("session.end", user, before=before))
