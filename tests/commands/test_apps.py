"""``flask app``."""

import json

import pytest

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.apps import app_as_stored, make_app
from tests.builders.audit import trail
from tests.builders.people import visit
from tests.commands.shell import run, run_json
from tests.fixtures.cases import cases

ORDERS = Permission.MANAGE_ORDERS


def test_new_app_token_is_the_only_standard_output(ports: Ports) -> None:
    created = run(ports, "app", "create", "Warehouse", "--permission", "MANAGE_ORDERS")
    assert created.exit_code == 0
    token, end = created.stdout.split("\n")
    assert end == ""
    assert token not in created.stderr
    assert identify(ports, visit(token)).actor.permissions == {ORDERS}


def test_token_is_json_where_json_was_asked_for(ports: Ports) -> None:
    token = run_json(ports, "app", "create", "Warehouse")["token"]
    assert identify(ports, visit(token)).actor.is_app


def test_no_app_is_given_manage_apps(ports: Ports) -> None:
    make_app(ports, "Importer")
    for arguments in (("create", "Warehouse"), ("update", "Importer")):
        failed = run(ports, "app", *arguments, "--permission", "MANAGE_APPS")
        assert (failed.exit_code, failed.stdout) == (3, "")
        assert "Apps can't have MANAGE_APPS" in failed.stderr


def test_apps_are_listed_without_their_tokens(ports: Ports) -> None:
    assert run_json(ports, "app", "list") == []
    key, token = make_app(ports, "Warehouse", ORDERS)
    [row] = run_json(ports, "app", "list")
    assert (row["id"], row["name"], row["type"], row["isActive"]) == (
        key,
        "Warehouse",
        "LOCAL",
        True,
    )
    assert row["permissions"] == ["MANAGE_ORDERS"]
    assert token not in run(ports, "app", "list").output
    assert run(ports, "app", "list", "--short").stdout == f"{key}\tWarehouse\n"


def test_apps_are_listed_by_name_and_by_whether_they_may_come_in(ports: Ports) -> None:
    make_app(ports, "Warehouse")
    make_app(ports, "Old house", is_active=False)
    make_app(ports, "Importer")

    def names(*arguments: str) -> list[str]:
        return [row["name"] for row in run_json(ports, "app", "list", *arguments)]

    assert names("--search", "HOUSE") == ["Warehouse", "Old house"]
    assert names("--search", "house", "--active") == ["Warehouse"]
    assert names("--inactive") == ["Old house"]


def test_app_is_shown_by_its_name_or_its_id(ports: Ports) -> None:
    key, token = make_app(ports, "Warehouse", ORDERS)
    for app in ("Warehouse", str(key)):
        shown = run_json(ports, "app", "show", app)
        assert (shown["id"], shown["permissions"]) == (key, ["MANAGE_ORDERS"])
        assert (shown["manifestUrl"], token in json.dumps(shown)) == (None, False)


def test_what_is_changed_of_an_app_is_changed_and_nothing_else(ports: Ports) -> None:
    key, token = make_app(ports, "Warehouse", ORDERS)
    shown = run_json(
        ports, "app", "update", "Warehouse", "--name", "Old", "--identifier", "example.old"
    )
    assert (shown["name"], shown["identifier"]) == ("Old", "example.old")
    assert shown["permissions"] == ["MANAGE_ORDERS"]
    options = ("--permission", "manage-products", "--permission", "manage-users")
    shown = run_json(ports, "app", "update", str(key), *options)
    assert shown["permissions"] == ["MANAGE_PRODUCTS", "MANAGE_USERS"]
    assert shown["name"] == "Old"
    assert run_json(ports, "app", "update", "Old", "--no-permissions")["permissions"] == []
    assert identify(ports, visit(token)).actor.permissions == frozenset()


@pytest.mark.parametrize(
    "options", [(), ("--permission", "MANAGE_ORDERS", "--no-permissions"), ("--colour", "red")]
)
def test_change_that_says_nothing_or_two_things_is_a_mistake(
    ports: Ports, options: tuple[str, ...]
) -> None:
    make_app(ports, "Warehouse")
    assert run(ports, "app", "update", "Warehouse", *options).exit_code == 2


def test_what_no_app_can_be_called_is_refused(ports: Ports) -> None:
    make_app(ports, "Warehouse")
    make_app(ports, "Importer")
    run(ports, "app", "update", "Importer", "--identifier", "x")
    for field, value in (("name", ""), ("identifier", "x")):
        failed = run(ports, "app", "update", "Warehouse", f"--{field}", value)
        assert (failed.exit_code, failed.stdout) == (3, "")
        assert failed.stderr.startswith(f"Error: {field}: ")


def test_app_is_deactivated_and_activated(ports: Ports) -> None:
    _, token = make_app(ports, "Warehouse")
    assert run_json(ports, "app", "deactivate", "Warehouse")["isActive"] is False
    assert not identify(ports, visit(token)).actor.is_app
    output = run(ports, "app", "activate", "Warehouse")
    assert output.stderr == "Warehouse was activated.\n"
    assert identify(ports, visit(token)).actor.is_app
    assert [row.actor_kind for row in trail(ports, "app.activate")] == ["operator"]


def test_tokens_that_an_app_refuses_work_again_after_confirmation(ports: Ports) -> None:
    _, token = make_app(ports, "Warehouse", ORDERS)
    change = "app", "update", "Warehouse"
    assert run(ports, *change, "--client-credentials-only").exit_code == 0
    unasked = run(ports, *change, "--long-lived-tokens")
    assert unasked.exit_code == 2
    assert "Let 1 long-lived token of Warehouse work again?" in unasked.stderr
    assert not identify(ports, visit(token)).actor.permissions
    assert run(ports, *change, "--name", "Store").exit_code == 0
    assert run(ports, "app", "update", "Store", "--long-lived-tokens", "--yes").exit_code == 0
    assert identify(ports, visit(token)).actor.permissions == {ORDERS}


def test_app_deletion_needs_confirmation(ports: Ports) -> None:
    key, token = make_app(ports, "Warehouse")
    result = run(ports, "app", "delete", "Warehouse")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Delete Warehouse (app {key}) with its tokens and webhooks?" in result.stderr
    assert app_as_stored(ports, key).is_active
    assert run_json(ports, "app", "delete", str(key), "--yes")["name"] == "Warehouse"
    assert not identify(ports, visit(token)).actor.is_app
    assert run_json(ports, "app", "list") == []


@cases("named", ["Nothing", "4711", "9" * 30])
def test_app_that_does_not_exist_is_not_found(ports: Ports, named: str) -> None:
    verbs = (
        ("token", "create"),
        ("token", "list"),
        ("show",),
        ("deactivate",),
        ("activate",),
        ("update", "--name", "x"),
        ("delete", "--yes"),
    )
    for verb in verbs:
        failed = run(ports, "app", *verb, named)
        assert (failed.exit_code, failed.stdout) == (3, "")
        assert "App not found." in failed.stderr


def test_name_that_several_apps_have_is_not_guessed(ports: Ports) -> None:
    make_app(ports, "Warehouse")
    make_app(ports, "Warehouse")
    for verb in (("token", "create"), ("deactivate",), ("delete", "--yes")):
        failed = run(ports, "app", *verb, "Warehouse")
        assert failed.exit_code == 3
        assert "Several apps have this name. Use the app's ID." in failed.stderr
