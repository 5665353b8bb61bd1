"""Nobody gives what they do not hold."""

from app.domain.authorization.actor import (
    OPERATOR,
    Actor,
    ActorKind,
    grant_problem,
    holds_all_permissions,
    is_manageable,
    manage_problem,
    withdrawal_problem,
)
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission

MANAGER = Actor(
    ActorKind.USER,
    user_id=1,
    permissions=frozenset({Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS}),
)


def test_held_permissions_can_be_granted() -> None:
    assert grant_problem(MANAGER, {Permission.MANAGE_ORDERS}) is None
    assert grant_problem(MANAGER, ()) is None
    assert grant_problem(OPERATOR, ALL_PERMISSIONS) is None


def test_missing_permission_is_named() -> None:
    permissions = {Permission.MANAGE_USERS, Permission.MANAGE_ORDERS, Permission.MANAGE_APPS}
    problem = grant_problem(MANAGER, permissions, "addPermissions")
    assert problem is not None
    assert (problem.code, problem.field) == ("OUT_OF_SCOPE_PERMISSION", "addPermissions")
    assert problem.permissions == ("MANAGE_APPS", "MANAGE_USERS")


def test_users_within_the_callers_permissions_are_manageable() -> None:
    assert is_manageable(MANAGER, {Permission.MANAGE_ORDERS})
    assert not is_manageable(MANAGER, {Permission.MANAGE_ORDERS, Permission.MANAGE_PAGES})


def test_only_every_permission_is_everything() -> None:
    assert holds_all_permissions(OPERATOR)
    assert not holds_all_permissions(MANAGER)
    short = Actor(ActorKind.USER, permissions=ALL_PERMISSIONS - {Permission.MANAGE_TAXES})
    assert not holds_all_permissions(short)


def test_permissions_that_the_caller_lacks_cannot_be_revoked() -> None:
    assert withdrawal_problem(MANAGER, {Permission.MANAGE_ORDERS}, "removePermissions") is None
    problem = withdrawal_problem(MANAGER, ALL_PERMISSIONS, "removePermissions")
    assert problem is not None
    assert (problem.code, problem.field) == ("OUT_OF_SCOPE_PERMISSION", "removePermissions")
    assert len(problem.permissions) == len(ALL_PERMISSIONS) - 2


def test_groups_within_the_callers_permissions_are_manageable() -> None:
    assert manage_problem(MANAGER, {Permission.MANAGE_STAFF}) is None
    problem = manage_problem(MANAGER, {Permission.MANAGE_STAFF, Permission.MANAGE_PAGES})
    assert problem is not None
    assert (problem.code, problem.field, problem.permissions) == (
        "OUT_OF_SCOPE_PERMISSION",
        "id",
        ("MANAGE_PAGES",),
    )
