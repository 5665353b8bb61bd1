"""Clients of identity providers on an app's page: linked, shown, unlinked."""

import pytest

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.apps import link_client, make_app
from tests.builders.provider_records import ISSUER_THERE, make_provider
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient
from tests.fixtures.cases import cases

APPS, ORDERS = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS
CLIENT = {"provider": "default", "client_id": "stock-sync", "subject": "its account"}


@pytest.fixture
def app_id(shop: Ports) -> int:
    make_provider(shop, audience="https://shop.example/api")
    return make_app(shop, "Stock", ORDERS)[0]


@pytest.fixture
def console(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console(APPS, ORDERS)


def test_client_is_linked_shown_and_unlinked(app_id: int, staff_console: StaffConsole) -> None:
    console = staff_console(APPS, ORDERS)
    assert "No linked clients" in console.open(f"/console/apps/{app_id}?view=tokens").text
    form = console.open(f"/console/apps/{app_id}/clients/new")
    assert "Subject (sub)" in form.text
    linked = console.follow(console.send(f"/console/apps/{app_id}/clients/new", CLIENT))
    assert "Client stock-sync was linked." in linked.text
    assert ISSUER_THERE in linked.text
    question = console.open(f"/console/apps/{app_id}?ask=unlink&client=1")
    assert "Unlink client stock-sync?" in question.text
    unlinked = console.follow(
        console.send(f"/console/apps/{app_id}/clients/1/unlink", seen_at=f"/console/apps/{app_id}")
    )
    assert "Client stock-sync was unlinked." in unlinked.text
    assert "No linked clients" in unlinked.text


def test_app_with_more_rights_is_out_of_reach(
    shop: Ports, app_id: int, staff_console: StaffConsole
) -> None:
    console = staff_console(APPS)
    refused = console.send(f"/console/apps/{app_id}/clients/new", CLIENT)
    assert refused.status == 422
    assert "permissions that you don\u2019t have" in refused.text.replace("'", "\u2019")
    link_client(shop, app_id, 1)
    console.send(f"/console/apps/{app_id}/clients/1/unlink", seen_at=f"/console/apps/{app_id}")
    assert "sync" in console.open(f"/console/apps/{app_id}?view=tokens").text


@cases(
    ("changes", "message"),
    [
        ({"client_id": ""}, "Enter a client ID."),
        ({"subject": ""}, "Enter a subject."),
        ({"provider": "none"}, "Not a valid choice."),
    ],
)
def test_problem_is_shown_at_its_field(
    app_id: int, console: ConsoleClient, changes: dict[str, str], message: str
) -> None:
    refused = console.send(f"/console/apps/{app_id}/clients/new", {**CLIENT, **changes})
    assert (refused.status, message in refused.text) == (422, True)


def test_names_of_clients_are_text(shop: Ports, app_id: int, staff_console: StaffConsole) -> None:
    link_client(shop, app_id, 1, "<img src=x onerror=alert(1)>")
    console = staff_console(APPS, ORDERS)
    for address in ("", "?ask=unlink&client=1"):
        assert "<img src=x" not in console.open(f"/console/apps/{app_id}{address}").html
