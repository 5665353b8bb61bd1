"""People, as the staff manages them: how they are made."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.actor import Actor
from app.domain.emails import email_problem, normalize_email
from app.domain.errors import Problem, Refused
from app.domain.events import CustomerCreated, StaffCreated
from app.domain.grants import grant_problem, holds_everything, is_within_reach
from app.domain.ids import to_global_id
from app.domain.passwords import own_words, password_problems
from app.domain.permissions import Permission, known
from app.domain.texts import line_problem
from app.domain.users import User
from app.models import (
    GroupMemberRecord,
    GroupPermissionRecord,
    GroupRecord,
    UserPermissionRecord,
    UserRecord,
)
from app.ports import Ports
from app.services.access import requires
from app.services.audit import Change, record
from app.services.callers import USER_COLUMNS, read_user
from app.services.outbox import put_event
from app.services.reach import require_reach

_LONGEST_NAME = 256
_ALWAYS = ("PASSWORD_TOO_SHORT", "INVALID")
_UNIQUE = Problem("UNIQUE", "Somebody with this email exists already.", "email")


@dataclass(frozen=True, slots=True)
class NewUser:
    """Somebody to be added, active and confirmed; ``groups`` by key, no ``password`` for none."""

    email: str
    first_name: str = ""
    last_name: str = ""
    is_staff: bool = False
    is_superuser: bool = False
    permissions: frozenset[Permission] = frozenset()
    groups: frozenset[int] = frozenset()
    password: str | None = field(default=None, repr=False)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def create_user(ports: Ports, actor: Actor, new: NewUser) -> User:
    """Add somebody: staff needs MANAGE_STAFF, a customer MANAGE_USERS.

    Refuses INVALID, REQUIRED and UNIQUE on ``email``, a weak ``password`` (from the operator a
    short one alone), INVALID on names and for a customer with permissions;
    OUT_OF_SCOPE_PERMISSION and OUT_OF_SCOPE_GROUP for what the caller does not hold,
    OUT_OF_SCOPE_USER for a superuser made by anybody else.
    """
    require_reach(actor, is_staff=_is_staff(new))
    email = normalize_email(new.email)
    problems = _problems(actor, email, new)
    if problems:
        raise Refused(*problems)
    hashed = None if new.password is None else ports.passwords.hash(new.password)
    try:
        with ports.database.transaction() as session:
            return _store(ports, actor, session, email, new, hashed)
    except IntegrityError:
        with ports.database.reading() as session:
            if _is_taken(session, email):  # somebody else was quicker by a moment
                raise Refused(_UNIQUE) from None
        raise


def _is_staff(new: NewUser) -> bool:
    return new.is_staff or new.is_superuser


def _problems(actor: Actor, email: str, new: NewUser) -> list[Problem]:
    found: list[Problem | None] = [email_problem(email)]
    if new.password is not None:
        words = own_words(email, new.first_name, new.last_name)
        weak = password_problems(new.password, words=words)
        # Whoever holds the shell may hand out a password that is easily guessed, but no short one.
        found += [one for one in weak if not actor.is_trusted or one.code in _ALWAYS]
    found.append(line_problem(new.first_name, "firstName", longest=_LONGEST_NAME))
    found.append(line_problem(new.last_name, "lastName", longest=_LONGEST_NAME))
    if (new.permissions or new.groups) and not _is_staff(new):
        found.append(Problem("INVALID", "Only staff can hold permissions.", "isStaff"))
    if new.is_superuser and not holds_everything(actor):
        message = "Only somebody with every permission can make a superuser."
        found.append(Problem("OUT_OF_SCOPE_USER", message, "isSuperuser"))
    found.append(grant_problem(actor, new.permissions, "addPermissions"))
    return [problem for problem in found if problem is not None]


def _store(
    ports: Ports, actor: Actor, session: Session, email: str, new: NewUser, hashed: str | None
) -> User:
    if _is_taken(session, email):
        raise Refused(_UNIQUE)
    _check_groups(actor, session, new.groups)
    now = ports.clock.now()
    user = UserRecord(
        email=email,
        password_hash=hashed,
        first_name=new.first_name,
        last_name=new.last_name,
        is_staff=_is_staff(new),
        is_superuser=new.is_superuser,
        date_joined=now,
        updated_at=now,
    )
    session.add(user)
    session.flush()
    session.add_all(
        UserPermissionRecord(user_id=user.id, permission=one.value) for one in new.permissions
    )
    session.add_all(GroupMemberRecord(user_id=user.id, group_id=group) for group in new.groups)
    session.flush()
    event = StaffCreated(user.id) if user.is_staff else CustomerCreated(user.id)
    put_event(ports, actor, session, event)
    after = {
        "is_staff": user.is_staff,
        "is_superuser": user.is_superuser,
        "permissions": sorted(one.value for one in new.permissions),
        "groups": sorted(new.groups),
        "has_password": hashed is not None,
    }
    record(ports, actor, session, Change("user.create", "User", user.id, email, after=after))
    return read_user(session.execute(select(*USER_COLUMNS).where(UserRecord.id == user.id)).one())


def _is_taken(session: Session, email: str) -> bool:
    return session.scalar(select(UserRecord.id).where(UserRecord.email == email)) is not None


def _check_groups(actor: Actor, session: Session, wanted: Iterable[int]) -> None:
    """Refuse groups that do not exist, and those that can do more than ``actor``."""
    groups = frozenset(wanted)
    granted: dict[int, set[str]] = {}
    rows = session.execute(
        select(GroupRecord.id, GroupPermissionRecord.permission)
        .outerjoin(GroupPermissionRecord, GroupPermissionRecord.group_id == GroupRecord.id)
        .where(GroupRecord.id.in_(groups))
    )
    for group, permission in rows:
        granted.setdefault(group, set()).update([permission] if permission else [])
    missing = _ids(groups - granted.keys())
    if missing:
        message = f"There is no group {', '.join(missing)}."
        raise Refused(Problem("NOT_FOUND", message, "addGroups", groups=missing))
    beyond = _ids(
        key for key, names in granted.items() if not is_within_reach(actor, known(names))
    )
    if beyond:
        message = "You can't add a group whose permissions you don't have."
        raise Refused(Problem("OUT_OF_SCOPE_GROUP", message, "addGroups", groups=beyond))


def _ids(keys: Iterable[int]) -> tuple[str, ...]:
    return tuple(to_global_id("Group", key) for key in sorted(keys))
