"""``flask app``."""

import pytest

from app.domain.permissions import Permission
from app.ports import Ports
from app.services.identity import identify
from tests.builders.apps import make_app
from tests.builders.people import visit
from tests.commands.shell import run, run_json


def test_the_token_of_a_new_app_stands_alone_on_standard_output(ports: Ports) -> None:
    created = run(ports, "app", "create", "Warehouse", "--permission", "MANAGE_ORDERS")
    assert created.exit_code == 0
    token, end = created.stdout.split("\n")
    assert end == ""
    assert token not in created.stderr
    assert identify(ports, visit(token)).actor.permissions == {Permission.MANAGE_ORDERS}


def test_the_token_is_json_where_json_was_asked_for(ports: Ports) -> None:
    token = run_json(ports, "app", "create", "Warehouse")["token"]
    assert identify(ports, visit(token)).actor.is_app


def test_no_app_is_given_manage_apps(ports: Ports) -> None:
    failed = run(ports, "app", "create", "Warehouse", "--permission", "MANAGE_APPS")
    assert (failed.exit_code, failed.stdout) == (3, "")
    assert "managing apps is for people" in failed.stderr


def test_apps_are_listed_without_their_tokens(ports: Ports) -> None:
    assert run_json(ports, "app", "list") == []
    key, token = make_app(ports, "Warehouse", Permission.MANAGE_ORDERS)
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


@pytest.mark.parametrize("by_name", [True, False])
def test_another_token_is_made_listed_and_revoked(ports: Ports, by_name: bool) -> None:
    key, _ = make_app(ports, "Warehouse")
    app = "Warehouse" if by_name else str(key)
    token = run(ports, "app", "token", "create", app, "--name", "nightly").stdout.strip()
    assert identify(ports, visit(token)).actor.app_id == key
    _, nightly = run_json(ports, "app", "token", "list", app)
    assert (nightly["name"], nightly["lastFour"]) == ("nightly", token[-4:])
    revoked = run(ports, "app", "token", "revoke", str(nightly["id"]))
    assert revoked.exit_code == 0
    assert not identify(ports, visit(token)).actor.is_app
    assert len(run_json(ports, "app", "token", "list", app)) == 1


@pytest.mark.parametrize("named", ["Nothing", "4711", "9" * 30])
def test_an_app_that_does_not_exist_is_not_found(ports: Ports, named: str) -> None:
    for verb in ("create", "list"):
        failed = run(ports, "app", "token", verb, named)
        assert (failed.exit_code, failed.stdout) == (3, "")
        assert failed.stderr == "Error: app: There is no such app.\n"


def test_a_name_that_several_apps_have_is_not_guessed(ports: Ports) -> None:
    make_app(ports, "Warehouse")
    make_app(ports, "Warehouse")
    failed = run(ports, "app", "token", "create", "Warehouse")
    assert failed.exit_code == 3
    assert "Several apps have this name; give its id." in failed.stderr


@pytest.mark.parametrize(("token", "code"), [("4711", 3), ("9" * 30, 2), ("lkapp_x", 2)])
def test_a_token_that_does_not_exist_is_not_revoked(ports: Ports, token: str, code: int) -> None:
    failed = run(ports, "app", "token", "revoke", token)
    assert (failed.exit_code, failed.stdout) == (code, "")
