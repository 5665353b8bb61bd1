"""When a change of the doors would leave nobody who could take it back: the truth table."""

from dataclasses import replace
from typing import Any

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.lockouts import (
    AccessChange,
    LockoutReason,
    SettingsManagers,
    check_lockout,
    locking_problem,
    locking_setting,
)
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.providers import Provider
from tests.fixtures.cases import cases

ENABLED, CUSTOMERS_ONLY, DISABLED = PasswordLoginMode
NOBODY = SettingsManagers(people=0, by_sign_on=0, by_grant=0, apps=0, providers=1)
MANAGES = frozenset({Permission.MANAGE_SETTINGS})


def person(origin: SessionOrigin, permissions: frozenset[Permission] = MANAGES) -> Actor:
    return Actor(ActorKind.USER, user_id=1, is_staff=True, origin=origin, permissions=permissions)


BY_PASSWORD = person(SessionOrigin.PASSWORD)
BY_SIGN_ON = person(SessionOrigin.OIDC)


@cases("mode", [CUSTOMERS_ONLY, DISABLED])
@cases(
    ("managers", "people", "reason"),
    [
        (
            SettingsManagers(people=5, by_sign_on=0, by_grant=0, apps=0, providers=1),
            0,
            "NO_IDENTITY",
        ),
        (
            SettingsManagers(people=5, by_sign_on=0, by_grant=0, apps=0, providers=0),
            0,
            "NO_PROVIDER",
        ),
        (SettingsManagers(people=5, by_sign_on=2, by_grant=1, apps=0, providers=1), 3, None),
        (SettingsManagers(people=5, by_sign_on=0, by_grant=1, apps=0, providers=1), 1, None),
        (SettingsManagers(people=5, by_sign_on=0, by_grant=0, apps=1, providers=0), 0, None),
    ],
)
def test_restricted_mode_can_be_undone_by_sso_and_apps_only(
    mode: PasswordLoginMode, managers: SettingsManagers, people: int, reason: str | None
) -> None:
    judged = check_lockout(BY_PASSWORD, managers, mode, AccessChange(password_login_mode=mode))
    assert judged.people == people
    assert judged.reason == (None if reason is None else LockoutReason[reason])
    assert judged.is_locked_out is (reason is not None)


def test_sso_caller_can_undo_with_the_same_provider() -> None:
    change = AccessChange(password_login_mode=DISABLED)
    assert check_lockout(BY_SIGN_ON, NOBODY, DISABLED, change).people == 1


def test_provider_that_waits_is_no_recovery() -> None:
    waiting = SettingsManagers(people=5, by_sign_on=5, by_grant=0, apps=0, providers=1, waiting=1)
    caller = person(SessionOrigin.OIDC)
    restricted, enabled = PasswordLoginMode.DISABLED, PasswordLoginMode.ENABLED
    found = check_lockout(caller, waiting, restricted, AccessChange())
    assert found.reason is LockoutReason.WAITS
    assert check_lockout(caller, waiting, enabled, AccessChange()).reason is None
    two = replace(waiting, providers=2)
    assert check_lockout(caller, two, restricted, AccessChange()).reason is None


def test_disabled_provider_is_no_recovery() -> None:
    change = AccessChange(provider_off="default")
    assert check_lockout(BY_SIGN_ON, NOBODY, DISABLED, change).is_locked_out


def test_permission_that_is_not_held_cannot_undo() -> None:
    without = person(SessionOrigin.OIDC, frozenset())
    change = AccessChange(password_login_mode=DISABLED)
    assert check_lockout(without, NOBODY, DISABLED, change).is_locked_out


def test_enabled_password_login_never_locks_out() -> None:
    change = AccessChange(allow_storefront_traffic=False)
    assert not check_lockout(BY_PASSWORD, NOBODY, ENABLED, change).is_locked_out


def test_missing_managers_are_distinguished_from_missing_sign_in_methods() -> None:
    app = Actor(ActorKind.APP, app_id=1, permissions=MANAGES)
    judged = check_lockout(app, NOBODY, ENABLED, AccessChange(provider_off="default"))
    assert judged.reason is LockoutReason.NOBODY


def test_operator_is_never_locked_out() -> None:
    change = AccessChange(password_login_mode=DISABLED)
    assert not check_lockout(OPERATOR, NOBODY, DISABLED, change).is_locked_out


@cases("reason", list(LockoutReason))
def test_every_reason_says_what_to_do(reason: LockoutReason) -> None:
    assert "first" in reason.value


NORTHLIGHT = Provider(
    1, "default", "Northlight ID", active=True, issuer="https://a", client_id="x"
)


@cases(
    ("before", "after", "setting"),
    [
        ({}, {}, ""),
        ({}, {"active": False}, "active"),
        ({}, {"issuer": "https://b"}, "issuer"),
        ({}, {"issuer": ""}, "issuer"),
        ({"issuer": ""}, {}, "issuer"),
        ({}, {"client_id": "y"}, "client_id"),
        ({}, {"client_id": ""}, "client_id"),
        ({"client_id": ""}, {}, ""),
        ({}, {"audience": "y", "name": "Other"}, ""),
        ({"active": False}, {}, ""),
        ({"active": False}, {"active": False, "issuer": "https://b"}, ""),
    ],
)
def test_locking_setting_is_recognized(
    before: dict[str, Any], after: dict[str, Any], setting: str
) -> None:
    assert locking_setting(replace(NORTHLIGHT, **before), replace(NORTHLIGHT, **after)) == setting


@cases("setting", ["active", "issuer", "client_id"])
def test_refusal_names_the_people_who_would_lose_access(setting: str) -> None:
    message = refusal(setting, 1240, 3, LockoutReason.NO_IDENTITY)
    assert message.startswith("1,240 people signed in with Northlight ID, 3 of them staff, and ")
    assert message.endswith(" You can change it while everyone can sign in with a password.")
    message = refusal(setting, 1, 1, LockoutReason.NOBODY)
    assert message.startswith("1 person signed in with Northlight ID, 1 of them staff, and ")
    assert "sign in with a password" not in message
    message = refusal(setting, 10_001, 1, LockoutReason.NOBODY)
    assert message.startswith("More than 10,000 people signed in with Northlight ID, 1 of them ")


def refusal(setting: str, people: int, staff: int, reason: LockoutReason) -> str:
    return locking_problem(setting, NORTHLIGHT, people, staff, reason, most=10_000).message


def test_refusal_is_made_of_whole_sentences() -> None:
    assert refusal("issuer", 2, 0, LockoutReason.NO_PROVIDER) == (
        "2 people signed in with Northlight ID, 0 of them staff, and changing the issuer unlinks "
        "them. No one else who can manage settings could sign in, and no app can manage settings, "
        "so this couldn't be undone. You can change it while everyone can sign in with a password."
    )
