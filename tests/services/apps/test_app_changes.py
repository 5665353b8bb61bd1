"""Apps are changed, switched off and deleted by people, with effect from the next request on."""

from collections.abc import Callable

import pytest

from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import EventType
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.apps.app_changes import (
    AppChange,
    NewApp,
    activate_app,
    create_app,
    deactivate_app,
    delete_app,
    grant_events,
    save_webhook,
    update_app,
)
from app.services.identity.identify import identify
from app.services.webhooks.changes import WebhookInput
from tests.builders.apps import app_as_stored, change_app, make_app
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import actor_of, make_staff, visit
from tests.builders.webhooks import make_webhook
from tests.fixtures.cases import cases
from tests.services.installation_helpers import left_behind

APPS, ORDERS, PAGES = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS, Permission.MANAGE_PAGES
PRODUCTS = Permission.MANAGE_PRODUCTS
UseCase = Callable[[Ports, Actor, int], object]
RENAME: UseCase = lambda ports, actor, key: update_app(ports, actor, key, AppChange("other"))  # noqa: E731
USE_CASES = [RENAME, delete_app, activate_app, deactivate_app]
IDS = ["update", "delete", "activate", "deactivate"]


def boss(ports: Ports, *permissions: Permission) -> Actor:
    return actor_of(ports, make_staff(ports, "boss@example.com", APPS, *permissions))


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def rights(ports: Ports, token: str) -> set[Permission] | None:
    actor = identify(ports, visit(token)).actor
    return set(actor.permissions) if actor.is_app else None


@pytest.mark.both_databases
def test_new_permissions_apply_to_the_next_request(ports: Ports, second_process: Ports) -> None:
    key, token = make_app(ports, "Warehouse", ORDERS)
    assert rights(second_process, token) == {ORDERS}
    actor = boss(ports, ORDERS, PAGES)
    updated = update_app(ports, actor, key, AppChange(permissions=frozenset({PAGES})))
    assert updated.permissions == {PAGES}
    assert rights(second_process, token) == {PAGES}
    [row] = trail(ports, "app.update")
    assert row.before["permissions"] == ["MANAGE_ORDERS"]
    assert row.after["permissions"] == ["MANAGE_PAGES"]
    assert [(event.type, event.subject_id) for event in events(ports)] == [("APP_UPDATED", key)]


def test_absent_fields_stay(ports: Ports) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS)
    change_app(ports, key, identifier="a.b")
    updated = update_app(ports, OPERATOR, key, AppChange(name=" Depot "))
    assert (updated.name, updated.identifier) == ("Depot", "a.b")
    assert updated.permissions == {ORDERS}


def test_unchanged_values_are_no_change(ports: Ports) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS)
    change = AppChange("Warehouse", permissions=frozenset({ORDERS}))
    update_app(ports, OPERATOR, key, change)
    assert events(ports) == []
    assert trail(ports, "app.update") == []


INVALID_CHANGES: tuple[tuple[AppChange, str, str], ...] = (
    (AppChange(name=""), "name", "REQUIRED"),
    (AppChange(name="a\nb"), "name", "INVALID"),
    (AppChange(identifier="x" * 257), "identifier", "INVALID"),
    (AppChange(identifier="taken"), "identifier", "UNIQUE"),
    (
        AppChange(permissions=frozenset({Permission.MANAGE_TAXES})),
        "permissions",
        "OUT_OF_SCOPE_PERMISSION",
    ),
    (AppChange(permissions=frozenset({APPS})), "permissions", "OUT_OF_SCOPE_PERMISSION"),
)


def test_invalid_change_is_refused_and_changes_nothing(ports: Ports) -> None:
    create_app(ports, OPERATOR, NewApp("Other", identifier="taken"))
    key, _ = make_app(ports, "Warehouse", ORDERS)
    before, actor = app_as_stored(ports, key), boss(ports, ORDERS)
    for change, field, code in INVALID_CHANGES:
        with pytest.raises(Refused) as refused:
            update_app(ports, actor, key, change)
        assert codes(refused) == [(field, code)], change
    assert app_as_stored(ports, key) == before


def test_app_identifier_is_unique_unless_empty(ports: Ports) -> None:
    create_app(ports, OPERATOR, NewApp("One", identifier="same"))
    with pytest.raises(Refused) as refused:
        create_app(ports, OPERATOR, NewApp("Two", identifier=" same "))
    assert codes(refused) == [("identifier", "UNIQUE")]
    create_app(ports, OPERATOR, NewApp("Three"))
    create_app(ports, OPERATOR, NewApp("Four"))


@pytest.mark.both_databases
def test_inactive_app_is_rejected_until_activated(ports: Ports, second_process: Ports) -> None:
    key, token = make_app(ports, "Warehouse", ORDERS)
    assert not deactivate_app(ports, OPERATOR, key).is_active
    assert rights(second_process, token) is None
    deactivate_app(ports, OPERATOR, key)
    assert activate_app(ports, OPERATOR, key).is_active
    assert rights(second_process, token) == {ORDERS}
    assert [event.type for event in events(ports)] == ["APP_STATUS_CHANGED"] * 2
    assert len(trail(ports, "app.deactivate")) == len(trail(ports, "app.activate")) == 1


@pytest.mark.both_databases
def test_deleting_an_app_leaves_no_rows_of_it(ports: Ports, second_process: Ports) -> None:
    key, token = make_app(ports, "Warehouse", ORDERS)
    make_webhook(ports, key, EventType.STAFF_CREATED)
    assert delete_app(ports, OPERATOR, key).name == "Warehouse"
    assert rights(second_process, token) is None
    assert left_behind(ports) == {}
    [row] = trail(ports, "app.delete")
    assert row.before == {"is_active": True, "permissions": ["MANAGE_ORDERS"]}


def test_deletion_event_has_the_apps_snapshot(ports: Ports) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS)
    delete_app(ports, OPERATOR, key)
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("APP_DELETED", key)
    snapshot = event.data["snapshot"]
    assert isinstance(snapshot, dict)
    assert (snapshot["id"], snapshot["name"]) == (key, "Warehouse")
    assert snapshot["permissions"] == ["MANAGE_ORDERS"]


def test_more_privileged_app_is_stopped_and_started_again(ports: Ports) -> None:
    key, token = make_app(ports, "mighty", PAGES)
    manager = boss(ports, ORDERS)
    assert not deactivate_app(ports, manager, key).is_active
    assert identify(ports, visit(token)).actor.fault is not None
    assert activate_app(ports, manager, key).is_active
    assert rights(ports, token) == {PAGES}
    for action in ("app.deactivate", "app.activate"):
        assert [row.subject_name for row in trail(ports, action)] == ["mighty"]


@pytest.mark.parametrize("use_case", USE_CASES[:2], ids=IDS[:2])
def test_more_privileged_app_is_out_of_scope(ports: Ports, use_case: UseCase) -> None:
    key, token = make_app(ports, "mighty", PAGES)
    with pytest.raises(Refused) as refused:
        use_case(ports, boss(ports, ORDERS), key)
    assert codes(refused) == [("id", "OUT_OF_SCOPE_APP")]
    assert rights(ports, token) == {PAGES}


@cases("use_case", USE_CASES)
def test_unknown_id_is_not_found(ports: Ports, use_case: UseCase) -> None:
    with pytest.raises(Refused) as refused:
        use_case(ports, OPERATOR, 4711)
    assert codes(refused) == [("id", "NOT_FOUND")]


def test_app_is_not_listed_during_installation(ports: Ports) -> None:
    key, _ = make_app(ports)
    change_app(ports, key, is_installed=False)
    for name, use_case in zip(IDS, USE_CASES, strict=True):
        with pytest.raises(Refused) as refused:
            use_case(ports, OPERATOR, key)
        assert codes(refused) == [("id", "NOT_FOUND")], name


def test_apps_require_manage_apps(ports: Ports) -> None:
    key, _ = make_app(ports)
    staff = actor_of(ports, make_staff(ports, "staff@example.com", *(ALL_PERMISSIONS - {APPS})))

    @cases("use_case", USE_CASES)
    def check(use_case: UseCase) -> None:
        with pytest.raises(PermissionDenied) as denied:
            use_case(ports, staff, key)
        assert denied.value.required == ("MANAGE_APPS",)

    check()


@pytest.mark.parametrize("use_case", USE_CASES[:2], ids=IDS[:2])
def test_app_with_manage_apps_is_out_of_scope_even_for_itself(
    ports: Ports, use_case: UseCase
) -> None:
    key, token = make_app(ports, "too mighty", *ALL_PERMISSIONS)
    other, _ = make_app(ports, "other")
    actor = identify(ports, visit(token)).actor
    for target in (key, other):
        with pytest.raises(Refused) as refused:
            use_case(ports, actor, target)
        assert codes(refused) == [("id", "OUT_OF_SCOPE_APP")]


def test_app_with_manage_apps_is_denied_other_operations(ports: Ports) -> None:
    key, token = make_app(ports, "too mighty", *ALL_PERMISSIONS)

    @cases("use_case", USE_CASES[2:])
    def check(use_case: UseCase) -> None:
        with pytest.raises(PermissionDenied):
            use_case(ports, identify(ports, visit(token)).actor, key)

    check()


def test_app_without_manage_apps_is_denied_every_operation(ports: Ports) -> None:
    key, token = make_app(ports, "humble", *(ALL_PERMISSIONS - {APPS}))

    @cases("use_case", USE_CASES)
    def check(use_case: UseCase) -> None:
        with pytest.raises(PermissionDenied):
            use_case(ports, identify(ports, visit(token)).actor, key)

    check()


def test_events_are_granted_with_the_webhook_that_wants_them(ports: Ports) -> None:
    key, token = make_app(ports, "Warehouse", ORDERS)
    actor = boss(ports, ORDERS, PRODUCTS)
    wanted = WebhookInput(
        target_url="https://labels.example.com/", events=(EventType.PRODUCT_CREATED,)
    )
    saved = save_webhook(ports, actor, wanted, key)
    assert rights(ports, token) == {ORDERS}
    saved = save_webhook(ports, actor, wanted, key, saved.webhook.id, grants=True)
    assert (saved.webhook.app_id, saved.not_granted) == (key, None)
    assert rights(ports, token) == {ORDERS, PRODUCTS}
    assert grant_events(ports, actor, key, [EventType.PRODUCT_CREATED]).permissions == {
        ORDERS,
        PRODUCTS,
    }
    assert len(trail(ports, "app.update")) == 1


def test_webhook_is_saved_without_what_the_person_can_not_grant(ports: Ports) -> None:
    key, token = make_app(ports, "Warehouse", ORDERS)
    wanted = WebhookInput(
        target_url="https://labels.example.com/", events=(EventType.PRODUCT_CREATED,)
    )
    saved = save_webhook(ports, boss(ports, ORDERS), wanted, key, grants=True)
    assert saved.webhook.events == (EventType.PRODUCT_CREATED,)
    assert saved.not_granted is not None
    assert saved.not_granted.problems[0].code == "OUT_OF_SCOPE_PERMISSION"
    assert rights(ports, token) == {ORDERS}
