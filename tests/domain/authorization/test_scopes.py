"""Permissions as a provider grants them: contract, "Single sign-on"."""

from app.domain.authorization.permissions import (
    ALL_PERMISSIONS,
    Permission,
    ScopeGrant,
    granted_scopes,
    read_grant,
    scope_of,
    write_grant,
)
from tests.fixtures.cases import cases

PRODUCTS, USERS = Permission.MANAGE_PRODUCTS, Permission.MANAGE_USERS
P, U = "latchkey:manage_products", "latchkey:manage_users"


def test_scope_is_the_lowercase_permission_with_a_prefix() -> None:
    assert scope_of(PRODUCTS, "latchkey") == P


@cases("permission", list(Permission))
def test_every_permission_can_be_granted(permission: Permission) -> None:
    grant = granted_scopes(scope_of(permission, "latchkey"), None, "latchkey")
    assert grant == ScopeGrant(frozenset({permission}), is_staff=True)


@cases(
    ("scope", "permissions", "granted"),
    [
        (None, None, set()),
        ("", [], set()),
        (P, None, {PRODUCTS}),
        (f"openid {P} {U}", None, {PRODUCTS, USERS}),
        (P, [U], {PRODUCTS}),  # never merged
        (P, [P, U], {PRODUCTS}),
        ("openid profile", [U], {USERS}),
        (None, [U, P], {USERS, PRODUCTS}),
        (None, f"{U} {P}", {USERS, PRODUCTS}),
        ("latchkey:manage_nothing", [U], {USERS}),
        ("another:manage_products", [U], {USERS}),
        (P.upper(), None, set()),
        ("MANAGE_PRODUCTS", ["MANAGE_USERS"], set()),
        (f"x{P}", None, set()),
        (f"{P}x", None, set()),
        (f"{P},{U}", None, set()),
        (f"{P}\t{U}", None, set()),
        ([P, 5, None, [U]], None, {PRODUCTS}),
        ({P: True}, {U: True}, set()),
        (5, 5.0, set()),
        (True, True, set()),
    ],
)
def test_permissions_claim_counts_only_without_scopes(
    scope: object, permissions: object, granted: set[Permission]
) -> None:
    grant = granted_scopes(scope, permissions, "latchkey")
    assert grant == ScopeGrant(frozenset(granted), is_staff=bool(granted))


@cases(("scope", "permissions"), [("latchkey:staff", None), (None, ["latchkey:staff"])])
def test_staff_can_have_no_permissions(scope: object, permissions: object) -> None:
    assert granted_scopes(scope, permissions, "latchkey") == ScopeGrant(is_staff=True)
    assert granted_scopes(scope, permissions, "another") == ScopeGrant()


@cases(
    "grant",
    [
        None,
        ScopeGrant(),
        ScopeGrant(is_staff=True),
        ScopeGrant(frozenset({PRODUCTS}), is_staff=True),
        ScopeGrant(ALL_PERMISSIONS, is_staff=True),
    ],
)
def test_grant_round_trips(grant: ScopeGrant | None) -> None:
    assert read_grant(write_grant(grant)) == grant


def test_permissions_of_another_version_are_ignored() -> None:
    assert read_grant("STAFF MANAGE_TOMORROW MANAGE_USERS") == ScopeGrant(
        frozenset({USERS}), is_staff=True
    )


@cases(
    ("mine", "other", "both"),
    [({PRODUCTS, USERS}, {USERS}, {USERS}), ({PRODUCTS}, {USERS}, set()), (set(), {USERS}, set())],
)
def test_refresh_grants_no_more_than_the_login(
    mine: set[Permission], other: set[Permission], both: set[Permission]
) -> None:
    later, first = (ScopeGrant(frozenset(held), is_staff=True) for held in (mine, other))
    assert later.within(first) == ScopeGrant(frozenset(both), is_staff=True)
    assert later.within(ScopeGrant(frozenset(other))).is_staff is False
