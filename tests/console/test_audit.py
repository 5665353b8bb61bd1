"""The audit log at the console, filtered and exported."""

import csv
import html
import io
import re

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.ports import Ports
from app.services.apps.app_changes import AppChange, NewApp, create_app, update_app
from app.services.people.customers import NewCustomer, create_customer
from app.services.shop.settings import update_shop
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.apps import app_as_stored, make_app
from tests.builders.people import actor_of, make_staff
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

MAY = Permission.MANAGE_STAFF
MODE = PasswordLoginMode.CUSTOMERS_ONLY


def test_trail_needs_manage_staff_and_names_who_can_give_it(
    staff_console: StaffConsole, shop: Ports
) -> None:
    staff_console(MAY, email="boss@example.com")
    page = staff_console(Permission.MANAGE_APPS).open("/console/audit/")
    assert page.status == 403
    assert "Email boss@example.com" in page.text


def test_changes_are_described_with_before_and_after(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    console = staff_console(MAY)
    update_shop(shop, OPERATOR, ShopUpdate(name="Harbour <b>Lane</b>"))
    update_shop(shop, OPERATOR, ShopUpdate(allow_storefront_traffic=False))
    with statements() as seen:
        page = console.open("/console/audit/")
    description = "Closed the storefront Storefront traffic: on changed to off"
    assert f"{description} Server administrator command line" in page.text
    assert "Harbour &lt;b&gt;Lane&lt;/b&gt;" in page.html
    assert len(seen) <= 6


def test_initially_disabled_settings_are_left_out(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    create_customer(shop, OPERATOR, NewCustomer("kettle@example.com"))
    page = console.open("/console/audit/?q=kettle")
    assert "Active: Yes" in page.text
    assert "Is superuser" not in page.text
    [entry] = set(re.findall(r'href="(/console/audit/[0-9]+)"', page.html))
    assert re.search(r"Superuser . No", console.open(entry).text)


def test_each_change_names_its_field_and_no_secret(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    for secret in ("a first secret", "a second secret"):
        save_provider(shop, OPERATOR, "default", ProviderUpdate({"client_secret": secret}))
    page = console.open("/console/audit/?q=provider")
    assert (
        "Edited the identity provider OpenID Connect Client secret: **** changed to" in page.text
    )
    exported = console.open("/console/audit/export.csv").html
    assert "provider.update" in exported
    for shown in (page.html, exported, console.open("/console/audit/export.json").html):
        assert "second secret" not in shown


def test_trail_is_narrowed_by_its_address(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    update_shop(shop, OPERATOR, ShopUpdate(allow_storefront_traffic=False))
    assert "Closed the storefront" in console.open("/console/audit/?kind=access&who=operator").text
    page = console.open("/console/audit/?kind=keys&q=nothing")
    assert "No matching entries" in page.text
    assert console.open("/console/audit/?from=yesterday&after=x&kind=y&on=z").status == 200


@pytest.fixture
def two_days(staff_console: StaffConsole, shop: Ports, clock: FakeClock) -> ConsoleClient:
    """Somebody who may see three changes, of which one was made a day before the others."""
    boss = actor_of(shop, make_staff(shop, "boss@example.com", Permission.MANAGE_USERS))
    clock.pass_(hours=11.9)
    update_shop(shop, OPERATOR, ShopUpdate(name="Harbour Lane"))
    clock.pass_(hours=0.1)
    create_customer(shop, boss, NewCustomer("kettle@example.com"))
    clock.pass_(hours=23.9)
    create_app(shop, OPERATOR, NewApp("Warehouse", frozenset()))
    return staff_console(MAY)


@cases(
    ("question_name", "left"),
    [
        ("", ["app.create", "user.create", "shop.update"]),
        ("sort=oldest", ["shop.update", "user.create", "app.create"]),
        ("who=user", ["user.create"]),
        ("who=operator", ["app.create", "shop.update"]),
        ("who=nobody", ["app.create", "user.create", "shop.update"]),
        ("kind=access", ["shop.update"]),
        ("kind=people", ["user.create"]),
        ("kind=apps", ["app.create"]),
        ("from=2026-03-02", ["app.create", "user.create"]),
        ("to=2026-03-01", ["shop.update"]),
        ("from=2026-03-02&to=2026-03-02", ["app.create", "user.create"]),
        ("to=2026-03-02", ["app.create", "user.create", "shop.update"]),
        ("on=App:1", ["app.create"]),
        ("on=App:2", []),
        ("on=User:1", []),
        ("q=KETTLE", ["user.create"]),
        ("kind=people&who=operator", []),
    ],
)
def test_address_leaves_exactly_what_it_asks_for(
    two_days: ConsoleClient, question_name: str, left: list[str]
) -> None:
    found = two_days.open(f"/console/audit/export.json?{question_name}").response.json
    assert found is not None
    actions = [entry["action"] for entry in found]
    # Beside the three, the keys that the first request made.
    assert [action for action in actions if action != "keys.create"] == left


def test_pages_are_turned_by_their_address(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    for number in range(60):
        update_shop(shop, OPERATOR, ShopUpdate(name=f"Name {number}."))
    first = console.open("/console/audit/")
    assert "Name 59." in first.text
    assert "changed to Name 34." not in first.text
    older = first.html.split('rel="next"')[0].rsplit('href="', 1)[1].split('"')[0]
    assert "changed to Name 34." in console.open(older.replace("&amp;", "&")).text


def test_one_entry_is_shown_whole(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    update_shop(shop, OPERATOR, ShopUpdate(name="Harbour Lane"))
    entry = console.open("/console/audit/1")
    assert entry.status == 200
    assert "Before and after" in entry.text
    assert console.open("/console/audit/999999").status == 404


def test_trail_is_taken_away_as_csv_and_json(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    update_shop(shop, OPERATOR, ShopUpdate(name="=cmd|' /C calc'!A0"))
    page = console.open("/console/audit/export.csv?kind=access")
    assert page.response.headers["Content-Disposition"] == 'attachment; filename="audit.csv"'
    rows = list(csv.DictReader(io.StringIO(page.html)))
    assert rows[0]["action"] == "shop.update"
    assert rows[0]["name"].startswith("'=")
    found = console.open("/console/audit/export.json?kind=access").response.json
    assert found is not None
    assert [entry["action"] for entry in found] == ["shop.update"]
    assert console.open("/console/audit/export.json?q=nothing-like-it").response.json == []


def test_filter_by_subject_names_it(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    create_app(shop, OPERATOR, NewApp("Warehouse", frozenset()))
    assert "Subject: App Warehouse" in console.open("/console/audit/?on=App:1").text
    assert "Subject: App:99" in console.open("/console/audit/?on=App:99").text


def test_entry_has_its_id_and_a_link_to_copy(staff_console: StaffConsole, shop: Ports) -> None:
    create_app(shop, OPERATOR, NewApp("Labels"))
    page = staff_console(Permission.MANAGE_STAFF).open("/console/audit/1")
    assert 'data-copy-text="http://localhost/console/audit/1"' in page.html
    assert 'data-copy-text="1"' in page.html
    assert "Entry ID" in page.text


def newest_entry(console: ConsoleClient) -> str:
    """Return the address of the newest entry."""
    return str(
        re.findall(r'href="(/console/audit/[0-9]+)"', console.open("/console/audit/").html)[0]
    )


def dialog_form(page: Page) -> dict[str, list[str]]:
    """Return the fields of the open dialog's form."""
    dialog = page.html[page.html.index("<dialog") :]
    form: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', dialog):
        form.setdefault(name, []).append(html.unescape(value))
    del form["csrf_token"]
    return form


def test_change_is_reverted_after_a_question(staff_console: StaffConsole, shop: Ports) -> None:
    app, _ = make_app(shop, "Labels", Permission.MANAGE_ORDERS)
    console = staff_console(*ALL_PERMISSIONS)
    update_app(shop, OPERATOR, app, AppChange("Till", permissions=frozenset()))
    entry = newest_entry(console)
    asked = console.open(f"{entry}?ask=revert")
    assert "Revert this change?" in asked.text
    assert "Name: Till becomes Labels again." in asked.text
    done = console.send(f"{entry}/revert", dialog_form(asked), seen_at=entry)
    assert "The change was reverted." in console.follow(done).text
    assert app_as_stored(shop, app).permissions == {Permission.MANAGE_ORDERS}
    again = console.follow(console.send(f"{entry}/revert", dialog_form(asked), seen_at=entry))
    assert "it is as it was before this change" in again.text


def test_revert_of_what_was_changed_since_asks_what_to_keep(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app, _ = make_app(shop, "Labels", Permission.MANAGE_ORDERS)
    console = staff_console(*ALL_PERMISSIONS)
    update_app(shop, OPERATOR, app, AppChange("Till", permissions=frozenset()))
    entry = newest_entry(console)
    form = dialog_form(console.open(f"{entry}?ask=revert"))
    products = frozenset({Permission.MANAGE_PRODUCTS})
    update_app(shop, OPERATOR, app, AppChange(permissions=products))
    conflict = console.send(f"{entry}/revert", form, seen_at=entry)
    assert conflict.status == 409
    assert app_as_stored(shop, app).name == "Till"
    assert "Labels was changed after" in conflict.text or "Till was changed after" in conflict.text
    assert "Manage orders Manage products" in conflict.text
    main = conflict.html[conflict.html.index('id="main"') :]
    sent: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', main):
        sent.setdefault(name, []).append(html.unescape(value))
    del sent["csrf_token"]
    kept = {**sent, "choice-permissions": ["saved"]}
    assert console.send(f"{entry}/revert", kept, seen_at=entry).status == 303
    assert app_as_stored(shop, app).name == "Labels"
    assert app_as_stored(shop, app).permissions == products


def test_revert_is_offered_only_where_it_can_be_done(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app, _ = make_app(shop, "Labels")
    update_app(shop, OPERATOR, app, AppChange("Till"))
    reader = staff_console(MAY)
    entry = newest_entry(reader)
    page = reader.open(f"{entry}?ask=revert")
    assert "Revert" not in page.text
    refused = reader.send(f"{entry}/revert", {"name": "Labels", "loaded": "{}"}, seen_at=entry)
    assert refused.status == 422
    assert app_as_stored(shop, app).name == "Till"
