"""Who may remove whom, and what is never left without anybody."""

from datetime import UTC, datetime

from app.domain.accounts.staff import (
    activation_problem,
    deactivation_problem,
    deletion_problem,
    duplicate_problem,
    last_group_problem,
    unmanageable_problem,
)
from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import Problem
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BOSS = Actor(ActorKind.USER, user_id=1, permissions=ALL_PERMISSIONS)
APP = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
STAFF = Permission.MANAGE_STAFF
ORDERS = Permission.MANAGE_ORDERS


def person(key: int, *, is_staff: bool = True, is_superuser: bool = False) -> User:
    return User(
        id=key,
        email=f"{key}@example.com",
        first_name="",
        last_name="",
        is_staff=is_staff,
        is_active=True,
        is_confirmed=True,
        is_superuser=is_superuser,
        date_joined=NOW,
        updated_at=NOW,
        last_login=None,
    )


def place_of(problem: Problem | None) -> tuple[str | None, str] | None:
    return None if problem is None else (problem.field, problem.code)


@cases(
    ("actor", "user", "down", "up"),
    [
        (BOSS, person(2), None, None),
        (BOSS, person(2, is_staff=False), None, None),
        (BOSS, person(1), "DEACTIVATE_OWN_ACCOUNT", None),
        (
            *(BOSS, person(2, is_superuser=True)),
            *("DEACTIVATE_SUPERUSER_ACCOUNT", "ACTIVATE_SUPERUSER_ACCOUNT"),
        ),
        (APP, person(2, is_staff=False), None, None),
        (OPERATOR, person(1), None, None),
        (OPERATOR, person(2, is_superuser=True), None, None),
    ],
)
def test_staff_cannot_deactivate_themselves_or_a_superuser(
    actor: Actor, user: User, down: str | None, up: str | None
) -> None:
    assert place_of(deactivation_problem(actor, user)) == (
        None if down is None else ("isActive", down)
    )
    assert place_of(activation_problem(actor, user)) == (None if up is None else ("isActive", up))


@cases(
    ("actor", "user", "as_staff", "as_customer"),
    [
        (BOSS, person(2), None, "DELETE_STAFF_ACCOUNT"),
        (BOSS, person(2, is_staff=False), "DELETE_NON_STAFF_USER", None),
        (BOSS, person(1), "DELETE_OWN_ACCOUNT", "DELETE_STAFF_ACCOUNT"),
        (BOSS, person(1, is_staff=False), "DELETE_NON_STAFF_USER", "DELETE_OWN_ACCOUNT"),
        (
            *(BOSS, person(2, is_superuser=True)),
            *("DELETE_SUPERUSER_ACCOUNT", "DELETE_STAFF_ACCOUNT"),
        ),
        (OPERATOR, person(2, is_superuser=True), None, "DELETE_STAFF_ACCOUNT"),
    ],
)
def test_staff_and_customers_are_deleted_by_their_own_operations(
    actor: Actor, user: User, as_staff: str | None, as_customer: str | None
) -> None:
    for is_staff, code in ((True, as_staff), (False, as_customer)):
        problem = deletion_problem(actor, user, is_staff=is_staff)
        assert place_of(problem) == (None if code is None else ("id", code))


@cases(
    ("before", "after", "abandoned"),
    [
        (set(), set(), ()),
        ({STAFF}, {STAFF}, ()),
        (set(), {STAFF}, ()),
        ({STAFF, ORDERS}, {STAFF}, ("MANAGE_ORDERS",)),
        ({STAFF, ORDERS}, set(), ("MANAGE_ORDERS", "MANAGE_STAFF")),
        ({ORDERS}, {STAFF}, ("MANAGE_ORDERS",)),
    ],
)
def test_managed_permissions_stay_manageable(
    before: set[Permission], after: set[Permission], abandoned: tuple[str, ...]
) -> None:
    problem = unmanageable_problem(frozenset(before), frozenset(after), "removeGroups")
    if abandoned:
        assert place_of(problem) == ("removeGroups", "LEFT_NOT_MANAGEABLE_PERMISSION")
        assert problem is not None
        assert problem.permissions == abandoned
    else:
        assert problem is None


def test_last_group_cannot_be_left() -> None:
    assert place_of(last_group_problem(BOSS, 0, "removeUsers")) == (
        "removeUsers",
        "CANNOT_REMOVE_FROM_LAST_GROUP",
    )
    assert last_group_problem(BOSS, 1, "removeUsers") is None
    assert last_group_problem(OPERATOR, 0, "id") is None


def test_same_item_cannot_be_added_and_removed() -> None:
    assert duplicate_problem(["a", "b"], ["c"], "users", "users") is None
    problem = duplicate_problem(["a", "c", "b"], ["b", "x", "a"], None, "groups")
    assert place_of(problem) == (None, "DUPLICATED_INPUT_ITEM")
    assert problem is not None
    assert (problem.groups, problem.users, problem.permissions) == (("a", "b"), (), ())
