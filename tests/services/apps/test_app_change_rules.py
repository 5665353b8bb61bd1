"""Apps, as people manage them."""

import pytest

from app.domain.apps.apps import is_app_token
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.pages import PageRequest, read_cursor
from app.ports import Ports
from app.services.apps.app_changes import NewApp, create_app
from app.services.apps.app_lists import AppFilter, list_apps
from app.services.identity.identify import identify
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import actor_of, make_staff, visit
from tests.fixtures.cases import cases

APPS = Permission.MANAGE_APPS
ORDERS = Permission.MANAGE_ORDERS


def boss(ports: Ports, *permissions: Permission) -> Actor:
    return actor_of(ports, make_staff(ports, "boss@example.com", *permissions))


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_token_of_a_new_app_has_its_permissions(ports: Ports) -> None:
    created = create_app(
        ports, boss(ports, APPS, ORDERS), NewApp("Warehouse", frozenset({ORDERS}))
    )
    assert is_app_token(created.token.secret)
    actor = identify(ports, visit(created.token.secret)).actor
    assert actor.app_id == created.app.id
    assert actor.permissions == {ORDERS}
    assert created.app.is_active
    assert created.app.type.value == "LOCAL"


def test_new_app_is_audited_and_published_without_its_token(ports: Ports) -> None:
    created = create_app(
        ports, boss(ports, APPS, ORDERS), NewApp("Warehouse", frozenset({ORDERS}))
    )
    [row] = trail(ports, "app.create")
    assert (row.actor_name, row.subject_name) == ("boss@example.com", "Warehouse")
    assert row.after == {"permissions": ["MANAGE_ORDERS"]}
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("APP_INSTALLED", created.app.id)
    assert created.token.secret not in repr(created)


def test_app_cannot_get_permissions_that_its_creator_lacks(ports: Ports) -> None:
    permissions = frozenset({ORDERS, Permission.MANAGE_PRODUCTS})
    with pytest.raises(Refused) as refused:
        create_app(ports, boss(ports, APPS, ORDERS), NewApp("Warehouse", permissions))
    assert codes(refused) == [("permissions", "OUT_OF_SCOPE_PERMISSION")]
    assert refused.value.problems[0].permissions == ("MANAGE_PRODUCTS",)
    assert list_apps(ports, OPERATOR, PageRequest(100)).items == ()


def test_no_app_can_hold_manage_apps(ports: Ports) -> None:
    with pytest.raises(Refused) as refused:
        create_app(ports, OPERATOR, NewApp("Warehouse", frozenset({APPS})))
    assert codes(refused) == [("permissions", "OUT_OF_SCOPE_PERMISSION")]


@cases(
    ("name", "code"),
    [("", "REQUIRED"), (" ", "REQUIRED"), ("a\rb", "INVALID"), ("x" * 257, "INVALID")],
)
def test_app_name_must_be_one_line(ports: Ports, name: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        create_app(ports, OPERATOR, NewApp(name))
    assert codes(refused) == [("name", code)]


def test_app_cannot_manage_apps_with_any_permissions(ports: Ports) -> None:
    _, token = make_app(ports, "too mighty", *ALL_PERMISSIONS)
    actor = identify(ports, visit(token)).actor
    assert actor.holds(APPS)
    with pytest.raises(PermissionDenied):
        create_app(ports, actor, NewApp("another"))
    with pytest.raises(PermissionDenied):
        list_apps(ports, actor, PageRequest(100))


def test_staff_list_apps_and_manage_apps_is_needed_to_create(ports: Ports) -> None:
    app, _ = make_app(ports)
    actor = boss(ports, *(ALL_PERMISSIONS - {APPS}))
    with pytest.raises(PermissionDenied):
        create_app(ports, actor, NewApp("Warehouse"))
    assert [app.id for app in list_apps(ports, actor, PageRequest(100)).items] == [app]


def test_apps_are_listed_by_creation_or_found_by_exact_name(ports: Ports) -> None:
    first, _ = make_app(ports, "Warehouse", ORDERS)
    second, _ = make_app(ports, "Tax", is_active=False)
    third, _ = make_app(ports, "Warehouse")
    page = list_apps(ports, OPERATOR, PageRequest(2))
    assert [(app.id, app.is_active) for app in page.items] == [(first, True), (second, False)]
    assert page.items[0].permissions == {ORDERS}
    rest = PageRequest(2, cursor=read_cursor(page.cursors[-1], "after"))
    assert [app.id for app in list_apps(ports, OPERATOR, rest).items] == [third]
    named = list_apps(ports, OPERATOR, PageRequest(2), AppFilter(name="Warehouse")).items
    assert [app.id for app in named] == [first, third]
