"""What apps, their tokens and their extensions may be used for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.domain.apps.apps import (
    App,
    AppToken,
    AppType,
    Extension,
    extension_permissions,
    grantable_problem,
    narrowing_problem,
    overlap_problem,
    rotated_end,
    rotation_problem,
    successor_end,
    token_permissions,
)
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from tests.fixtures.cases import cases

APPS, ORDERS, PAGES = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS, Permission.MANAGE_PAGES
NOW = datetime(2026, 3, 1, tzinfo=UTC)
TOKEN = AppToken(1, 1, "nightly", "abcd", NOW - timedelta(days=9), None, None)
APP = App(1, "An app", "", AppType.THIRDPARTY, True, NOW, frozenset())  # noqa: FBT003 - active


def test_app_cannot_have_manage_apps() -> None:
    assert grantable_problem(ALL_PERMISSIONS - {APPS}) is None
    problem = grantable_problem([ORDERS, APPS])
    assert problem is not None
    assert (problem.code, problem.field) == ("OUT_OF_SCOPE_PERMISSION", "permissions")


@cases(
    ("granted", "narrowed", "usable"),
    [
        ({ORDERS, PAGES}, None, {ORDERS, PAGES}),
        ({ORDERS, PAGES}, {ORDERS}, {ORDERS}),
        ({ORDERS}, {ORDERS, PAGES}, {ORDERS}),
        ({ORDERS}, set(), set()),
        (set(), {ORDERS}, set()),
    ],
)
def test_token_has_the_permissions_that_it_and_its_app_hold(
    granted: set[Permission], narrowed: set[Permission] | None, usable: set[Permission]
) -> None:
    limit = None if narrowed is None else frozenset(narrowed)
    assert token_permissions(frozenset(granted), limit) == usable


def test_token_cannot_have_permissions_that_its_app_lacks() -> None:
    assert narrowing_problem(frozenset({ORDERS}), None) is None
    assert narrowing_problem(frozenset({ORDERS}), frozenset({ORDERS})) is None
    problem = narrowing_problem(frozenset({ORDERS}), frozenset({ORDERS, PAGES}))
    assert problem is not None
    assert problem.permissions == ("MANAGE_PAGES",)


@cases(("seconds", "fine"), [(-1, False), (0, True), (86400 * 30 + 1, False)])
def test_overlap_of_a_rotated_token_is_at_most_a_month(seconds: int, fine: bool) -> None:
    assert (overlap_problem(timedelta(seconds=seconds)) is None) is fine


def test_rotation_never_extends_a_tokens_lifetime() -> None:
    hour = timedelta(hours=1)
    assert rotated_end(TOKEN, NOW, hour) == NOW + hour
    ending = replace(TOKEN, expires_at=NOW + timedelta(minutes=5))
    assert rotated_end(ending, NOW, hour) == NOW + timedelta(minutes=5)


def test_expired_or_replaced_token_is_not_rotated() -> None:
    assert rotation_problem(TOKEN, NOW) is None
    still_good = replace(TOKEN, expires_at=NOW + timedelta(minutes=1))
    assert rotation_problem(still_good, NOW) is None
    for token in (replace(TOKEN, expires_at=NOW), replace(still_good, replaced_at=NOW)):
        problem = rotation_problem(token, NOW)
        assert problem is not None
        assert (problem.code, problem.field) == ("INVALID", "id")


def test_successor_has_the_same_lifetime() -> None:
    assert successor_end(TOKEN, NOW) is None
    ending = replace(TOKEN, expires_at=NOW + timedelta(days=1))
    assert successor_end(ending, NOW) == NOW + timedelta(days=10)


@cases(
    ("url", "target", "address"),
    [
        ("/edit", "POPUP", "https://app.example/shop/edit"),
        ("/edit", "APP_PAGE", "/edit"),
        ("https://app.example/other", "POPUP", "https://app.example/other"),
    ],
)
def test_dashboard_gets_the_url_to_open(url: str, target: str, address: str) -> None:
    app = replace(APP, app_url="https://app.example/shop/")
    extension = Extension(1, app, "Edit", url, "X", target, "", frozenset(), {})
    assert extension.address == address


def test_extensions_cannot_manage_apps() -> None:
    assert extension_permissions(frozenset({APPS, ORDERS})) == {ORDERS}
