"""Permission groups: made, listed, and found by name."""

import pytest

from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.pages import PageRequest, read_cursor
from app.ports import Ports
from app.services.people.groups import NewGroup, create_group, find_groups, list_groups
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import actor_of, make_group, make_staff, make_user
from tests.fixtures.cases import cases

STAFF = Permission.MANAGE_STAFF
ORDERS = Permission.MANAGE_ORDERS


def boss(ports: Ports, *permissions: Permission) -> Actor:
    return actor_of(ports, make_staff(ports, "boss@example.com", *permissions))


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_new_group_is_audited_and_published(ports: Ports) -> None:
    group = create_group(
        ports, boss(ports, STAFF, ORDERS), NewGroup(" Support ", frozenset({ORDERS}))
    )
    assert (group.name, group.members) == ("Support", 0)
    assert group.permissions == {ORDERS}
    [row] = trail(ports, "group.create")
    assert (row.actor_name, row.subject_name) == ("boss@example.com", "Support")
    assert row.after == {"permissions": ["MANAGE_ORDERS"]}
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("PERMISSION_GROUP_CREATED", group.id)


@cases(
    ("name", "code"),
    [("", "REQUIRED"), ("  ", "REQUIRED"), ("a\nb", "INVALID"), ("x" * 151, "INVALID")],
)
def test_group_name_must_be_one_line(ports: Ports, name: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        create_group(ports, OPERATOR, NewGroup(name))
    assert codes(refused) == [("name", code)]


def test_group_name_is_unique(ports: Ports) -> None:
    create_group(ports, OPERATOR, NewGroup("Support"))
    with pytest.raises(Refused) as refused:
        create_group(ports, OPERATOR, NewGroup("Support"))
    assert codes(refused) == [("name", "UNIQUE")]
    assert len(list_groups(ports, OPERATOR, PageRequest(100)).items) == 1


def test_group_cannot_get_permissions_that_its_creator_lacks(ports: Ports) -> None:
    permissions = frozenset({ORDERS, Permission.MANAGE_PAGES})
    with pytest.raises(Refused) as refused:
        create_group(ports, boss(ports, STAFF, ORDERS), NewGroup("Editors", permissions))
    assert codes(refused) == [("addPermissions", "OUT_OF_SCOPE_PERMISSION")]
    assert refused.value.problems[0].permissions == ("MANAGE_PAGES",)
    assert list_groups(ports, OPERATOR, PageRequest(100)).items == ()


def test_groups_require_manage_staff(ports: Ports) -> None:
    actor = boss(ports, *(ALL_PERMISSIONS - {STAFF}))
    with pytest.raises(PermissionDenied):
        create_group(ports, actor, NewGroup("Support"))
    with pytest.raises(PermissionDenied):
        list_groups(ports, actor, PageRequest(100))
    with pytest.raises(PermissionDenied):
        find_groups(ports, actor, ["Support"])


def test_groups_are_listed_by_name_with_permissions_and_size(ports: Ports) -> None:
    support = make_group(ports, "Support", ORDERS, Permission.MANAGE_USERS)
    make_group(ports, "Editors")
    make_user(ports, "bob@example.com", is_staff=True, groups=[support])
    first = list_groups(ports, OPERATOR, PageRequest(1))
    assert [(item.name, item.members, item.permissions) for item in first.items] == [
        ("Editors", 0, frozenset())
    ]
    rest = PageRequest(1, cursor=read_cursor(first.cursors[0], "after"))
    [second] = list_groups(ports, OPERATOR, rest).items
    assert (second.name, second.members) == ("Support", 1)
    assert second.permissions == {ORDERS, Permission.MANAGE_USERS}


def test_groups_are_found_by_their_exact_names(ports: Ports) -> None:
    support = make_group(ports, "Support")
    make_group(ports, "Editors")
    assert [group.id for group in find_groups(ports, OPERATOR, ["Support"])] == [support]
    with pytest.raises(Refused, match=r"Group 'Sales', 'support' not found\.") as refused:
        find_groups(ports, OPERATOR, ["support", "Editors", "Sales"])
    assert codes(refused) == [("group", "NOT_FOUND")]
