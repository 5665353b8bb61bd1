"""Read permission groups, and write them and their members within a transaction."""

from collections.abc import Collection, Iterable

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, is_manageable, manage_problem
from app.domain.authorization.permissions import Permission, PermissionGroup, known
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import parse_global_id, parse_key, to_global_id
from app.domain.values.text_rules import line_problem
from app.models import GroupMemberRecord, GroupPermissionRecord, GroupRecord, UserRecord
from app.ports import NamedRow
from app.services.authorization.register import part
from app.services.authorization.session_rights import (
    GROUP_PERMISSIONS,
    USER_COLUMNS,
    read_permissions,
    read_user,
)
from app.services.lists.paging import record_from

_MAX_NAME_LENGTH = 150
UNIQUE = Problem("UNIQUE", "Group with this name already exists.", "name")

MEMBERS = (
    select(func.count())
    .select_from(GroupMemberRecord)
    .where(GroupMemberRecord.group_id == GroupRecord.id)
    .scalar_subquery()
)
"""How many are in the group of ``GroupRecord``."""
GROUPS: Select[*tuple[object, ...]] = select(
    GroupRecord.id,
    GroupRecord.name,
    GROUP_PERMISSIONS.label("permissions"),
    MEMBERS.label("members"),
)
"""What ``to_group`` expects."""


@part
def to_group(row: NamedRow) -> PermissionGroup:
    """The group in a row of ``GROUPS``."""
    return record_from(PermissionGroup, row, permissions=read_permissions(row.permissions))


@part
def load_group(session: Session, group_id: int) -> PermissionGroup:
    """The group with that key, as this transaction has left it; refuses NOT_FOUND on ``id``."""
    session.flush()
    row = session.execute(GROUPS.where(GroupRecord.id == group_id)).one_or_none()
    if row is None:
        raise Refused(Problem("NOT_FOUND", "There is no such group.", "id"))
    return to_group(row)


@part
def group_snapshot(group: PermissionGroup, members: Iterable[int]) -> dict[str, object]:
    """Return the snapshot of ``group`` and its members for a deletion's event."""
    names = sorted(permission.value for permission in group.permissions)
    return {
        "id": group.id,
        "name": group.name,
        "permissions": names,
        "users": sorted(members),
    }


@part
def load_manageable_group(actor: Actor, session: Session, group_id: int) -> PermissionGroup:
    """The group with that key; refuses NOT_FOUND, and OUT_OF_SCOPE_PERMISSION, on ``id``."""
    group = load_group(session, group_id)
    problem = manage_problem(actor, group.permissions)
    if problem is not None:
        raise Refused(problem)
    return group


@part
def name_problem(name: str) -> Problem | None:
    """Why a group cannot be called that, or ``None``: REQUIRED or INVALID on ``name``."""
    if not name:
        return Problem("REQUIRED", "Give the group a name.", "name")
    return line_problem(name, "name", max_length=_MAX_NAME_LENGTH)


@part
def is_taken(session: Session, name: str) -> bool:
    """Whether a group is called exactly that."""
    return session.scalar(select(GroupRecord.id).where(GroupRecord.name == name)) is not None


@part
def add_group_permissions(
    session: Session, group_id: int, permissions: Iterable[Permission]
) -> None:
    """Add ``permissions``, which the group does not have yet."""
    session.add_all(
        GroupPermissionRecord(group_id=group_id, permission=permission.value)
        for permission in permissions
    )
    session.flush()


MAX_IDS = 1000
"""How many people, or groups, one change may name."""


@part
def manageable_groups(
    actor: Actor, session: Session, ids: Collection[str], field: str
) -> frozenset[int]:
    """The keys of the groups with these global ids.

    Refuses on ``field``, naming the groups: NOT_FOUND, and OUT_OF_SCOPE_GROUP for those that can
    do more than ``actor``.
    """
    keys, problems = _keys(ids, "Group", field)
    granted: dict[int, set[str]] = {}
    rows = session.execute(
        select(GroupRecord.id, GroupPermissionRecord.permission)
        .outerjoin(GroupPermissionRecord, GroupPermissionRecord.group_id == GroupRecord.id)
        .where(GroupRecord.id.in_(keys.values()))
    )
    for group, permission in rows:
        granted.setdefault(group, set()).update([permission] if permission else [])
    missing = [name for name, key in keys.items() if key not in granted]
    if missing:
        problems.append(_missing("Group", missing, field))
    beyond = tuple(
        name
        for name, key in keys.items()
        if key in granted and not is_manageable(actor, known(granted[key]))
    )
    if beyond:
        message = "You can't manage a group whose permissions you don't have."
        problems.append(Problem("OUT_OF_SCOPE_GROUP", message, field, groups=beyond))
    refuse_any(*problems)
    return frozenset(keys.values())


@part
def manageable_staff(
    actor: Actor, session: Session, ids: Collection[str], field: str, *, adding: bool
) -> frozenset[int]:
    """The keys of the people with these global ids.

    Refuses on ``field``, naming the people: NOT_FOUND; ASSIGN_NON_STAFF_MEMBER for customers when
    ``adding``; else OUT_OF_SCOPE_USER for those with permissions that ``actor`` lacks. Adding a
    person gives them the group's permissions, so only these must be the caller's.
    """
    keys, problems = _keys(ids, "User", field)
    rows = session.execute(select(*USER_COLUMNS).where(UserRecord.id.in_(keys.values())))
    found = {user.id: user for user in map(read_user, rows)}
    missing = [name for name, key in keys.items() if key not in found]
    if missing:
        problems.append(_missing("User", missing, field))
    customers = _names(user for user in found.values() if not user.is_staff)
    if adding and customers:
        message = "You can assign only staff members."
        problems.append(Problem("ASSIGN_NON_STAFF_MEMBER", message, field, users=customers))
    beyond = _names(user for user in found.values() if not is_manageable(actor, user.permissions))
    if beyond and not adding:
        message = "You can't manage these users: they have permissions that you don't have."
        problems.append(Problem("OUT_OF_SCOPE_USER", message, field, users=beyond))
    refuse_any(*problems)
    return frozenset(found)


@part
def join(session: Session, *, users: Iterable[int], groups: Iterable[int]) -> None:
    """Make ``users`` members of ``groups``; existing memberships stay."""
    users, groups = list(users), list(groups)
    rows = session.execute(
        select(GroupMemberRecord.user_id, GroupMemberRecord.group_id).where(
            GroupMemberRecord.user_id.in_(users), GroupMemberRecord.group_id.in_(groups)
        )
    )
    present = {(user, group) for user, group in rows}
    session.add_all(
        GroupMemberRecord(user_id=user, group_id=group)
        for user in users
        for group in groups
        if (user, group) not in present
    )
    session.flush()


@part
def leave(session: Session, *, users: Iterable[int], groups: Iterable[int]) -> None:
    """Take each of ``users`` out of each of ``groups``."""
    session.execute(
        delete(GroupMemberRecord).where(
            GroupMemberRecord.user_id.in_(list(users)),
            GroupMemberRecord.group_id.in_(list(groups)),
        )
    )


def _keys(
    ids: Collection[str], type_name: str, field: str
) -> tuple[dict[str, int], list[Problem]]:
    """Return the key of each id once, and the problems of the others."""
    if len(ids) > MAX_IDS:
        raise Refused(
            Problem(
                "INVALID", "Use at most {max_ids} at once.", field, values={"max_ids": MAX_IDS}
            )
        )
    keys = {id_: _key(id_, type_name) for id_ in ids}
    good = {to_global_id(type_name, key): key for key in keys.values() if key is not None}
    bad = [id_ for id_, key in keys.items() if key is None]
    return good, [_missing(type_name, bad, field)] if bad else []


def _key(value: str, type_name: str) -> int | None:
    parsed = parse_global_id(value)
    return parse_key(parsed[1]) if parsed is not None and parsed[0] == type_name else None


def _missing(type_name: str, ids: list[str], field: str) -> Problem:
    names = tuple(id_[:80] for id_ in ids)
    values = {"names": ", ".join(names[:5])}
    if type_name == "Group":
        return Problem("NOT_FOUND", "No group {names}.", field, groups=names, values=values)
    return Problem("NOT_FOUND", "No user {names}.", field, users=names, values=values)


def _names(users: Iterable[User]) -> tuple[str, ...]:
    return tuple(to_global_id("User", user.id) for user in users)
