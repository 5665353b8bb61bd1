"""Permission groups: made, listed, and found by name."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import aliased

from app.domain.accounts.users import Group, User
from app.domain.authorization.actor import Actor, grant_problem
from app.domain.authorization.permissions import Permission, PermissionGroup
from app.domain.events import PermissionGroupCreated
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.pages import Page, PageRequest, empty_page
from app.domain.values.text_rules import is_storable
from app.models import GroupMemberRecord, GroupRecord, UserRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, part, requires, requires_person
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.lists.filters import contains_text, is_searchable
from app.services.lists.paging import Order, read_by_keys, read_page
from app.services.outbox.publisher import add_event
from app.services.people.memberships import MAX_IDS, join, manageable_staff
from app.services.people.permission_holders import lock_grants
from app.services.people.stored_groups import (
    GROUPS,
    MEMBERS,
    UNIQUE,
    add_group_permissions,
    is_taken,
    load_group,
    name_problem,
    to_group,
)

_BY_NAME = (GroupRecord.name, GroupRecord.id)
_BY_MEMBERS = (MEMBERS, GroupRecord.id)


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group to be made; ``users`` are global ids of its first members."""

    name: str
    permissions: frozenset[Permission] = frozenset()
    users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupFilter:
    """Conditions on groups: ``search`` in the name, global ``ids``.

    Sorted by name, or by size (``by_members``); ``descending`` reverses.
    """

    search: str = ""
    ids: tuple[str, ...] | None = None
    by_members: bool = False
    descending: bool = False


_ALL = GroupFilter()


@fresh_proof(
    "with permissions or members", lambda _ports, _actor, new: bool(new.permissions or new.users)
)
@requires_person(Permission.MANAGE_STAFF)
def create_group(ports: Ports, actor: Actor, new: NewGroup) -> PermissionGroup:
    """Make a group (`permissionGroupCreate`).

    Refuses REQUIRED, INVALID and UNIQUE on ``name``, OUT_OF_SCOPE_PERMISSION on
    ``addPermissions`` for what the caller does not hold; on ``addUsers`` what
    ``manageable_staff`` refuses.
    """
    name = new.name.strip()
    problems = [name_problem(name), grant_problem(actor, new.permissions, "addPermissions")]
    refuse_any(*problems)
    try:
        return _store(ports, actor, name, new)
    except IntegrityError:
        with ports.database.reading() as session:
            if is_taken(session, name):  # another request was quicker
                raise Refused(UNIQUE) from None
        raise


@requires(Permission.MANAGE_STAFF)
def list_groups(
    ports: Ports, actor: Actor, page: PageRequest, filter_: GroupFilter = _ALL
) -> Page[PermissionGroup]:
    """The groups (`permissionGroups`); refuses NOT_FOUND on ``ids`` for what is no id."""
    if not is_searchable(filter_.search):
        return empty_page()
    # There are few groups: reading them all is quicker than any index would be.
    query = GROUPS.where(contains_text(GroupRecord.name, filter_.search.strip()))
    if filter_.ids is not None:
        query = query.where(GroupRecord.id.in_(_keys(filter_.ids)))
    columns = _BY_MEMBERS if filter_.by_members else _BY_NAME
    order = Order(columns, descending=filter_.descending)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, to_group, select(GroupRecord.id))


@requires(Permission.MANAGE_STAFF)
def show_group(ports: Ports, actor: Actor, group_id: str) -> PermissionGroup | None:
    """The group of that global id (`permissionGroup`), ``None`` for none.

    Refuses NOT_FOUND on ``id`` for what is no id of a group.
    """
    key = key_of(group_id, "Group")
    with ports.database.reading() as session:
        row = session.execute(GROUPS.where(GroupRecord.id == key)).one_or_none()
    return None if row is None else to_group(row)


@requires(Permission.MANAGE_STAFF)
def groups_by_key(
    ports: Ports, _actor: Actor, keys: Collection[int]
) -> tuple[PermissionGroup, ...]:
    """Return the groups of those keys, in one statement."""
    return read_by_keys(ports, GROUPS, GroupRecord.id, keys, to_group)


@requires(Permission.MANAGE_STAFF)
def find_groups(ports: Ports, actor: Actor, names: Iterable[str]) -> tuple[Group, ...]:
    """The groups with exactly these names; refuses NOT_FOUND on ``group`` for any other name."""
    name_set = frozenset(names)
    with ports.database.reading() as session:
        rows = session.execute(GROUPS.where(GroupRecord.name.in_(filter(is_storable, name_set))))
        groups = [to_group(row) for row in rows]
    missing = sorted(name_set - {group.name for group in groups})
    if missing:
        message = "Group {missing} not found."
        raise Refused(
            Problem(
                "NOT_FOUND",
                message,
                "group",
                values={"missing": ", ".join(repr(name) for name in missing)},
            )
        )
    return tuple(Group(group.id, group.name, group.permissions) for group in groups)


@requires(Permission.MANAGE_STAFF)
def list_members(
    ports: Ports, actor: Actor, groups: Collection[int]
) -> Mapping[int, tuple[User, ...]]:
    """Return the members of each of these groups by the group's key, in one statement."""
    # By another name: the subqueries of a person's own groups use the table too.
    member = aliased(GroupMemberRecord)
    members = (
        select(*USER_COLUMNS, member.group_id)
        .join(member, member.user_id == UserRecord.id)
        .where(member.group_id.in_(groups))
        .order_by(UserRecord.id)
    )
    found: dict[int, list[User]] = {key: [] for key in groups}
    with ports.database.reading() as session:
        for row in session.execute(members):
            found[row.group_id].append(read_user(row))
    return {key: tuple(users) for key, users in found.items()}


@part
def all_groups(ports: Ports) -> tuple[PermissionGroup, ...]:
    """Return every group by name, for computing what a person can manage."""
    with ports.database.reading() as session:
        return tuple(map(to_group, session.execute(GROUPS.order_by(*_BY_NAME))))


def _store(ports: Ports, actor: Actor, name: str, new: NewGroup) -> PermissionGroup:
    with ports.database.transaction() as session:
        lock_grants(session)
        users = manageable_staff(actor, session, new.users, "addUsers", adding=True)
        if is_taken(session, name):
            raise Refused(UNIQUE)
        group = GroupRecord(name=name)
        session.add(group)
        session.flush()
        add_group_permissions(session, group.id, new.permissions)
        join(session, users=users, groups=[group.id])
        add_event(ports, actor, session, PermissionGroupCreated(group.id))
        after: dict[str, object] = {
            "permissions": sorted(permission.value for permission in new.permissions)
        }
        if users:
            after["users"] = sorted(users)
        record(ports, actor, session, Change("group.create", "Group", group.id, name, after=after))
        return load_group(session, group.id)


def _keys(ids: tuple[str, ...]) -> list[int]:
    if len(ids) > MAX_IDS:
        message = "Use at most {max_ids} IDs; this has {count}."
        raise Refused(
            Problem(
                "GRAPHQL_ERROR", message, "ids", values={"max_ids": MAX_IDS, "count": len(ids)}
            )
        )
    return [key_of(id_, "Group", field="ids") for id_ in ids]
