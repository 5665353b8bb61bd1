"""Permission groups that change or go: nobody reaches further, nothing is left to nobody."""

from collections.abc import Callable

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.people.groups import (
    GroupChanges,
    GroupFilter,
    NewGroup,
    create_group,
    delete_group,
    list_groups,
    list_members,
    show_group,
    update_group,
)
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import actor_of, make_group, make_staff, make_user
from tests.fixtures.cases import cases
from tests.services.error_codes import codes

STAFF = Permission.MANAGE_STAFF
ORDERS = Permission.MANAGE_ORDERS
PAGES = Permission.MANAGE_PAGES
ALL = PageRequest(100)


def group_id(key: int) -> str:
    return to_global_id("Group", key)


def people(*keys: int | None) -> tuple[str, ...]:
    return tuple(to_global_id("User", key or 0) for key in keys)


def members(ports: Ports, group: int) -> list[int]:
    return [user.id for user in list_members(ports, OPERATOR, [group])[group]]


def test_group_is_created_with_members(ports: Ports, boss: Actor) -> None:
    bob, eve = make_staff(ports, "bob@example.com"), make_staff(ports, "eve@example.com", ORDERS)
    new = NewGroup("Support", frozenset({ORDERS}), users=people(bob, eve, bob))
    group = create_group(ports, boss, new)
    assert group.members == 2
    assert members(ports, group.id) == [bob, eve]
    [row] = trail(ports, "group.create")
    assert row.after == {"permissions": ["MANAGE_ORDERS"], "users": [bob, eve]}


def test_colleague_with_other_permissions_joins_a_group(ports: Ports, boss: Actor) -> None:
    above = make_staff(ports, "above@example.com", PAGES)
    new = NewGroup("Support", frozenset({ORDERS}), users=people(above))
    group = create_group(ports, boss, new)
    assert members(ports, group.id) == [above]
    care = make_group(ports, "Care", ORDERS)
    update_group(ports, boss, group_id(care), GroupChanges(add_users=people(above)))
    assert members(ports, care) == [above]
    editors = make_group(ports, "Editors", PAGES)
    with pytest.raises(Refused) as refused:
        update_group(ports, boss, group_id(editors), GroupChanges(add_users=people(above)))
    assert codes(refused) == [("id", "OUT_OF_SCOPE_PERMISSION")]
    assert members(ports, editors) == []


def test_group_members_must_be_staff(ports: Ports, boss: Actor) -> None:
    ann = make_user(ports, "ann@example.com")
    users = (*people(ann, 4711), "garbage")
    with pytest.raises(Refused) as refused:
        create_group(ports, boss, NewGroup("Support", users=users))
    problems = {(problem.field, problem.code, problem.users) for problem in refused.value.problems}
    assert problems == {
        ("addUsers", "NOT_FOUND", ("garbage",)),
        ("addUsers", "NOT_FOUND", people(4711)),
        ("addUsers", "ASSIGN_NON_STAFF_MEMBER", people(ann)),
    }
    assert list_groups(ports, OPERATOR, ALL).items == ()


@pytest.mark.both_databases
def test_all_fields_of_a_group_can_change_at_once(ports: Ports, boss: Actor) -> None:
    group = make_group(ports, "Support", STAFF)
    bob = make_user(ports, "bob@example.com", is_staff=True, groups=[group])
    eve = make_staff(ports, "eve@example.com")
    changes = GroupChanges(
        name=" Care ",
        add_permissions=frozenset({ORDERS}),
        remove_permissions=frozenset({STAFF}),
        add_users=people(eve),
        remove_users=people(bob),
    )
    changed = update_group(ports, boss, group_id(group), changes)
    assert (changed.name, changed.members) == ("Care", 1)
    assert changed.permissions == {ORDERS}
    assert members(ports, group) == [eve]
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("PERMISSION_GROUP_UPDATED", group)
    [row] = trail(ports, "group.update")
    assert row.before == {"name": "Support", "permissions": ["MANAGE_STAFF"], "users": [bob]}
    assert row.after == {"name": "Care", "permissions": ["MANAGE_ORDERS"], "users": [eve]}


def test_unchanged_values_are_neither_audited_nor_published(ports: Ports, boss: Actor) -> None:
    group = make_group(ports, "Support", ORDERS)
    bob = make_user(ports, "bob@example.com", is_staff=True, groups=[group])
    eve = make_staff(ports, "eve@example.com")
    changes = GroupChanges(
        name="Support",
        add_permissions=frozenset({ORDERS}),
        remove_permissions=frozenset({STAFF}),
        add_users=people(bob),
        remove_users=people(eve, boss.user_id),
    )
    assert update_group(ports, boss, group_id(group), changes).members == 1
    assert events(ports) == []
    assert trail(ports, "group.update") == []


INVALID_UPDATES: tuple[tuple[GroupChanges, list[tuple[str, str]]], ...] = (
    (GroupChanges(name=""), [("name", "REQUIRED")]),
    (GroupChanges(name="a\nb"), [("name", "INVALID")]),
    (GroupChanges(name="x" * 151), [("name", "INVALID")]),
    (GroupChanges(name="Editors"), [("name", "UNIQUE")]),
    (
        GroupChanges(add_permissions=frozenset({PAGES, ORDERS})),
        [("addPermissions", "OUT_OF_SCOPE_PERMISSION")],
    ),
    (
        GroupChanges(remove_permissions=frozenset({PAGES})),
        [("removePermissions", "OUT_OF_SCOPE_PERMISSION")],
    ),
    (
        GroupChanges(
            name=" ",
            add_permissions=frozenset({ORDERS}),
            remove_permissions=frozenset({ORDERS}),
            add_users=people(1),
            remove_users=people(1),
        ),
        [
            ("permissions", "DUPLICATED_INPUT_ITEM"),
            ("users", "DUPLICATED_INPUT_ITEM"),
            ("name", "REQUIRED"),
        ],
    ),
)


def test_invalid_update_is_refused_and_changes_nothing(ports: Ports, boss: Actor) -> None:
    make_group(ports, "Editors")
    group = make_group(ports, "Support", ORDERS)
    for changes, expected in INVALID_UPDATES:
        with pytest.raises(Refused) as refused:
            update_group(ports, boss, group_id(group), changes)
        assert codes(refused) == expected
    assert [group.name for group in list_groups(ports, OPERATOR, ALL).items] == [
        "Editors",
        "Support",
    ]
    assert trail(ports, "group.update") == []


def test_more_privileged_group_cannot_be_managed(ports: Ports, boss: Actor) -> None:
    group = make_group(ports, "Editors", ORDERS, PAGES)
    attempts: list[Callable[[], object]] = [
        lambda: update_group(ports, boss, group_id(group), GroupChanges(name="x")),
        lambda: delete_group(ports, boss, group_id(group)),
    ]
    for attempt in attempts:
        with pytest.raises(Refused) as refused:
            attempt()
        assert codes(refused) == [("id", "OUT_OF_SCOPE_PERMISSION")]
        assert refused.value.problems[0].permissions == ("MANAGE_PAGES",)


def test_more_privileged_members_cannot_be_removed_from_groups(ports: Ports, boss: Actor) -> None:
    group = make_group(ports, "Support", ORDERS)
    above = make_user(
        ports, "above@example.com", is_staff=True, groups=[group], permissions=[PAGES]
    )
    with pytest.raises(Refused) as refused:
        update_group(ports, boss, group_id(group), GroupChanges(remove_users=people(above)))
    assert codes(refused) == [("removeUsers", "OUT_OF_SCOPE_USER")]
    assert refused.value.problems[0].users == people(above)


def test_last_group_cannot_be_left(ports: Ports) -> None:
    make_user(ports, "root@example.com", is_superuser=True)  # so that nothing is abandoned
    group, other = make_group(ports, "Managers", STAFF), make_group(ports, "Others")
    me = make_user(ports, "me@example.com", is_staff=True, groups=[group])
    actor = actor_of(ports, me)
    leaving = GroupChanges(remove_users=people(me))
    with pytest.raises(Refused) as refused:
        update_group(ports, actor, group_id(group), leaving)
    assert codes(refused) == [("removeUsers", "CANNOT_REMOVE_FROM_LAST_GROUP")]
    with pytest.raises(Refused) as refused:
        delete_group(ports, actor, group_id(group))
    assert codes(refused) == [("id", "CANNOT_REMOVE_FROM_LAST_GROUP")]
    update_group(ports, actor, group_id(other), GroupChanges(add_users=people(me)))
    assert update_group(ports, actor, group_id(group), leaving).members == 0


def test_deleting_a_group_publishes_a_snapshot_and_removes_its_rights(
    ports: Ports, boss: Actor
) -> None:
    group = make_group(ports, "Support", ORDERS)
    bob = make_user(ports, "bob@example.com", is_staff=True, groups=[group])
    assert delete_group(ports, boss, group_id(group)).name == "Support"
    assert actor_of(ports, bob).permissions == frozenset()
    assert show_group(ports, boss, group_id(group)) is None
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("PERMISSION_GROUP_DELETED", group)
    assert event.data["snapshot"] == {
        "channel_ids": None,
        "id": group,
        "name": "Support",
        "permissions": ["MANAGE_ORDERS"],
        "users": [bob],
    }
    [row] = trail(ports, "group.delete")
    assert row.before == {"permissions": ["MANAGE_ORDERS"], "users": [bob]}


@cases("strange", ["garbage", group_id(4711), to_global_id("User", 1)])
def test_unknown_group_is_not_found(ports: Ports, boss: Actor, strange: str) -> None:
    with pytest.raises(Refused) as refused:
        update_group(ports, boss, strange, GroupChanges())
    assert codes(refused) == [("id", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        delete_group(ports, boss, strange)
    assert codes(refused) == [("id", "NOT_FOUND")]


def test_apps_can_read_but_not_manage_groups(ports: Ports) -> None:
    group = make_group(ports, "Support", ORDERS)
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    assert [group.id for group in list_groups(ports, app, ALL).items] == [group]
    attempts: list[Callable[[], object]] = [
        lambda: create_group(ports, app, NewGroup("x")),
        lambda: update_group(ports, app, group_id(group), GroupChanges()),
        lambda: delete_group(ports, app, group_id(group)),
    ]
    for attempt in attempts:
        with pytest.raises(PermissionDenied):
            attempt()


def test_groups_are_found_by_part_of_their_name_and_by_id(ports: Ports) -> None:
    a, b = make_group(ports, "Support 100%"), make_group(ports, "Supervision")
    make_group(ports, "Editors")

    def found(filter_: GroupFilter) -> list[str]:
        return [group.name for group in list_groups(ports, OPERATOR, ALL, filter_).items]

    assert found(GroupFilter(search="SUP")) == ["Supervision", "Support 100%"]
    assert found(GroupFilter(search="00%")) == ["Support 100%"]
    assert found(GroupFilter(search="_")) == found(GroupFilter(search="\0")) == []
    assert found(GroupFilter(ids=(group_id(a), group_id(b)), descending=True)) == [
        *("Support 100%", "Supervision")
    ]
    assert found(GroupFilter(ids=())) == []
    with pytest.raises(Refused) as refused:
        found(GroupFilter(ids=("garbage",)))
    assert codes(refused) == [("ids", "NOT_FOUND")]


@pytest.mark.both_databases
def test_members_of_several_groups_are_read_together(ports: Ports) -> None:
    a, b, empty = (make_group(ports, name, ORDERS) for name in "abc")
    bob = make_user(ports, "bob@example.com", is_staff=True, groups=[a, b])
    eve = make_user(ports, "eve@example.com", is_staff=True, groups=[b])
    found = list_members(ports, OPERATOR, [a, b, empty])
    assert {key: [user.id for user in users] for key, users in found.items()} == {
        a: [bob],
        b: [bob, eve],
        empty: [],
    }
    assert [group.name for group in found[a][0].groups] == ["a", "b"]
