"""Read permission groups, and write them and their members within a transaction."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import (
    Actor,
    channel_problem,
    is_manageable,
    manage_problem,
    reaches_channels,
)
from app.domain.authorization.permissions import PermissionGroup
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import parse_id, to_global_id
from app.ports import NamedRow
from app.services.authorization import session_rights
from app.services.authorization.register import building_block
from app.services.lists.paging import record_from

MEMBERS = (
    select(func.count())
    .select_from(models.GroupMember)
    .where(models.GroupMember.group_id == models.Group.id)
    .scalar_subquery()
)
"""How many are in the group of ``models.Group``."""
GROUPS: Select[*tuple[object, ...]] = select(
    models.Group.id,
    models.Group.name,
    session_rights.GROUP_PERMISSIONS.label("permissions"),
    MEMBERS.label("members"),
    session_rights.GROUP_CHANNELS.label("channel_ids"),
)
"""What ``to_group`` expects."""


@building_block
def to_group(row: NamedRow) -> PermissionGroup:
    return record_from(
        PermissionGroup,
        row,
        permissions=session_rights.read_permissions(row.permissions),
        channel_ids=session_rights.read_channels(row.channel_ids),
    )


@building_block
def load_group(session: Session, group_id: int) -> PermissionGroup:
    """The group with that key, as this transaction has left it; refuses NOT_FOUND on ``id``."""
    session.flush()
    row = session.execute(GROUPS.where(models.Group.id == group_id)).one_or_none()
    if row is None:
        raise Refused(Problem("NOT_FOUND", "There is no such group.", "id"))
    return to_group(row)


@building_block
def group_snapshot(group: PermissionGroup, members: Iterable[int]) -> dict[str, object]:
    names = sorted(permission.value for permission in group.permissions)
    return {
        "id": group.id,
        "name": group.name,
        "permissions": names,
        "channel_ids": None if group.channel_ids is None else sorted(group.channel_ids),
        "users": sorted(members),
    }


@building_block
def load_manageable_group(actor: Actor, session: Session, group_id: int) -> PermissionGroup:
    """Return the group with that key.

    Refuses on ``id``: NOT_FOUND, OUT_OF_SCOPE_PERMISSION, OUT_OF_SCOPE_CHANNEL.
    """
    group = load_group(session, group_id)
    refuse_any(manage_problem(actor, group.permissions), channel_problem(actor, group.channel_ids))
    return group


@building_block
def existing_channels(session: Session, ids: Collection[str], field: str) -> frozenset[int]:
    """Return the keys of the channels with these global IDs, locked against deletion.

    Refuses NOT_FOUND on ``field``, naming the channels.
    """
    keys = {id_: parse_id(id_, "Channel") for id_ in ids}
    wanted = sorted({key for key in keys.values() if key is not None})
    query = (
        select(models.Channel.id).where(models.Channel.id.in_(wanted)).order_by(models.Channel.id)
    )
    found = set(session.scalars(query.with_for_update(read=True, key_share=True)))
    missing = tuple(id_[:80] for id_, key in keys.items() if key not in found)
    if missing:
        values = {"names": ", ".join(missing[:5])}
        problem = Problem("NOT_FOUND", "No channel {names}.", field, values=values)
        raise Refused(replace(problem, channels=missing))
    return frozenset(found)


MAX_IDS = 1000
"""How many people, or groups, one change may name."""


@building_block
def manageable_groups(
    actor: Actor, session: Session, ids: Collection[str], field: str
) -> frozenset[int]:
    """Return the keys of the groups with these global ids.

    Refuses on ``field``, naming the groups: NOT_FOUND, and OUT_OF_SCOPE_GROUP for those that can
    do more than ``actor``, or the same in more channels.
    """
    keys, problems = _keys(ids, "Group", field)
    rows = session.execute(GROUPS.where(models.Group.id.in_(keys.values())))
    found = {group.id: group for group in map(to_group, rows)}
    missing = [name for name, key in keys.items() if key not in found]
    if missing:
        problems.append(_missing("Group", missing, field))
    beyond = tuple(
        name for name, key in keys.items() if key in found and not _manages(actor, found[key])
    )
    if beyond:
        message = "You can't manage a group with permissions or channels that you don't have."
        problems.append(Problem("OUT_OF_SCOPE_GROUP", message, field, groups=beyond))
    refuse_any(*problems)
    return frozenset(keys.values())


@building_block
def manageable_staff(
    actor: Actor, session: Session, ids: Collection[str], field: str, *, adding: bool
) -> frozenset[int]:
    """Return the keys of the people with these global ids.

    Refuses on ``field``, naming the people: NOT_FOUND; ASSIGN_NON_STAFF_MEMBER for customers when
    ``adding``; else OUT_OF_SCOPE_USER for those with permissions that ``actor`` lacks. Adding a
    person gives them the group's permissions, so only these must be the caller's.
    """
    keys, problems = _keys(ids, "User", field)
    found = _users(session, keys.values())
    missing = [name for name, key in keys.items() if key not in found]
    if missing:
        problems.append(_missing("User", missing, field))
    customers = _names(user for user in found.values() if not user.is_staff)
    if adding and customers:
        message = "You can assign only staff members."
        problems.append(Problem("ASSIGN_NON_STAFF_MEMBER", message, field, users=customers))
    beyond = _names(user for user in found.values() if not _manages(actor, user))
    if beyond and not adding:
        message = "You can't manage these users: they have permissions that you don't have."
        problems.append(Problem("OUT_OF_SCOPE_USER", message, field, users=beyond))
    refuse_any(*problems)
    return frozenset(found)


@building_block
@contextmanager
def guard_channels(
    actor: Actor, session: Session, user_ids: Collection[int], field: str
) -> Iterator[None]:
    """Refuse OUT_OF_SCOPE_USER on ``field`` if the block changes channels beyond ``actor``.

    Permissions hold in a person's channels. Everyone whose channels change must be manageable by
    ``actor`` before and after, or someone with fewer rights could withdraw or extend access.
    """
    before = _users(session, user_ids)
    yield
    after = _users(session, user_ids)
    beyond = _names(
        user
        for key, user in before.items()
        if user.channel_ids != after[key].channel_ids
        and not (_manages(actor, user) and _manages(actor, after[key]))
    )
    if beyond:
        message = (
            "You can't change the channels of these users: they have permissions or channels"
            " that you don't have."
        )
        raise Refused(Problem("OUT_OF_SCOPE_USER", message, field, users=beyond))


def _keys(
    ids: Collection[str], type_name: str, field: str
) -> tuple[dict[str, int], list[Problem]]:
    """Return the key of each id once, and the problems of the others."""
    if len(ids) > MAX_IDS:
        values = {"max_ids": MAX_IDS}
        raise Refused(Problem("INVALID", "Use at most {max_ids} at once.", field, values=values))
    keys = {id_: parse_id(id_, type_name) for id_ in ids}
    good = {to_global_id(type_name, key): key for key in keys.values() if key is not None}
    bad = [id_ for id_, key in keys.items() if key is None]
    return good, [_missing(type_name, bad, field)] if bad else []


def _missing(type_name: str, ids: list[str], field: str) -> Problem:
    names = tuple(id_[:80] for id_ in ids)
    values = {"names": ", ".join(names[:5])}
    if type_name == "Group":
        return Problem("NOT_FOUND", "No group {names}.", field, groups=names, values=values)
    return Problem("NOT_FOUND", "No user {names}.", field, users=names, values=values)


def _users(session: Session, keys: Collection[int]) -> dict[int, User]:
    """Return the people with these keys, as this transaction has left them."""
    session.flush()
    rows = session.execute(select(*session_rights.USER_COLUMNS).where(models.User.id.in_(keys)))
    return {user.id: user for user in map(session_rights.read_user, rows)}


def _manages(actor: Actor, held: User | PermissionGroup) -> bool:
    return is_manageable(actor, held.permissions) and reaches_channels(actor, held.channel_ids)


def _names(users: Iterable[User]) -> tuple[str, ...]:
    return tuple(to_global_id("User", user.id) for user in users)
