"""Groups that are restricted to channels: stored, and never wider than who changes them."""

from collections.abc import Callable
from functools import partial

import pytest

from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import NewChannel
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import AppChange, NewApp, create_app, update_app
from app.services.commerce.channels import create_channel, delete_channel, show_channel
from app.services.people.groups import (
    GroupChanges,
    NewGroup,
    create_group,
    delete_group,
    show_group,
    update_group,
)
from app.services.people.staff import NewStaff, StaffChanges, create_staff, update_staff
from app.services.people.users import NewUser, create_user
from tests.builders.audit import trail
from tests.builders.people import actor_of, make_group, make_staff, make_user
from tests.services.error_codes import codes

STAFF, ORDERS = Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS


@pytest.fixture
def first(ports: Ports) -> int:
    channel = show_channel(ports, OPERATOR, slug="default-channel")
    assert channel is not None
    return channel.id


@pytest.fixture
def second(ports: Ports) -> int:
    return create_channel(ports, OPERATOR, NewChannel("Poland", "pl", "EUR", "PL")).id


@pytest.fixture
def limited(ports: Ports, first: int) -> Actor:
    """Somebody who manages staff, and orders in the first channel alone."""
    group = make_group(ports, "Limited", STAFF, ORDERS, channels=[first])
    key = make_user(ports, "limited@example.com", is_staff=True, groups=[group])
    return actor_of(ports, key)


def channels(*keys: int) -> tuple[str, ...]:
    return tuple(to_global_id("Channel", key) for key in keys)


def group_id(key: int) -> str:
    return to_global_id("Group", key)


def user_id(key: int | None) -> str:
    return to_global_id("User", key or 0)


def refusal(call: Callable[[], object]) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        call()
    return codes(refused)


def reach(ports: Ports, key: int) -> frozenset[int] | None:
    return actor_of(ports, key).channel_ids


def test_people_have_the_channels_of_all_their_groups(
    ports: Ports, first: int, second: int
) -> None:
    one, other = (
        make_group(ports, f"Of {key}", ORDERS, channels=[key]) for key in (first, second)
    )
    everywhere, nowhere = make_group(ports, "All", ORDERS), make_group(ports, "No", channels=[])
    expected: list[tuple[list[int], frozenset[int] | None]] = [
        ([one], frozenset({first})),
        ([one, other], frozenset({first, second})),
        ([one, everywhere], None),
        ([nowhere], frozenset()),
        ([], frozenset()),
    ]
    for number, (groups, found) in enumerate(expected):
        email = f"{number}@example.com"
        key = make_user(ports, email, is_staff=True, groups=groups)
        assert reach(ports, key) == found
    superuser = make_user(ports, "root@example.com", is_superuser=True, groups=[one])
    assert reach(ports, superuser) is None
    assert reach(ports, make_staff(ports, "direct@example.com", ORDERS)) is None


def test_group_is_created_and_changed_with_channels(
    ports: Ports, boss: Actor, first: int, second: int
) -> None:
    new = NewGroup("Sales", frozenset({ORDERS}), is_restricted=True, channels=channels(first))
    made = create_group(ports, boss, new)
    assert made.channel_ids == frozenset({first})
    id_ = group_id(made.id)
    changes = GroupChanges(add_channels=channels(second), remove_channels=channels(first))
    assert update_group(ports, boss, id_, changes).channel_ids == frozenset({second})
    assert update_group(ports, boss, id_, GroupChanges(is_restricted=False)).channel_ids is None
    ignored = update_group(ports, boss, id_, GroupChanges(add_channels=channels(second)))
    assert ignored.channel_ids is None
    empty = update_group(ports, boss, id_, GroupChanges(is_restricted=True))
    assert empty.channel_ids == frozenset()
    entries = [(row.before, row.after) for row in trail(ports, "group.update")]
    assert entries == [
        ({"channels": [first]}, {"channels": [second]}),
        ({"channels": [second]}, {"channels": None}),
        ({"channels": None}, {"channels": []}),
    ]


def test_channels_of_an_unrestricted_new_group_are_ignored(
    ports: Ports, boss: Actor, first: int
) -> None:
    made = create_group(ports, boss, NewGroup("Sales", channels=channels(first)))
    assert made.channel_ids is None


def test_unknown_and_twice_named_channels_are_refused(
    ports: Ports, boss: Actor, first: int
) -> None:
    new = NewGroup("Sales", is_restricted=True, channels=channels(10**6))
    assert refusal(lambda: create_group(ports, boss, new)) == [("addChannels", "NOT_FOUND")]
    id_ = group_id(make_group(ports, "Sales", channels=[first]))
    both = GroupChanges(add_channels=channels(first), remove_channels=channels(first))
    assert refusal(lambda: update_group(ports, boss, id_, both)) == [
        ("channels", "DUPLICATED_INPUT_ITEM")
    ]
    wrong = GroupChanges(remove_channels=(group_id(first),))
    assert refusal(lambda: update_group(ports, boss, id_, wrong)) == [
        ("removeChannels", "NOT_FOUND")
    ]


def test_deleted_channel_leaves_its_groups(
    ports: Ports, boss: Actor, first: int, second: int
) -> None:
    key = make_group(ports, "Sales", channels=[first, second])
    delete_channel(ports, OPERATOR, *channels(second))
    group = show_group(ports, boss, group_id(key))
    assert group is not None
    assert group.channel_ids == frozenset({first})


def test_restricted_managers_make_no_wider_groups(
    ports: Ports, limited: Actor, first: int, second: int
) -> None:
    unrestricted = NewGroup("All", frozenset({ORDERS}))
    assert refusal(lambda: create_group(ports, limited, unrestricted)) == [
        ("restrictedAccessToChannels", "OUT_OF_SCOPE_CHANNEL")
    ]
    wider = NewGroup("More", is_restricted=True, channels=channels(first, second))
    with pytest.raises(Refused) as refused:
        create_group(ports, limited, wider)
    [problem] = refused.value.problems
    assert (problem.code, problem.field) == ("OUT_OF_SCOPE_CHANNEL", "addChannels")
    same = NewGroup("Same", frozenset({ORDERS}), is_restricted=True, channels=channels(first))
    assert create_group(ports, limited, same).channel_ids == frozenset({first})


def test_restricted_managers_change_no_wider_groups(
    ports: Ports, limited: Actor, first: int, second: int
) -> None:
    own, other = (make_group(ports, f"Of {key}", channels=[key]) for key in (first, second))
    rename = GroupChanges(name="Renamed")
    for key in (other, make_group(ports, "All")):
        for call in (
            lambda key=key: update_group(ports, limited, group_id(key), rename),
            lambda key=key: delete_group(ports, limited, group_id(key)),
        ):
            assert refusal(call) == [("id", "OUT_OF_SCOPE_CHANNEL")]
    widened = GroupChanges(add_channels=channels(second))
    assert refusal(lambda: update_group(ports, limited, group_id(own), widened)) == [
        ("addChannels", "OUT_OF_SCOPE_CHANNEL")
    ]
    opened = GroupChanges(is_restricted=False)
    assert refusal(lambda: update_group(ports, limited, group_id(own), opened)) == [
        ("restrictedAccessToChannels", "OUT_OF_SCOPE_CHANNEL")
    ]
    assert update_group(ports, limited, group_id(own), rename).name == "Renamed"


def test_restricted_managers_put_nobody_into_wider_groups(
    ports: Ports, limited: Actor, first: int
) -> None:
    wider = group_id(make_group(ports, "All", ORDERS))
    own = group_id(make_group(ports, "Own", ORDERS, channels=[first]))
    refused = NewStaff("new@example.com", groups=(wider,))
    assert refusal(lambda: create_staff(ports, limited, refused)) == [
        ("addGroups", "OUT_OF_SCOPE_GROUP")
    ]
    made = create_staff(ports, limited, NewStaff("new@example.com", groups=(own,)))
    join = StaffChanges(add_groups=(wider,))
    for key in (made.id, limited.user_id):
        assert refusal(partial(update_staff, ports, limited, user_id(key), join)) == [
            ("addGroups", "OUT_OF_SCOPE_GROUP")
        ]


def test_restriction_does_not_end_with_the_last_group(
    ports: Ports, limited: Actor, first: int
) -> None:
    """A direct permission of somebody without a group holds in all channels."""
    group = make_group(ports, "Own", channels=[first])
    held = {ORDERS}
    member = make_user(ports, "m@example.com", is_staff=True, groups=[group], permissions=held)
    leave = StaffChanges(remove_groups=(group_id(group),))
    assert refusal(lambda: update_staff(ports, limited, user_id(member), leave)) == [
        ("id", "OUT_OF_SCOPE_USER")
    ]
    removed = GroupChanges(remove_users=(user_id(member),))
    assert refusal(lambda: update_group(ports, limited, group_id(group), removed)) == [
        ("removeUsers", "OUT_OF_SCOPE_USER")
    ]
    assert refusal(lambda: delete_group(ports, limited, group_id(group))) == [
        ("id", "OUT_OF_SCOPE_USER")
    ]
    assert reach(ports, member) == frozenset({first})


def test_channels_of_someone_with_more_rights_stay(
    ports: Ports, boss: Actor, first: int, second: int
) -> None:
    """No way to change somebody's channels is open to a manager with fewer permissions."""
    manager = actor_of(ports, make_staff(ports, "manager@example.com", STAFF))
    held = {ORDERS, STAFF}
    free = make_user(ports, "free@example.com", is_staff=True, permissions=held)
    own = make_group(ports, "Own", STAFF, channels=[first, second])
    member = make_user(ports, "m@example.com", is_staff=True, groups=[own], permissions=held)
    one = make_group(ports, "One", channels=[first])
    into = GroupChanges(add_users=(user_id(free),))
    new = NewGroup("New", users=(user_id(free),), is_restricted=True, channels=channels(second))
    cases: list[tuple[str, Callable[[Actor], object]]] = [
        ("addUsers", lambda actor: update_group(ports, actor, group_id(one), into)),
        ("addUsers", lambda actor: create_group(ports, actor, new)),
        *(
            (field, lambda actor, c=changes: update_group(ports, actor, group_id(own), c))
            for field, changes in (
                ("removeChannels", GroupChanges(remove_channels=channels(second))),
                ("addChannels", GroupChanges(add_channels=channels(second))),
                ("restrictedAccessToChannels", GroupChanges(is_restricted=False)),
                ("restrictedAccessToChannels", GroupChanges(is_restricted=True)),
            )
        ),
        ("id", lambda actor: delete_group(ports, actor, group_id(own))),
    ]
    for field, call in cases:
        had = reach(ports, free), reach(ports, member)
        assert refusal(partial(call, manager)) == [(field, "OUT_OF_SCOPE_USER")]
        assert (reach(ports, free), reach(ports, member)) == had
        call(boss)


def test_manager_adds_people_whose_channels_stay(ports: Ports, first: int) -> None:
    manager = actor_of(ports, make_staff(ports, "manager@example.com", STAFF))
    mightier = make_staff(ports, "free@example.com", STAFF, ORDERS)
    equal = make_staff(ports, "equal@example.com", STAFF)
    everywhere = make_group(ports, "Everywhere")
    here = make_group(ports, "Here", channels=[first])
    into = GroupChanges(add_users=(user_id(mightier),))
    update_group(ports, manager, group_id(everywhere), into)
    update_group(ports, manager, group_id(here), into)
    assert reach(ports, mightier) is None
    update_group(ports, manager, group_id(here), GroupChanges(add_users=(user_id(equal),)))
    assert reach(ports, equal) == frozenset({first})


def test_restricted_managers_grant_nothing_beyond_their_channels(
    ports: Ports, limited: Actor
) -> None:
    bare = make_staff(ports, "bare@example.com")
    grant = StaffChanges(add_permissions=frozenset({ORDERS}))
    assert refusal(lambda: update_staff(ports, limited, user_id(bare), grant)) == [
        ("id", "OUT_OF_SCOPE_USER")
    ]
    new = NewUser("new@example.com", is_staff=True, permissions=frozenset({ORDERS}))
    assert refusal(lambda: create_user(ports, limited, new)) == [("id", "OUT_OF_SCOPE_USER")]
    wider = make_staff(ports, "wider@example.com", ORDERS)
    rename = StaffChanges()
    assert refusal(lambda: update_staff(ports, limited, user_id(wider), rename)) == [
        ("id", "OUT_OF_SCOPE_USER")
    ]
    assert update_staff(ports, limited, user_id(bare), rename).id == bare


def test_restricted_managers_give_apps_nothing_that_reaches_all_channels(
    ports: Ports, first: int
) -> None:
    """An app has its permissions in all channels, and its tokens are its manager's to make."""
    apps, products = Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS
    group = make_group(ports, "Apps", apps, ORDERS, products, channels=[first])
    key = make_user(ports, "apps@example.com", is_staff=True, groups=[group])
    manager = actor_of(ports, key)
    wide = NewApp("Wide", permissions=frozenset({ORDERS}))
    assert refusal(lambda: create_app(ports, manager, wide)) == [
        ("permissions", "OUT_OF_SCOPE_PERMISSION")
    ]
    there = create_app(ports, OPERATOR, wide).app.id
    rename = AppChange(name="Renamed")
    assert refusal(lambda: update_app(ports, manager, there, rename)) == [
        ("id", "OUT_OF_SCOPE_APP")
    ]
    narrow = NewApp("Narrow", permissions=frozenset({products}))
    made = create_app(ports, manager, narrow).app.id
    assert update_app(ports, manager, made, rename).name == "Renamed"
