"""Permission groups: made, listed, and found by name."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Row, Select, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.actor import Actor
from app.domain.errors import Problem, Refused
from app.domain.events import PermissionGroupCreated
from app.domain.grants import grant_problem
from app.domain.groups import PermissionGroup
from app.domain.pages import Page, PageRequest
from app.domain.permissions import Permission, known
from app.domain.texts import line_problem
from app.domain.users import Group
from app.models import GroupMemberRecord, GroupPermissionRecord, GroupRecord
from app.ports import Ports
from app.services.access import requires
from app.services.audit import Change, record
from app.services.outbox import put_event
from app.services.paging import Order, read_page

_LONGEST_NAME = 150
_BETWEEN = ","
_BY_NAME = Order((GroupRecord.name, GroupRecord.id))
_UNIQUE = Problem("UNIQUE", "Group with this name already exists.", "name")

_PERMISSIONS = (
    select(func.aggregate_strings(GroupPermissionRecord.permission, _BETWEEN))
    .where(GroupPermissionRecord.group_id == GroupRecord.id)
    .scalar_subquery()
)
_MEMBERS = (
    select(func.count())
    .select_from(GroupMemberRecord)
    .where(GroupMemberRecord.group_id == GroupRecord.id)
    .scalar_subquery()
)
_QUERY: Select[*tuple[object, ...]] = select(
    GroupRecord.id, GroupRecord.name, _PERMISSIONS, _MEMBERS
)


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group to be made, without members yet."""

    name: str
    permissions: frozenset[Permission] = frozenset()


@requires(Permission.MANAGE_STAFF)
def create_group(ports: Ports, actor: Actor, new: NewGroup) -> PermissionGroup:
    """Make a group (`permissionGroupCreate`).

    Refuses REQUIRED, INVALID and UNIQUE on ``name``, OUT_OF_SCOPE_PERMISSION on
    ``addPermissions`` for what the caller does not hold.
    """
    name = new.name.strip()
    problem = line_problem(name, "name", longest=_LONGEST_NAME)
    found = [problem, grant_problem(actor, new.permissions, "addPermissions")]
    if not name:
        found.append(Problem("REQUIRED", "Give the group a name.", "name"))
    problems = [problem for problem in found if problem is not None]
    if problems:
        raise Refused(*problems)
    try:
        with ports.database.transaction() as session:
            return _store(ports, actor, session, name, new.permissions)
    except IntegrityError:
        # The name is all that can clash: somebody else was quicker by a moment.
        raise Refused(_UNIQUE) from None


@requires(Permission.MANAGE_STAFF)
def list_groups(ports: Ports, actor: Actor, page: PageRequest) -> Page[PermissionGroup]:
    """The groups by name."""
    with ports.database.reading() as session:
        return read_page(ports, session, _QUERY, _BY_NAME, page, _value)


@requires(Permission.MANAGE_STAFF)
def find_groups(ports: Ports, actor: Actor, names: Iterable[str]) -> tuple[Group, ...]:
    """The groups with exactly these names; refuses NOT_FOUND on ``group`` for any other name."""
    wanted = frozenset(names)
    with ports.database.reading() as session:
        rows = session.execute(
            select(GroupRecord.id, GroupRecord.name).where(GroupRecord.name.in_(wanted))
        ).all()
    missing = sorted(wanted - {name for _, name in rows})
    if missing:
        message = f"There is no group {', '.join(repr(name) for name in missing)}."
        raise Refused(Problem("NOT_FOUND", message, "group"))
    return tuple(Group(key, name) for key, name in rows)


def _store(
    ports: Ports, actor: Actor, session: Session, name: str, permissions: frozenset[Permission]
) -> PermissionGroup:
    if session.scalar(select(GroupRecord.id).where(GroupRecord.name == name)) is not None:
        raise Refused(_UNIQUE)
    group = GroupRecord(name=name)
    session.add(group)
    session.flush()
    session.add_all(
        GroupPermissionRecord(group_id=group.id, permission=one.value) for one in permissions
    )
    put_event(ports, actor, session, PermissionGroupCreated(group.id))
    after = {"permissions": sorted(one.value for one in permissions)}
    record(ports, actor, session, Change("group.create", "Group", group.id, name, after=after))
    return PermissionGroup(group.id, name, permissions, members=0)


def _value(row: Row[*tuple[object, ...]]) -> PermissionGroup:
    key, name, permissions, members = row[:4]
    names = str(permissions).split(_BETWEEN) if permissions else ()
    return PermissionGroup(int(str(key)), str(name), known(names), int(str(members)))
