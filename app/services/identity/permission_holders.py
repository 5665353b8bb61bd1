"""Who holds permissions: keep each manageable, tell who can grant them, and write memberships."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, Select, delete, func, literal, or_, select, union
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.staff import unmanageable_problem
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import (
    ALL_PERMISSIONS,
    Permission,
    in_order,
    known_permissions,
)
from app.domain.values.errors import refuse_any
from app.models.json_arrays import json_array_text
from app.models.record import insert_into
from app.ports import Ports
from app.services.authorization.register import building_block, staff_only
from app.services.lists.paging import columns_for, record_from


@building_block
def lock_grants(session: Session) -> None:
    """Lock permission changes until the transaction of ``session`` ends.

    To be called before anything is read: of two concurrent removals the second must see the first.
    The shop's row is locked before any person's.
    """
    session.get_one(models.Shop, models.SHOP_ID, with_for_update=True)


@building_block
@contextmanager
def prevent_unmanageable(actor: Actor, session: Session, field: str) -> Iterator[None]:
    """Refuse LEFT_NOT_MANAGEABLE_PERMISSION on ``field`` if the block causes it.

    Not for the operator, who can grant anything. Call ``lock_grants`` first.
    """
    before = _manageable(session)
    yield
    problem = unmanageable_problem(before, _manageable(session), field)
    if not actor.is_trusted:
        refuse_any(problem)


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """The keys of a person's groups ``before``, and the groups that change, each with its name.

    ``kept`` are those that they would leave if each permission stayed manageable.
    """

    before: frozenset[int]
    joins: Mapping[int, str]
    leaves: Mapping[int, str]
    kept: Mapping[int, str]


@building_block
def find_group_changes(
    session: Session, user_id: int | None, joining: Collection[str], leaving: Collection[str]
) -> GroupChanges:
    """Return which groups of these names staff would join and leave.

    ``None`` is someone who isn't staff yet: they are in no group. A group that doesn't exist is
    left out. To carry it out, call ``lock_grants`` first.
    """
    found = session.execute(
        select(models.Group.id, models.Group.name).where(
            models.Group.name.in_({*joining, *leaving})
        )
    )
    names = {group.id: group.name for group in found}
    of_person = models.GroupMember.user_id == user_id
    before = frozenset(session.scalars(select(models.GroupMember.group_id).where(of_person)))
    joins = {key: name for key, name in names.items() if name in joining and key not in before}
    leaves = {key: name for key, name in names.items() if name in leaving and key in before}
    kept = _groups_to_keep(session, user_id, joins, leaves) if user_id and leaves else frozenset()
    return GroupChanges(
        before,
        joins,
        {key: name for key, name in leaves.items() if key not in kept},
        {key: leaves[key] for key in kept},
    )


def _groups_to_keep(
    session: Session, user_id: int, joins: Collection[int], leaves: Collection[int]
) -> frozenset[int]:
    """Return those of ``leaves`` that staff can't leave, also once they have joined ``joins``.

    No one could manage what is lost with them.
    """
    before = _manageable(session, _members(user_id, joins, ()))
    left: set[int] = set()
    for group in sorted(leaves):
        after = _manageable(session, _members(user_id, joins, {*left, group}))
        if unmanageable_problem(before, after, "groups") is None:
            left.add(group)
    return frozenset(leaves) - left


def _members(user_id: int, joins: Collection[int], leaves: Collection[int]) -> FromClause:
    """Return the memberships as they are once a person has joined and left these groups."""
    member = models.GroupMember
    kept = select(member.user_id, member.group_id).where(
        or_(member.user_id != user_id, member.group_id.not_in(leaves))
    )
    joined = select(literal(user_id), models.Group.id).where(models.Group.id.in_(joins))
    return union(kept, joined).subquery()


_STORED = models.GroupMember.__table__


@building_block
def is_last_manager(session: Session, user: User) -> bool:
    """Whether ``user`` can manage staff and no other active person can."""
    if not (user.is_staff and user.is_active and Permission.MANAGE_STAFF in user.permissions):
        return False
    return session.scalar(_managers().where(models.User.id != user.id).limit(1)) is None


def _managers(members: FromClause = _STORED) -> Select[int]:
    return (
        select(models.User.id)
        .where(models.User.is_staff, models.User.is_active)
        .where(
            or_(
                models.User.is_superuser,
                models.User.id.in_(holder_ids(Permission.MANAGE_STAFF, members)),
            )
        )
    )


def _manageable(session: Session, members: FromClause = _STORED) -> frozenset[Permission]:
    """Return the permissions that active staff with MANAGE_STAFF hold together."""
    session.flush()
    managers = _managers(members)
    superuser = managers.where(models.User.is_superuser).limit(1)
    if session.scalar(superuser) is not None:
        return ALL_PERMISSIONS
    direct = select(models.UserPermission.permission).where(
        models.UserPermission.user_id.in_(managers)
    )
    by_group = (
        select(models.GroupPermission.permission)
        .join(members, members.c.group_id == models.GroupPermission.group_id)
        .where(members.c.user_id.in_(managers))
    )
    return known_permissions(list(session.scalars(union(direct, by_group))))


@building_block
def holder_ids(permission: Permission, members: FromClause = _STORED) -> Select[int]:
    """The keys of people who hold ``permission`` directly or by a group; superusers aside."""
    direct = select(models.UserPermission.user_id).where(
        models.UserPermission.permission == permission.value
    )
    by_group = (
        select(members.c.user_id)
        .join(models.GroupPermission, models.GroupPermission.group_id == members.c.group_id)
        .where(models.GroupPermission.permission == permission.value)
    )
    return select(union(direct, by_group).subquery().c.user_id)


@building_block
def join(session: Session, *, users: Iterable[int], groups: Iterable[int]) -> None:
    """Make ``users`` members of ``groups``; existing memberships stay, whoever makes them."""
    groups = sorted(set(groups))
    rows = [{"user_id": user, "group_id": key} for user in sorted(set(users)) for key in groups]
    if not rows:
        return
    session.flush()
    session.execute(insert_into(session, models.GroupMember).on_conflict_do_nothing(), rows)


@building_block
def leave(session: Session, *, users: Iterable[int], groups: Iterable[int]) -> None:
    groups = list(groups)
    if not groups:
        return
    session.execute(
        delete(models.GroupMember).where(
            models.GroupMember.user_id.in_(list(users)), models.GroupMember.group_id.in_(groups)
        )
    )


NO_RIGHTS: Mapping[str, object] = {"groups": [], "permissions": [], "is_superuser": False}
"""What is left after ``take_left_rights``, as the audit log has it."""


@building_block
def take_left_rights(session: Session, user: models.User) -> dict[str, object]:
    """Take the groups, permissions and superuser's mark that are left of a former staff member.

    They count for nothing, and would count again with the role. Return what was taken, by name.
    """
    member, held = models.GroupMember, models.UserPermission
    groups = delete(member).where(member.user_id == user.id).returning(member.group_id)
    permissions = delete(held).where(held.user_id == user.id).returning(held.permission)
    left = {
        "groups": sorted(session.scalars(groups)),
        "permissions": sorted(session.scalars(permissions)),
        "is_superuser": user.is_superuser,
    }
    user.is_superuser = False
    return {name: value for name, value in left.items() if value}


NAMED = 5
"""How many people are named: more don't help."""


@dataclass(frozen=True, slots=True)
class PermissionGranter:
    """A staff member who can grant missing permissions; ``groups`` are their groups' names.

    ``last_used_at`` is the last use of an open session.
    """

    id: int
    email: str
    first_name: str
    last_name: str
    groups: tuple[str, ...]
    last_used_at: datetime | None

    @property
    def name(self) -> str:
        """The person's name, or else their email."""
        return f"{self.first_name} {self.last_name}".strip() or self.email


@staff_only
def list_permission_granters(
    ports: Ports, actor: Actor, missing: Collection[Permission]
) -> tuple[PermissionGranter, ...]:
    """Return up to five staff who can grant all of ``missing``, the most recently seen first.

    They manage staff and hold the permissions themselves; never the caller. One statement. A
    server administrator can always grant them too.
    """
    needed = in_order(frozenset((*missing, Permission.MANAGE_STAFF)))
    session = models.Session
    last_used = (
        select(func.max(session.last_used_at))
        .where(session.user_id == models.User.id, session.expires_at > ports.clock.now())
        .scalar_subquery()
    )
    groups = (
        select(json_array_text(models.Group.name))
        .join(models.GroupMember, models.GroupMember.group_id == models.Group.id)
        .where(models.GroupMember.user_id == models.User.id)
        .scalar_subquery()
    )
    query = (
        select(
            *columns_for(PermissionGranter, models.User),
            groups.label("groups"),
            last_used.label("last_used_at"),
        )
        .where(
            models.User.is_staff,
            models.User.is_active,
            models.User.id != (actor.user_id or 0),
            *(_holds(permission) for permission in needed),
        )
        .order_by(last_used.desc().nulls_last(), models.User.id)
        .limit(NAMED)
    )
    with ports.database.reading() as reading:
        rows = reading.execute(query).all()
    return tuple(
        record_from(PermissionGranter, row, groups=tuple(sorted(json.loads(row.groups))))
        for row in rows
    )


def _holds(permission: Permission) -> ColumnElement[bool]:
    return or_(models.User.is_superuser, models.User.id.in_(holder_ids(permission)))
