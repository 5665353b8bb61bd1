"""Write many people at once, with their words, rights and passwords, wherever they come from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.imports.people import ImportedPerson, state_of
from app.domain.imports.runs import digest_of_text
from app.domain.passwords.imported_hashes import ImportedPassword, ImportedPasswordState
from app.models.search_words import write_user_words
from app.ports import Ports
from app.services.authorization.register import building_block
from app.services.imports.bulk import insert_rows

_NO_PASSWORD = ImportedPassword(ImportedPasswordState.NONE)
_COLUMNS = (
    "email",
    "first_name",
    "last_name",
    "is_staff",
    "is_superuser",
    "is_active",
    "is_confirmed",
    "language_code",
    "note",
    "external_reference",
    "date_joined",
    "public_metadata",
    "private_metadata",
)


@dataclass(frozen=True, slots=True)
class NewPerson:
    """A person to write; without a ``key`` the database gives one."""

    person: ImportedPerson
    updated_at: datetime
    key: int | None = None
    last_login: datetime | None = None
    password: ImportedPassword = _NO_PASSWORD


@building_block
def insert_people(session: Session, import_id: int, people: Sequence[NewPerson]) -> Sequence[int]:
    """Write new people, whose emails must be normalized and free; return their IDs in order."""
    insert_rows(session, models.User, [_user_values(new) for new in people])
    given = [new.key for new in people if new.key is not None]
    keys = given or _find_keys(session, [new.person.email for new in people])
    written = list(zip(keys, people, strict=True))
    write_user_words(session.connection(), keys)
    _add_rights(session, {key: new.person for key, new in written})
    _add_passwords(session, import_id, written)
    return keys


@building_block
def update_people(ports: Ports, session: Session, changed: Sequence[NewPerson]) -> None:
    """Write changed people, except for passwords; who was deactivated is signed out.

    The last sign-in only moves forward.
    """
    people = {new.key: new.person for new in changed if new.key is not None}
    keys = list(people)
    flags = (models.User.is_active, models.User.is_confirmed, models.User.is_staff)
    stored = select(models.User.id, models.User.last_login, *flags)
    before = {row.id: row for row in session.execute(stored.where(models.User.id.in_(keys))).all()}
    change = (
        update(models.User)
        .where(models.User.id == bindparam("key"))
        .values(
            {name: bindparam(f"new_{name}") for name in (*_COLUMNS, "last_login", "updated_at")}
        )
    )
    logins = {key: row.last_login for key, row in before.items()}
    session.connection().execute(
        change, [_changed_values(new, logins.get(new.key)) for new in changed]
    )
    for owned in (models.GroupMember, models.UserPermission):
        session.execute(delete(owned).where(owned.user_id.in_(keys)))
    write_user_words(session.connection(), keys)
    _add_rights(session, people)
    deactivated = [
        key for key, row in before.items() if row.is_active and not people[key].is_active
    ]
    sign_out(ports, session, deactivated)
    trusted = [
        key
        for key, row in before.items()
        if people[key].is_confirmed > row.is_confirmed or people[key].is_staff > row.is_staff
    ]
    _end_unverified_sessions(session, trusted)


@building_block
def sign_out(ports: Ports, session: Session, keys: Collection[int]) -> None:
    """End all sessions of these users, and their providers' tokens."""
    if not keys:
        return
    session.execute(delete(models.Session).where(models.Session.user_id.in_(keys)))
    session.execute(
        update(models.User)
        .where(models.User.id.in_(keys))
        .values(tokens_valid_after=ports.clock.now())
    )


def _end_unverified_sessions(session: Session, keys: Collection[int]) -> None:
    """End sessions of identities that claimed the email of who is trusted from now on."""
    identity = models.ExternalIdentity
    unverified = select(identity.id).where(
        identity.user_id.in_(keys), identity.is_verified.is_(False)
    )
    session.execute(delete(models.Session).where(models.Session.identity_id.in_(unverified)))


@building_block
def read_people(session: Session, keys: Collection[int]) -> Mapping[int, dict[str, object]]:
    """Return people as they are here, in the shape of ``ImportedPerson``."""
    columns = [getattr(models.User, name) for name in _COLUMNS]
    found: dict[int, dict[str, object]] = {
        row[0]: dict(zip(_COLUMNS, row[1:], strict=True))
        for row in session.execute(
            select(models.User.id, *columns).where(models.User.id.in_(keys))
        )
    }
    permissions = select(models.UserPermission.user_id, models.UserPermission.permission)
    groups = select(models.GroupMember.user_id, models.GroupMember.group_id)
    rights = (
        ("permissions", permissions.where(models.UserPermission.user_id.in_(keys))),
        ("groups", groups.where(models.GroupMember.user_id.in_(keys))),
    )
    for name, query in rights:
        held: dict[int, list[str | int]] = {key: [] for key in found}
        for key, value in session.execute(query):
            held[key].append(value)
        for key, values in held.items():
            found[key][name] = sorted(values)
    return found


@building_block
def password_values(import_id: int, key: int, password: ImportedPassword) -> dict[str, object]:
    """Return the row of ``imported_passwords`` for a password as the import writes it."""
    return {
        "user_id": key,
        "import_id": import_id,
        "state": password.state.value,
        "source_digest": digest_of_text(password.mark),
        "written_digest": digest_of_text(password.password_hash or ""),
    }


def _find_keys(session: Session, emails: Sequence[str]) -> list[int]:
    """Return the IDs of new people: RETURNING takes a statement for each person on SQLite."""
    query = select(models.User.email, models.User.id).where(models.User.email.in_(emails))
    found = {row.email: row.id for row in session.execute(query)}
    return [found[email] for email in emails]


def _user_values(new: NewPerson) -> dict[str, object]:
    state = state_of(new.person)
    values = {name: state[name] for name in _COLUMNS}
    values |= {
        "updated_at": new.updated_at,
        "last_login": new.last_login,
        "password_hash": new.password.password_hash,
    }
    return values if new.key is None else {"id": new.key, **values}


def _changed_values(new: NewPerson, last_login: datetime | None) -> dict[str, object]:
    state = state_of(new.person)
    logins = (new.last_login, last_login)
    return {
        **{f"new_{name}": state[name] for name in _COLUMNS},
        "new_last_login": max((moment for moment in logins if moment), default=None),
        "new_updated_at": new.updated_at,
        "key": new.key,
    }


def _add_rights(session: Session, people: Mapping[int, ImportedPerson]) -> None:
    permissions = [
        {"user_id": key, "permission": name}
        for key, person in people.items()
        for name in person.permissions
    ]
    groups = [
        {"user_id": key, "group_id": group}
        for key, person in people.items()
        for group in person.groups
    ]
    insert_rows(session, models.UserPermission, permissions)
    insert_rows(session, models.GroupMember, groups)


def _add_passwords(
    session: Session, import_id: int, written: Sequence[tuple[int, NewPerson]]
) -> None:
    values = [password_values(import_id, key, new.password) for key, new in written]
    insert_rows(session, models.ImportedPassword, values)
