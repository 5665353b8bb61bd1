"""Lists as CSV files: what the list shows, with its filters, safe to open in a spreadsheet."""

import csv
import io

import pytest

from app.console.lists import files
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_user
from tests.builders.provider_records import make_provider
from tests.builders.webhooks import change_webhook, make_delivery, make_webhook
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient
from tests.fixtures.cases import cases

MAY = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
    Permission.MANAGE_PLUGINS,
    Permission.MANAGE_SETTINGS,
)


def rows(body: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body)))


@pytest.fixture
def filled(shop: Ports) -> Ports:
    """A shop with something in each list."""
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_ORDERS)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    change_webhook(shop, hook, name="Stock")
    make_delivery(shop, hook)
    make_group(shop, "Support", Permission.MANAGE_ORDERS)
    make_user(shop, "clara@example.com", first_name="Clara")
    make_provider(shop, name="Northlight")
    return shop


@pytest.fixture
def console(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console(*MAY)


@cases(
    ("path", "expected"),
    [
        ("apps/", {"name": "Labels", "active": "yes", "permissions": "MANAGE_ORDERS"}),
        ("webhooks/", {"name": "Stock", "app": "Labels", "events": "PRODUCT_UPDATED"}),
        ("deliveries/", {"event": "PRODUCT_UPDATED", "webhook": "Stock", "status": "PENDING"}),
        ("customers/", {"email": "clara@example.com", "first_name": "Clara", "active": "yes"}),
        ("staff/", {"email": "staff@example.com", "active": "yes"}),
        ("staff/groups/", {"name": "Support", "permissions": "MANAGE_ORDERS", "members": "0"}),
        ("single-sign-on/", {"name": "Northlight", "slug": "default"}),
        ("keys/", {"state": "active", "retired_at": ""}),
    ],
)
def test_list_is_exported(
    filled: Ports, console: ConsoleClient, path: str, expected: dict[str, str]
) -> None:
    assert f'href="/console/{path}export.csv"' in console.open(f"/console/{path}").html
    answer = console.open(f"/console/{path}export.csv")
    assert answer.response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert ".csv" in answer.response.headers["Content-Disposition"]
    found = [
        row for row in rows(answer.html) if all(row[name] == expected[name] for name in expected)
    ]
    assert len(found) == 1, answer.html
    for secret in ("secret", "token", "password", "payload"):
        assert secret not in answer.html.lower()


def test_filters_and_order_of_the_list_apply(staff_console: StaffConsole, shop: Ports) -> None:
    for name in ("ada", "ben", "carl"):
        make_user(shop, f"{name}@example.com", is_active=name != "ben")
    console = staff_console(*MAY)
    path = "/console/customers/export.csv"
    sorted_ = rows(console.open(f"{path}?sort=email").html)
    assert [row["email"][:3] for row in sorted_] == ["ada", "ben", "car"]
    assert [row["email"] for row in rows(console.open(f"{path}?status=inactive").html)] == [
        "ben@example.com"
    ]
    assert rows(console.open(f"{path}?q=nobody").html) == []
    assert console.open(f"{path}?q=nobody").html.startswith("id,email,")
    page = console.open("/console/customers/?status=inactive&q=ben")
    assert "export.csv?q=ben&amp;status=inactive" in page.html


def test_every_page_is_exported_once(
    staff_console: StaffConsole, shop: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_ROWS_AT_ONCE", 3)
    for number in range(7):
        make_user(shop, f"{number}@example.com")
    found = rows(staff_console(*MAY).open("/console/customers/export.csv").html)
    assert sorted(row["email"] for row in found) == [f"{n}@example.com" for n in range(7)]


def test_long_file_ends_with_what_is_left_out(
    console: ConsoleClient, shop: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_ROWS", 3)
    more = "Only the first 3 rows are exported. Add a filter to export the others."
    for number in (1, 2, 3, 4):
        make_user(shop, f"{number}@example.com")
        lines = console.open("/console/customers/export.csv").html.splitlines()
        is_cut = number > 3
        assert len(lines) == 1 + min(number, 3) + is_cut
        assert (lines[-1].strip('"') == more) is is_cut


def test_no_cell_is_a_formula(console: ConsoleClient, shop: Ports) -> None:
    formulas = {f"{sign}HYPERLINK(1)" for sign in "=+-@"}
    for place, formula in enumerate(formulas):
        make_user(shop, f"{place}@example.com", first_name=formula)
    found = rows(console.open("/console/customers/export.csv").html)
    assert {row["first_name"] for row in found} == {f"'{formula}" for formula in formulas}


def test_no_cell_holds_a_formula_behind_a_semicolon(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_user(shop, "mallory@example.com", first_name="a;=HYPERLINK(1)", last_name="b;c")
    (row,) = rows(staff_console(*MAY).open("/console/customers/export.csv").html)
    assert (row["first_name"], row["last_name"]) == ("a;'=HYPERLINK(1)", "b;c")


def test_blocked_ips_are_exported(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(*MAY)
    answer = console.open("/console/throttle/export.csv")
    assert answer.html.startswith("ip_address,blocked_until,failures,")
    assert rows(answer.html) == []
