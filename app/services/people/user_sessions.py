"""Sessions of other people, listed and ended by those who manage them; origins of accounts."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.domain.sign_in.devices import SignedIn
from app.domain.values.errors import Problem, Refused
from app.domain.values.metadata import Metadata, StoredMetadata, to_stored_metadata
from app.models import ImportedPasswordRecord, ImportRecord, SessionRecord, UserRecord
from app.ports import NamedRow, Ports
from app.services.audit.log import record, user_change
from app.services.authorization.register import building_block, requires
from app.services.authorization.session_rights import USER_COLUMNS, read_permissions, read_user
from app.services.identity.users import find_manageable, require_manage_permission
from app.services.second_factors.stored_factors import (
    FACTOR_COLUMNS,
    FactorCounts,
    factors_in,
)
from app.services.sign_in.sessions import by_use, signed_in


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
    ImportRecord.source.label("origin_source"),
    ImportRecord.started_at.label("origin_imported_at"),
    ImportedPasswordRecord.state.label("origin_password"),
    ImportedPasswordRecord.replaced_at.label("origin_replaced_at"),
)
"""What ``read_origin`` reads."""


@building_block
def with_origin(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Join what a query of users with ``ORIGIN_COLUMNS`` needs."""
    password = ImportedPasswordRecord
    return query.outerjoin(password, password.user_id == UserRecord.id).outerjoin(
        ImportRecord, ImportRecord.id == password.import_id
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
    UserRecord.public_metadata,
    UserRecord.private_metadata,
    UserRecord.note,
    UserRecord.external_reference,
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
        select(SessionRecord, func.count().over().label("total"))
        .where(SessionRecord.user_id == user_id, SessionRecord.expires_at > ports.clock.now())
        .order_by(SessionRecord.id.desc())
        .limit(LISTED_SESSIONS)
    )
    rows = session.execute(alive).all()
    found = [signed_in(actor, row.SessionRecord) for row in rows]
    return tuple(sorted(found, key=by_use, reverse=True)), rows[0].total if rows else 0


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def show_person(ports: Ports, actor: Actor, user_id: int) -> Person:
    """Return a user with live sessions and metadata.

    Staff need MANAGE_STAFF, customers MANAGE_USERS. Refuses NOT_FOUND on ``id``.
    """
    query = with_origin(select(*USER_COLUMNS, *PERSON_COLUMNS).select_from(UserRecord))
    with ports.database.reading() as session:
        row = session.execute(query.where(UserRecord.id == user_id)).one_or_none()
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
            delete(SessionRecord)
            .where(SessionRecord.id == session_id, SessionRecord.user_id == user_id)
            .returning(SessionRecord.id)
        )
        if ended is None:
            raise Refused(Problem("NOT_FOUND", "This session has already ended.", "id"))
        before = {"session": session_id}
        record(ports, actor, session, user_change("session.end", user, before=before))
