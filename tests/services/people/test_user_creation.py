"""People as the staff manages them: made, listed and found."""

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest, read_cursor
from app.ports import Ports
from app.services.people.directory import find_user, list_users
from app.services.people.users import NewUser, create_user
from app.services.sign_in.password_login import create_token
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_group, make_staff, make_user

PASSWORD = "a long enough sentence"
STAFF = Permission.MANAGE_STAFF
ORDERS = Permission.MANAGE_ORDERS


def staff_actor(ports: Ports, *permissions: Permission) -> Actor:
    return actor_of(ports, make_staff(ports, "boss@example.com", *permissions))


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def people(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.User)) or 0


def test_operator_creates_a_customer_who_can_sign_in(ports: Ports) -> None:
    new = NewUser("Ann@Example.com", "Ann", "Lee", password=PASSWORD)
    user = create_user(ports, OPERATOR, new)
    assert (user.email, user.first_name, user.last_name) == ("ann@example.com", "Ann", "Lee")
    assert (user.is_staff, user.is_superuser) == (False, False)
    assert (user.is_active, user.is_confirmed) == (True, True)
    assert user.date_joined == ports.clock.now()
    signed_in = create_token(ports, NOBODY, email="ann@example.com", password=PASSWORD)
    assert signed_in.user.id == user.id


def test_superuser_is_staff_with_every_permission(ports: Ports) -> None:
    user = create_user(ports, OPERATOR, NewUser("root@example.com", is_superuser=True))
    assert user.is_staff
    assert user.permissions == ALL_PERMISSIONS


def test_staff_have_group_and_direct_permissions(ports: Ports) -> None:
    group = make_group(ports, "Support", ORDERS)
    new = NewUser(
        "bob@example.com", is_staff=True, permissions=frozenset({STAFF}), groups=frozenset({group})
    )
    user = create_user(ports, OPERATOR, new)
    assert user.permissions == {STAFF, ORDERS}
    assert [group.name for group in user.groups] == ["Support"]


def test_user_creation_is_audited_and_published_without_the_password(ports: Ports) -> None:
    new = NewUser("bob@example.com", is_staff=True, permissions=frozenset({ORDERS}))
    staff = create_user(ports, OPERATOR, new)
    customer = create_user(ports, OPERATOR, NewUser("ann@example.com", password=PASSWORD))
    first, second = trail(ports, "user.create")
    assert (first.actor_kind, first.subject_id, first.subject_name) == (
        "operator",
        str(staff.id),
        "bob@example.com",
    )
    assert first.after["permissions"] == ["MANAGE_ORDERS"]
    assert second.after["has_password"] is True
    assert PASSWORD not in str(second.after)
    assert [(event.type, event.subject_id) for event in events(ports)] == [
        ("STAFF_CREATED", staff.id),
        ("CUSTOMER_CREATED", customer.id),
    ]


def test_email_is_unique_in_any_spelling(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    with pytest.raises(Refused) as refused:
        create_user(ports, OPERATOR, NewUser("ANN@example.com"))
    assert codes(refused) == [("email", "UNIQUE")]
    assert people(ports) == 1


def test_all_problems_are_reported_and_nothing_is_stored(ports: Ports) -> None:
    new = NewUser("nonsense", "a\nb", "x" * 257, permissions=frozenset({ORDERS}), password="short")
    with pytest.raises(Refused) as refused:
        create_user(ports, OPERATOR, new)
    assert codes(refused) == [
        ("email", "INVALID"),
        ("password", "PASSWORD_TOO_SHORT"),
        ("firstName", "INVALID"),
        ("lastName", "INVALID"),
        ("isStaff", "INVALID"),
    ]
    assert people(ports) == 0
    assert trail(ports, "user.create") == []


def test_only_the_operator_can_set_a_common_password(ports: Ports) -> None:
    boss = staff_actor(ports, Permission.MANAGE_USERS)
    with pytest.raises(Refused) as refused:
        create_user(ports, boss, NewUser("ann@example.com", password="password1"))
    assert codes(refused) == [("password", "PASSWORD_TOO_COMMON")]
    create_user(ports, OPERATOR, NewUser("ann@example.com", password="password1"))


def test_customer_managers_cannot_create_staff_and_vice_versa(ports: Ports) -> None:
    boss = staff_actor(ports, Permission.MANAGE_USERS)
    with pytest.raises(PermissionDenied) as denied:
        create_user(ports, boss, NewUser("bob@example.com", is_staff=True))
    assert denied.value.required == (STAFF,)
    assert create_user(ports, boss, NewUser("ann@example.com")).email == "ann@example.com"
    hirer = actor_of(ports, make_staff(ports, "hirer@example.com", STAFF))
    with pytest.raises(PermissionDenied) as denied:
        create_user(ports, hirer, NewUser("carl@example.com"))
    assert denied.value.required == (Permission.MANAGE_USERS,)


def test_customer_cannot_create_users(ports: Ports) -> None:
    customer = actor_of(ports, make_user(ports))
    with pytest.raises(PermissionDenied):
        create_user(ports, customer, NewUser("bob@example.com"))


def test_permissions_that_the_caller_lacks_cannot_be_granted(ports: Ports) -> None:
    boss = staff_actor(ports, STAFF, ORDERS)
    permissions = frozenset({ORDERS, Permission.MANAGE_PAGES})
    with pytest.raises(Refused) as refused:
        create_user(ports, boss, NewUser("b@example.com", is_staff=True, permissions=permissions))
    assert codes(refused) == [("addPermissions", "OUT_OF_SCOPE_PERMISSION")]
    assert refused.value.problems[0].permissions == ("MANAGE_PAGES",)


def test_user_cannot_be_added_to_a_group_beyond_the_callers_permissions(ports: Ports) -> None:
    boss = staff_actor(ports, STAFF, ORDERS)
    beyond = make_group(ports, "Editors", ORDERS, Permission.MANAGE_PAGES)
    within = make_group(ports, "Support", ORDERS)
    new = NewUser("b@example.com", is_staff=True, groups=frozenset({beyond, within}))
    with pytest.raises(Refused) as refused:
        create_user(ports, boss, new)
    assert codes(refused) == [("addGroups", "OUT_OF_SCOPE_GROUP")]
    assert refused.value.problems[0].groups == (to_global_id("Group", beyond),)
    create_user(ports, boss, NewUser("b@example.com", is_staff=True, groups=frozenset({within})))


def test_a_group_that_does_not_exist_is_not_found(ports: Ports) -> None:
    new = NewUser("b@example.com", is_staff=True, groups=frozenset({4711}))
    with pytest.raises(Refused) as refused:
        create_user(ports, OPERATOR, new)
    assert codes(refused) == [("addGroups", "NOT_FOUND")]
    assert people(ports) == 0


def test_superuser_requires_all_permissions(ports: Ports) -> None:
    boss = staff_actor(ports, *(ALL_PERMISSIONS - {Permission.MANAGE_TAXES}))
    with pytest.raises(Refused) as refused:
        create_user(ports, boss, NewUser("root@example.com", is_superuser=True))
    assert codes(refused) == [("isSuperuser", "OUT_OF_SCOPE_USER")]
    root = actor_of(ports, make_user(ports, "first@example.com", is_superuser=True))
    assert create_user(ports, root, NewUser("root@example.com", is_superuser=True)).is_superuser


def test_users_are_paged_in_the_order_they_joined(ports: Ports) -> None:
    for number in range(5):
        make_user(ports, f"c{number}@example.com")
    first = list_users(ports, OPERATOR, PageRequest(2))
    assert [user.email for user in first.items] == ["c0@example.com", "c1@example.com"]
    assert first.has_next
    rest = PageRequest(5, cursor=read_cursor(first.cursors[-1], "after"))
    last = list_users(ports, OPERATOR, rest)
    assert [user.email for user in last.items] == [f"c{n}@example.com" for n in (2, 3, 4)]
    assert not last.has_next


def test_list_contains_only_manageable_people(ports: Ports) -> None:
    boss = staff_actor(ports, STAFF)
    make_user(ports, "ann@example.com")
    clerk = actor_of(ports, make_staff(ports, "clerk@example.com", Permission.MANAGE_USERS))
    everyone = PageRequest(100)
    staff = {"boss@example.com", "clerk@example.com"}
    assert {user.email for user in list_users(ports, boss, everyone).items} == staff
    assert [user.email for user in list_users(ports, clerk, everyone).items] == ["ann@example.com"]
    assert list_users(ports, clerk, everyone, is_staff=True).items == ()
    customers = list_users(ports, OPERATOR, everyone, is_staff=False)
    assert [item.email for item in customers.items] == ["ann@example.com"]


def test_search_text_has_no_wildcards(ports: Ports) -> None:
    make_user(ports, "ann@example.com", first_name="Ann", last_name="Lee")
    make_user(ports, "bob@example.com", first_name="100%", last_name="a_c")
    make_user(ports, "carl@example.com", first_name="1000", last_name="abc")

    def found(search: str) -> list[str]:
        page = list_users(ports, OPERATOR, PageRequest(100), search=search)
        return [user.email for user in page.items]

    assert found("AN") == ["ann@example.com"]
    assert found("lee") == ["ann@example.com"]
    assert found("100%") == ["bob@example.com"]
    assert found("a_") == ["bob@example.com"]
    assert found("\\") == []


def test_user_is_found_by_any_spelling_of_the_email(ports: Ports) -> None:
    key = make_user(ports, "ann@example.com")
    assert find_user(ports, OPERATOR, " ANN@example.com").id == key
    with pytest.raises(Refused) as refused:
        find_user(ports, OPERATOR, "nobody@example.com")
    assert codes(refused) == [("email", "NOT_FOUND")]
