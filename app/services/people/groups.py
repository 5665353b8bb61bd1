"""Permission groups: created, listed, changed and deleted, within the caller's permissions."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from app import models
from app.domain.accounts.staff import duplicate_problem, group_name_problem, last_group_problem
from app.domain.accounts.users import Group, User
from app.domain.authorization.actor import (
    Actor,
    channel_problem,
    grant_problem,
    withdrawal_problem,
)
from app.domain.authorization.permissions import Permission, PermissionGroup
from app.domain.events import (
    PermissionGroupCreated,
    PermissionGroupDeleted,
    PermissionGroupUpdated,
)
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import filtered_keys, key_of, to_global_id
from app.domain.values.inputs import ABSENT, Absent, Seen, present, require_unchanged
from app.domain.values.pages import Page, PageRequest, empty_page
from app.domain.values.text_rules import is_storable
from app.ports import Ports
from app.services.audit.log import Change, differing, record
from app.services.authorization.register import (
    building_block,
    fresh_proof,
    requires,
    requires_person,
)
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.identity.permission_holders import join, leave, lock_grants, prevent_unmanageable
from app.services.lists.filters import contains_text, is_searchable
from app.services.lists.paging import Order, read_by_keys, read_page
from app.services.outbox.publisher import add_event
from app.services.people import stored_groups

_BY_NAME = (models.Group.name, models.Group.id)
_BY_MEMBERS = (stored_groups.MEMBERS, models.Group.id)


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group to be made; ``users`` are global ids of its first members.

    ``is_restricted``: its members have access to ``channels``, global IDs, alone.
    """

    name: str
    permissions: frozenset[Permission] = frozenset()
    users: tuple[str, ...] = ()
    is_restricted: bool = False
    channels: tuple[str, ...] = ()


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
    "You're about to create a group with permissions or members.",
    "with permissions or members",
    lambda _ports, _actor, new: bool(new.permissions or new.users),
)
@requires_person(Permission.MANAGE_STAFF)
def create_group(ports: Ports, actor: Actor, new: NewGroup) -> PermissionGroup:
    """Make a group (`permissionGroupCreate`).

    Refuses REQUIRED, INVALID and UNIQUE on ``name``, OUT_OF_SCOPE_PERMISSION on
    ``addPermissions`` for what the caller does not hold; on ``addUsers`` what
    ``manageable_staff`` and ``guard_channels`` refuse; NOT_FOUND and OUT_OF_SCOPE_CHANNEL on
    ``addChannels``, the latter on ``restrictedAccessToChannels`` for access to all channels.
    Channels of a group that isn't restricted are ignored, as in Saleor.
    """
    name = new.name.strip()
    refuse_any(group_name_problem(name), grant_problem(actor, new.permissions, "addPermissions"))
    with _name_unique(ports, name), ports.database.transaction() as session:
        lock_grants(session)
        users = stored_groups.manageable_staff(actor, session, new.users, "addUsers", adding=True)
        _require_free(session, name)
        channels = _new_channels(actor, session, new)
        group = models.Group(name=name, is_channel_restricted=new.is_restricted)
        session.add(group)
        session.flush()
        _add_permissions(session, group.id, new.permissions)
        _add_channels(session, group.id, channels or ())
        with stored_groups.guard_channels(actor, session, users, "addUsers"):
            join(session, users=users, groups=[group.id])
        add_event(ports, actor, session, PermissionGroupCreated(group.id))
        after: dict[str, object] = {
            "permissions": sorted(permission.value for permission in new.permissions)
        }
        if channels is not None:
            after["channels"] = sorted(channels)
        if users:
            after["users"] = sorted(users)
        record(ports, actor, session, Change("group.create", "Group", group.id, name, after=after))
        return stored_groups.load_group(session, group.id)


@contextmanager
def _name_unique(ports: Ports, name: str) -> Iterator[None]:
    """Refuse UNIQUE on ``name`` if another transaction took it first."""
    try:
        yield
    except IntegrityError:
        with ports.database.reading() as session:
            _require_free(session, name)
        raise


def _require_free(session: Session, name: str) -> None:
    if session.scalar(select(models.Group.id).where(models.Group.name == name)) is not None:
        raise Refused(Problem("UNIQUE", "Group with this name already exists.", "name")) from None


@requires(Permission.MANAGE_STAFF)
def list_groups(
    ports: Ports, actor: Actor, page: PageRequest, filter_: GroupFilter = _ALL
) -> Page[PermissionGroup]:
    """Return the groups (`permissionGroups`); refuses NOT_FOUND on ``ids`` for what is no id."""
    if not is_searchable(filter_.search):
        return empty_page()
    # There are few groups: reading them all is quicker than any index would be.
    query = stored_groups.GROUPS.where(contains_text(models.Group.name, filter_.search.strip()))
    if filter_.ids is not None:
        query = query.where(models.Group.id.in_(filtered_keys(filter_.ids, "Group")))
    columns = _BY_MEMBERS if filter_.by_members else _BY_NAME
    order = Order(columns, descending=filter_.descending)
    with ports.database.reading() as session:
        return read_page(
            ports, session, query, order, page, stored_groups.to_group, select(models.Group.id)
        )


@requires(Permission.MANAGE_STAFF)
def show_group(ports: Ports, actor: Actor, group_id: str) -> PermissionGroup | None:
    """Return the group of that global id (`permissionGroup`), ``None`` for none.

    Refuses NOT_FOUND on ``id`` for what is no id of a group.
    """
    key = key_of(group_id, "Group")
    with ports.database.reading() as session:
        row = session.execute(stored_groups.GROUPS.where(models.Group.id == key)).one_or_none()
    return None if row is None else stored_groups.to_group(row)


@requires(Permission.MANAGE_STAFF)
def groups_by_key(
    ports: Ports, _actor: Actor, keys: Collection[int]
) -> tuple[PermissionGroup, ...]:
    """Return the groups of those keys, in one statement."""
    return read_by_keys(ports, stored_groups.GROUPS, models.Group.id, keys, stored_groups.to_group)


@requires(Permission.MANAGE_STAFF)
def find_groups(ports: Ports, actor: Actor, names: Iterable[str]) -> tuple[Group, ...]:
    """The groups with exactly these names; refuses NOT_FOUND on ``group`` for any other name."""
    name_set = frozenset(names)
    with ports.database.reading() as session:
        rows = session.execute(
            stored_groups.GROUPS.where(models.Group.name.in_(filter(is_storable, name_set)))
        )
        groups = [stored_groups.to_group(row) for row in rows]
    missing = sorted(name_set - {group.name for group in groups})
    if missing:
        values = {"missing": ", ".join(map(repr, missing))}
        raise Refused(Problem("NOT_FOUND", "Group {missing} not found.", "group", values=values))
    return tuple(
        Group(group.id, group.name, group.permissions, group.channel_ids) for group in groups
    )


@requires(Permission.MANAGE_STAFF)
def list_members(
    ports: Ports, actor: Actor, groups: Collection[int]
) -> Mapping[int, tuple[User, ...]]:
    """Return the members of each of these groups by the group's key, in one statement."""
    # By another name: the subqueries of a person's own groups use the table too.
    member = aliased(models.GroupMember)
    members = (
        select(*USER_COLUMNS, member.group_id)
        .join(member, member.user_id == models.User.id)
        .where(member.group_id.in_(groups))
        .order_by(models.User.id)
    )
    found: dict[int, list[User]] = {key: [] for key in groups}
    with ports.database.reading() as session:
        for row in session.execute(members):
            found[row.group_id].append(read_user(row))
    return {key: tuple(users) for key, users in found.items()}


@building_block
def all_groups(ports: Ports) -> tuple[PermissionGroup, ...]:
    """Return every group by name, for computing what a person can manage."""
    with ports.database.reading() as session:
        return tuple(
            map(stored_groups.to_group, session.execute(stored_groups.GROUPS.order_by(*_BY_NAME)))
        )


def _new_channels(actor: Actor, session: Session, new: NewGroup) -> frozenset[int] | None:
    """Return the channels that a new group is restricted to, ``None`` for no restriction."""
    if not new.is_restricted:
        refuse_any(channel_problem(actor, None, "restrictedAccessToChannels"))
        return None
    channels = stored_groups.existing_channels(session, new.channels, "addChannels")
    refuse_any(channel_problem(actor, channels, "addChannels"))
    return channels


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """A change of a group; users and channels by global id. ``ABSENT`` keeps the name.

    ``is_restricted`` says whether its members have access to its channels alone; ``None`` keeps
    that. Channels of a group that isn't restricted are ignored, as in Saleor. What isn't as
    ``seen`` anymore makes ``Stale``, by the names of ``group_facts``.
    """

    name: str | Absent = ABSENT
    add_permissions: frozenset[Permission] = frozenset()
    remove_permissions: frozenset[Permission] = frozenset()
    add_users: tuple[str, ...] = ()
    remove_users: tuple[str, ...] = ()
    is_restricted: bool | None = None
    add_channels: tuple[str, ...] = ()
    remove_channels: tuple[str, ...] = ()
    seen: Seen = field(default_factory=dict, compare=False)


def _granted_kind(_ports: Ports, _actor: Actor, group_id: str, changes: GroupChanges) -> str:
    if changes.add_permissions or changes.add_channels or changes.is_restricted is False:
        return "permissions"
    return "members" if changes.add_users else ""


@fresh_proof(
    {
        "permissions": "You're about to give a group more permissions.",
        "members": "You're about to add a member to a group.",
    },
    "when it adds permissions, channels or members",
    _granted_kind,
)
@requires_person(Permission.MANAGE_STAFF)
def update_group(
    ports: Ports, actor: Actor, group_id: str, changes: GroupChanges
) -> PermissionGroup:
    """Change a group (`permissionGroupUpdate`); all of ``changes`` or, when refused, nothing.

    Refuses on ``id`` NOT_FOUND, and OUT_OF_SCOPE_PERMISSION and OUT_OF_SCOPE_CHANNEL for a group
    that can do more than the caller, or in more channels; DUPLICATED_INPUT_ITEM on
    ``permissions``, ``users`` and ``channels`` for what is both added and removed; REQUIRED,
    INVALID and UNIQUE on ``name``; OUT_OF_SCOPE_PERMISSION on ``addPermissions`` and
    ``removePermissions``; on ``addUsers`` and ``removeUsers`` what ``manageable_staff`` refuses;
    CANNOT_REMOVE_FROM_LAST_GROUP on ``removeUsers`` for the caller; LEFT_NOT_MANAGEABLE_PERMISSION
    on ``removePermissions`` and ``removeUsers``; NOT_FOUND and OUT_OF_SCOPE_CHANNEL on
    ``addChannels`` and ``removeChannels``, the latter also on ``restrictedAccessToChannels``; on
    these three and ``addUsers`` and ``removeUsers`` what ``guard_channels`` refuses.
    """
    key = key_of(group_id, "Group")
    name = present(changes.name, "").strip()
    _require_valid(actor, name, changes)
    with _name_unique(ports, name), ports.database.transaction() as session:
        lock_grants(session)
        group = stored_groups.load_manageable_group(actor, session, key)
        old_members = _members(session, key)
        before = group_facts(group, old_members)
        require_unchanged(changes.seen, before)
        if not isinstance(changes.name, Absent) and name != group.name:
            _require_free(session, name)
            session.get_one(models.Group, key).name = name
        _change_permissions(actor, session, group, changes)
        with stored_groups.guard_channels(
            actor, session, old_members, _channel_field(group, changes)
        ):
            _change_channels(actor, session, group, changes)
        members = _change_members(actor, session, key, changes, old_members)
        changed = stored_groups.load_group(session, key)
        old, new = differing(before, group_facts(changed, members))
        if new:
            add_event(ports, actor, session, PermissionGroupUpdated(key))
            change = Change("group.update", "Group", key, changed.name, old, new)
            record(ports, actor, session, change)
        return changed


@requires_person(Permission.MANAGE_STAFF)
def delete_group(ports: Ports, actor: Actor, group_id: str) -> PermissionGroup:
    """Delete a group (`permissionGroupDelete`) and return what it was.

    Refuses on ``id``: NOT_FOUND, OUT_OF_SCOPE_PERMISSION and OUT_OF_SCOPE_CHANNEL for a group that
    can do more than the caller, or in more channels, CANNOT_REMOVE_FROM_LAST_GROUP,
    LEFT_NOT_MANAGEABLE_PERMISSION; what ``guard_channels`` refuses.
    """
    key = key_of(group_id, "Group")
    with ports.database.transaction() as session:
        lock_grants(session)
        group = stored_groups.load_manageable_group(actor, session, key)
        members = _members(session, key)
        with (
            stored_groups.guard_channels(actor, session, members, "id"),
            prevent_unmanageable(actor, session, "id"),
        ):
            session.delete(session.get_one(models.Group, key))
        if actor.user_id in members:
            _require_another_group(actor, session, "id")
        snapshot = stored_groups.group_snapshot(group, members)
        add_event(ports, actor, session, PermissionGroupDeleted(key, snapshot=snapshot))
        before = {name: snapshot[name] for name in ("permissions", "users")}
        change = Change("group.delete", "Group", key, group.name, before=before)
        record(ports, actor, session, change)
        return group


def _require_valid(actor: Actor, name: str, changes: GroupChanges) -> None:
    added, removed = changes.add_permissions, changes.remove_permissions
    refuse_any(
        duplicate_problem(added, removed, "permissions", "permissions"),
        duplicate_problem(changes.add_users, changes.remove_users, "users", "users"),
        duplicate_problem(changes.add_channels, changes.remove_channels, "channels", "channels"),
        None if isinstance(changes.name, Absent) else group_name_problem(name),
        grant_problem(actor, added, "addPermissions"),
        withdrawal_problem(actor, removed, "removePermissions"),
    )


def _change_permissions(
    actor: Actor, session: Session, group: PermissionGroup, changes: GroupChanges
) -> None:
    _add_permissions(session, group.id, changes.add_permissions - group.permissions)
    going = changes.remove_permissions & group.permissions
    if going:
        with prevent_unmanageable(actor, session, "removePermissions"):
            session.execute(
                delete(models.GroupPermission).where(
                    models.GroupPermission.group_id == group.id,
                    models.GroupPermission.permission.in_([one.value for one in going]),
                )
            )


def _add_permissions(session: Session, group_id: int, permissions: Iterable[Permission]) -> None:
    """Add ``permissions``, which the group does not have yet."""
    session.add_all(
        models.GroupPermission(group_id=group_id, permission=permission.value)
        for permission in permissions
    )
    session.flush()


def _change_channels(
    actor: Actor, session: Session, group: PermissionGroup, changes: GroupChanges
) -> None:
    was_restricted = group.channel_ids is not None
    is_restricted = was_restricted if changes.is_restricted is None else changes.is_restricted
    of_group = models.GroupChannel.group_id == group.id
    if not is_restricted:
        if was_restricted:
            refuse_any(channel_problem(actor, None, "restrictedAccessToChannels"))
            session.get_one(models.Group, group.id).is_channel_restricted = False
            session.execute(delete(models.GroupChannel).where(of_group))
        return
    added = stored_groups.existing_channels(session, changes.add_channels, "addChannels")
    removed = stored_groups.existing_channels(session, changes.remove_channels, "removeChannels")
    refuse_any(
        channel_problem(actor, added, "addChannels"),
        channel_problem(actor, removed, "removeChannels"),
    )
    session.get_one(models.Group, group.id).is_channel_restricted = True
    session.execute(
        delete(models.GroupChannel).where(of_group, models.GroupChannel.channel_id.in_(removed))
    )
    _add_channels(session, group.id, added - (group.channel_ids or frozenset()))


def _add_channels(session: Session, group_id: int, channel_ids: Iterable[int]) -> None:
    """Give a group access to channels that it doesn't have yet."""
    session.add_all(
        models.GroupChannel(group_id=group_id, channel_id=key) for key in sorted(channel_ids)
    )
    session.flush()


def _channel_field(group: PermissionGroup, changes: GroupChanges) -> str:
    """Return the input that changes the channels of the group's members."""
    is_restricted = group.channel_ids is not None
    if changes.is_restricted is not None and changes.is_restricted is not is_restricted:
        return "restrictedAccessToChannels"
    return "removeChannels" if changes.remove_channels else "addChannels"


@building_block
def group_facts(group: PermissionGroup, members: Collection[int]) -> dict[str, object]:
    """Return what ``update_group`` changes of a group, as the audit log has it."""
    return {
        "name": group.name,
        "permissions": sorted(permission.value for permission in group.permissions),
        "channels": None if group.channel_ids is None else sorted(group.channel_ids),
        "users": sorted(members),
    }


def _change_members(
    actor: Actor, session: Session, key: int, changes: GroupChanges, members: frozenset[int]
) -> frozenset[int]:
    # Both are looked up before either is done: what one joins by this does not stop the other.
    joining = stored_groups.manageable_staff(
        actor, session, changes.add_users, "addUsers", adding=True
    )
    leaving = stored_groups.manageable_staff(
        actor, session, changes.remove_users, "removeUsers", adding=False
    )
    leaving &= members
    with stored_groups.guard_channels(actor, session, joining, "addUsers"):
        join(session, users=joining, groups=[key])
    if leaving:
        _remove(actor, session, key, leaving, "removeUsers")
    return (members | joining) - leaving


def _remove(
    actor: Actor, session: Session, key: int, leaving: Collection[int], field: str
) -> None:
    with (
        stored_groups.guard_channels(actor, session, leaving, field),
        prevent_unmanageable(actor, session, field),
    ):
        leave(session, users=leaving, groups=[key])
    if actor.user_id in leaving:
        _require_another_group(actor, session, field)


@building_block
def remove_members(
    ports: Ports, actor: Actor, session: Session, key: int, users: Collection[int], field: str
) -> None:
    """Remove people from a group in the transaction of ``session``, which has locked grants.

    Refuses on ``field`` unless the caller could do it with ``update_group``.
    """
    if not actor.holds(Permission.MANAGE_STAFF):
        message = "Only people who manage staff can remove members from groups."
        raise Refused(Problem("OUT_OF_SCOPE_PERMISSION", message, field))
    group_id = to_global_id("Group", key)
    stored_groups.manageable_groups(actor, session, [group_id], field)
    ids = [to_global_id("User", user) for user in users]
    members = _members(session, key)
    leaving = stored_groups.manageable_staff(actor, session, ids, field, adding=False) & members
    if not leaving:
        return
    _remove(actor, session, key, leaving, field)
    add_event(ports, actor, session, PermissionGroupUpdated(key))
    was, now = {"users": sorted(members)}, {"users": sorted(members - leaving)}
    name = session.get_one(models.Group, key).name
    record(ports, actor, session, Change("group.update", "Group", key, name, was, now))


def _members(session: Session, key: int) -> frozenset[int]:
    members = select(models.GroupMember.user_id).where(models.GroupMember.group_id == key)
    return frozenset(session.scalars(members))


def _require_another_group(actor: Actor, session: Session, field: str) -> None:
    mine = select(func.count()).where(models.GroupMember.user_id == actor.user_id)
    refuse_any(last_group_problem(actor, session.scalar(mine) or 0, field))
