"""Change and delete permission groups, within the caller's permissions."""

from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.accounts.staff import duplicate_problem, last_group_problem
from app.domain.authorization.actor import Actor, grant_problem, withdrawal_problem
from app.domain.authorization.permissions import Permission, PermissionGroup
from app.domain.events import PermissionGroupDeleted, PermissionGroupUpdated
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.inputs import ABSENT, Absent
from app.models import GroupMemberRecord, GroupPermissionRecord, GroupRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, requires_person
from app.services.outbox.publisher import add_event
from app.services.people.memberships import join, leave, manageable_staff
from app.services.people.permission_holders import lock_grants, prevent_unmanageable
from app.services.people.stored_groups import (
    UNIQUE,
    add_group_permissions,
    group_snapshot,
    is_taken,
    load_group,
    load_manageable_group,
    name_problem,
)


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """A change of a group; users by global id. ``ABSENT`` keeps the name."""

    name: str | Absent = ABSENT
    add_permissions: frozenset[Permission] = frozenset()
    remove_permissions: frozenset[Permission] = frozenset()
    add_users: tuple[str, ...] = ()
    remove_users: tuple[str, ...] = ()


def _gives(_ports: Ports, _actor: Actor, group_id: str, changes: GroupChanges) -> bool:
    return bool(changes.add_permissions or changes.add_users)


@fresh_proof("when it adds permissions or members", _gives)
@requires_person(Permission.MANAGE_STAFF)
def update_group(
    ports: Ports, actor: Actor, group_id: str, changes: GroupChanges
) -> PermissionGroup:
    """Change a group (`permissionGroupUpdate`); all of ``changes`` or, when refused, nothing.

    Refuses NOT_FOUND on ``id``, and OUT_OF_SCOPE_PERMISSION for a group that can do more than the
    caller; DUPLICATED_INPUT_ITEM on ``permissions`` and ``users`` for what is both added and
    removed; REQUIRED, INVALID and UNIQUE on ``name``; OUT_OF_SCOPE_PERMISSION on
    ``addPermissions`` and ``removePermissions``; on ``addUsers`` and ``removeUsers`` what
    ``manageable_staff`` refuses; CANNOT_REMOVE_FROM_LAST_GROUP on ``removeUsers`` for the caller;
    LEFT_NOT_MANAGEABLE_PERMISSION on ``removePermissions`` and ``removeUsers``.
    """
    key = key_of(group_id, "Group")
    name = changes.name if isinstance(changes.name, Absent) else changes.name.strip()
    problems = _problems(actor, name, changes)
    refuse_any(*problems)
    try:
        return _update(ports, actor, key, name, changes)
    except IntegrityError:
        with ports.database.reading() as session:
            if not isinstance(name, Absent) and is_taken(session, name):
                raise Refused(UNIQUE) from None
        raise


@requires_person(Permission.MANAGE_STAFF)
def delete_group(ports: Ports, actor: Actor, group_id: str) -> PermissionGroup:
    """Delete a group (`permissionGroupDelete`) and return what it was.

    Refuses on ``id``: NOT_FOUND, OUT_OF_SCOPE_PERMISSION for a group that can do more than the
    caller, CANNOT_REMOVE_FROM_LAST_GROUP, LEFT_NOT_MANAGEABLE_PERMISSION.
    """
    key = key_of(group_id, "Group")
    with ports.database.transaction() as session:
        lock_grants(session)
        group = load_manageable_group(actor, session, key)
        members = _members(session, key)
        with prevent_unmanageable(actor, session, "id"):
            session.delete(session.get_one(GroupRecord, key))
        if actor.user_id in members:
            _require_another_group(actor, session, "id")
        snapshot = group_snapshot(group, members)
        add_event(ports, actor, session, PermissionGroupDeleted(key, snapshot=snapshot))
        before = {name: snapshot[name] for name in ("permissions", "users")}
        change = Change("group.delete", "Group", key, group.name, before=before)
        record(ports, actor, session, change)
        return group


def _problems(actor: Actor, name: str | Absent, changes: GroupChanges) -> list[Problem]:
    added, removed = changes.add_permissions, changes.remove_permissions
    problems = [
        duplicate_problem(added, removed, "permissions", "permissions"),
        duplicate_problem(changes.add_users, changes.remove_users, "users", "users"),
        None if isinstance(name, Absent) else name_problem(name),
        grant_problem(actor, added, "addPermissions"),
        withdrawal_problem(actor, removed, "removePermissions"),
    ]
    return [problem for problem in problems if problem is not None]


def _update(
    ports: Ports, actor: Actor, key: int, name: str | Absent, changes: GroupChanges
) -> PermissionGroup:
    with ports.database.transaction() as session:
        lock_grants(session)
        group = load_manageable_group(actor, session, key)
        before: dict[str, object] = {}
        after: dict[str, object] = {}
        if not isinstance(name, Absent) and name != group.name:
            if is_taken(session, name):
                raise Refused(UNIQUE)
            session.get_one(GroupRecord, key).name = name
            before["name"], after["name"] = group.name, name
        granted = _change_permissions(actor, session, group, changes)
        if granted != group.permissions:
            before["permissions"] = sorted(permission.value for permission in group.permissions)
            after["permissions"] = sorted(permission.value for permission in granted)
        old_members = _members(session, key)
        members = _change_members(actor, session, key, changes, old_members)
        if members != old_members:
            before["users"], after["users"] = sorted(old_members), sorted(members)
        changed = load_group(session, key)
        if after:
            add_event(ports, actor, session, PermissionGroupUpdated(key))
            change = Change("group.update", "Group", key, changed.name, before, after)
            record(ports, actor, session, change)
        return changed


def _change_permissions(
    actor: Actor, session: Session, group: PermissionGroup, changes: GroupChanges
) -> frozenset[Permission]:
    add_group_permissions(session, group.id, changes.add_permissions - group.permissions)
    going = changes.remove_permissions & group.permissions
    if going:
        with prevent_unmanageable(actor, session, "removePermissions"):
            session.execute(
                delete(GroupPermissionRecord).where(
                    GroupPermissionRecord.group_id == group.id,
                    GroupPermissionRecord.permission.in_(
                        [permission.value for permission in going]
                    ),
                )
            )
    return (group.permissions | changes.add_permissions) - going


def _change_members(
    actor: Actor, session: Session, key: int, changes: GroupChanges, members: frozenset[int]
) -> frozenset[int]:
    # Both are looked up before either is done: what one joins by this does not stop the other.
    joining = manageable_staff(actor, session, changes.add_users, "addUsers", adding=True)
    leaving = manageable_staff(actor, session, changes.remove_users, "removeUsers", adding=False)
    leaving &= members
    join(session, users=joining, groups=[key])
    if leaving:
        with prevent_unmanageable(actor, session, "removeUsers"):
            leave(session, users=leaving, groups=[key])
        if actor.user_id in leaving:
            _require_another_group(actor, session, "removeUsers")
    return (members | joining) - leaving


def _members(session: Session, key: int) -> frozenset[int]:
    members = select(GroupMemberRecord.user_id).where(GroupMemberRecord.group_id == key)
    return frozenset(session.scalars(members))


def _require_another_group(actor: Actor, session: Session, field: str) -> None:
    mine = select(func.count()).where(GroupMemberRecord.user_id == actor.user_id)
    problem = last_group_problem(actor, session.scalar(mine) or 0, field)
    if problem is not None:
        raise Refused(problem)
