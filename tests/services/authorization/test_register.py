"""Who may call a use case: contract, "Credentials, precisely", 5 and 6."""

import pytest

from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected
from app.services.authorization.register import (
    REGISTER,
    Declaration,
    Rule,
    building_block,
    can_call,
    check,
    public,
    staff_only,
)
from app.services.keys import rotate_keys
from app.services.shop.settings import show_settings, update_shop
from app.services.sign_in.password_login import create_token
from app.services.sign_in.sessions import deactivate_all_tokens
from tests.fixtures.cases import cases

APPS, ORDERS = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS

NOBODY = anonymous()
CUSTOMER = Actor(ActorKind.USER, user_id=1)
STAFF = Actor(ActorKind.USER, user_id=2, is_staff=True)
MANAGER = Actor(ActorKind.USER, user_id=3, is_staff=True, permissions=frozenset({APPS}))
BOSS = Actor(ActorKind.USER, user_id=4, is_staff=True, permissions=ALL_PERMISSIONS)
APP = Actor(ActorKind.APP, app_id=1)
EXTENSION = Actor(ActorKind.USER, user_id=4, app_id=1, is_staff=True, permissions=ALL_PERMISSIONS)
APP_WITH = Actor(ActorKind.APP, app_id=2, permissions=frozenset({APPS}))
CALLERS = {
    "nobody": NOBODY,
    "customer": CUSTOMER,
    "staff": STAFF,
    "manager": MANAGER,
    "boss": BOSS,
    "extension": EXTENSION,
    "app": APP,
    "app with": APP_WITH,
    "operator": OPERATOR,
    "worker": WORKER,
}
EVERYBODY = set(CALLERS)
TRUSTED = {"operator", "worker"}
OWNERS = {"customer", "staff", "manager", "boss"}
PEOPLE = OWNERS | {"extension"}


@cases(
    ("declaration", "admitted", "required"),
    [
        (Declaration("x", Rule.PUBLIC), EVERYBODY, ()),
        (Declaration("x", Rule.ACCOUNT_OWNER), OWNERS | TRUSTED, ("AUTHENTICATED_USER",)),
        (
            Declaration("x", Rule.STAFF),
            PEOPLE - {"customer"} | TRUSTED,
            ("AUTHENTICATED_STAFF_USER",),
        ),
        (Declaration("x", Rule.APPS), {"app", "app with"} | TRUSTED, ("AUTHENTICATED_APP",)),
        (
            Declaration("x", Rule.STAFF_AND_APPS),
            EVERYBODY - {"nobody", "customer"},
            ("AUTHENTICATED_STAFF_USER", "AUTHENTICATED_APP"),
        ),
        (
            Declaration("x", Rule.PERMISSION, (APPS,)),
            {"manager", "boss", "extension", "app with"} | TRUSTED,
            ("MANAGE_APPS",),
        ),
        (
            Declaration("x", Rule.PERMISSION, (ORDERS, APPS)),
            {"manager", "boss", "extension", "app with"} | TRUSTED,
            ("MANAGE_ORDERS", "MANAGE_APPS"),
        ),
        (
            Declaration("x", Rule.PERMISSION, (ORDERS,)),
            {"boss", "extension"} | TRUSTED,
            ("MANAGE_ORDERS",),
        ),
        (
            Declaration("x", Rule.PERMISSION_USERS_ONLY, (APPS,)),
            {"manager", "boss", "extension"} | TRUSTED,
            ("MANAGE_APPS",),
        ),
        (
            Declaration("x", Rule.USERS_OR_PERMISSION, (APPS,)),
            EVERYBODY - {"nobody", "app"},
            ("AUTHENTICATED_USER", "MANAGE_APPS"),
        ),
        (Declaration("x", Rule.INTERNAL), TRUSTED, ()),
        (Declaration("x", Rule.BUILDING_BLOCK), TRUSTED, ()),
    ],
)
@cases("name", CALLERS)
def test_rule_allows_exactly_its_callers(
    declaration: Declaration, admitted: set[str], required: tuple[str, ...], name: str
) -> None:
    caller = CALLERS[name]

    assert declaration.admits(caller) is (name in admitted)
    if name in admitted:
        check(declaration, caller)
        return
    with pytest.raises(PermissionDenied) as denied:
        check(declaration, caller)
    assert denied.value.required == required


@cases("fault", TokenFault)
@cases("rule", [Rule.ACCOUNT_OWNER, Rule.STAFF, Rule.PERMISSION, Rule.INTERNAL])
def test_invalid_credential_is_reported_where_an_identity_is_required(
    fault: TokenFault, rule: Rule
) -> None:
    with pytest.raises(TokenRejected) as rejected:
        check(Declaration("x", rule, (APPS,)), anonymous(fault=fault))

    assert rejected.value.fault is fault


@cases("fault", TokenFault)
def test_invalid_credential_does_not_prevent_public_operations(fault: TokenFault) -> None:
    check(Declaration("x", Rule.PUBLIC), anonymous(fault=fault))


def test_use_case_is_registered_with_its_rule() -> None:
    assert REGISTER["sign_in.password_login.create_token"].rule is Rule.PUBLIC
    assert REGISTER["sign_in.sessions.deactivate_all_tokens"].rule is Rule.ACCOUNT_OWNER
    shop = REGISTER["shop.settings.update_shop"]
    assert (shop.rule, shop.permissions) == (Rule.PERMISSION, (Permission.MANAGE_SETTINGS,))


def test_permission_can_be_checked_without_calling_the_use_case() -> None:
    manager = Actor(ActorKind.USER, permissions=frozenset({Permission.MANAGE_SETTINGS}))

    assert can_call(NOBODY, create_token)
    assert can_call(manager, update_shop)
    assert can_call(manager, show_settings)
    assert can_call(manager, deactivate_all_tokens)
    assert not can_call(NOBODY, update_shop)
    assert not can_call(NOBODY, deactivate_all_tokens)
    assert not can_call(APP_WITH, deactivate_all_tokens)
    assert not can_call(EXTENSION, deactivate_all_tokens)


def test_app_cannot_use_operations_for_people() -> None:
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)

    assert not can_call(app, rotate_keys)
    assert can_call(BOSS, rotate_keys)


def test_declared_use_case_keeps_its_name_and_docstring() -> None:
    assert create_token.__name__ == "create_token"
    assert "Refuses, in this order" in (create_token.__doc__ or "")


def test_second_rule_for_a_use_case_is_refused() -> None:
    before = dict(REGISTER)
    for rule in (building_block, public, staff_only):
        with pytest.raises(TypeError, match=r"keys\.rotate_keys is declared as permission"):
            rule(rotate_keys)
    assert dict(REGISTER) == before


def test_permission_rule_must_name_a_permission() -> None:
    naming = {Rule.PERMISSION, Rule.PERMISSION_USERS_ONLY, Rule.USERS_OR_PERMISSION}

    silent = [
        declaration.name
        for declaration in REGISTER.values()
        if (declaration.rule in naming) is not bool(declaration.permissions)
    ]

    assert silent == []
