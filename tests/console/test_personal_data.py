"""A person's page: everything that is stored about them as a file, and their erasure."""

import json

from sqlalchemy import select

from app import models
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.audit import trail
from tests.builders.people import PASSWORD, make_user
from tests.builders.personal_data import EMAIL, make_person_with_traces, tables_with
from tests.console.conftest import StaffConsole
from tests.fakes.clock import FakeClock

ALMOST_ALL = [one for one in Permission if one is not Permission.MANAGE_ORDERS]


def test_holder_of_all_permissions_exports_after_a_fresh_proof(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    person = make_person_with_traces(shop)
    console = staff_console(*Permission, email="boss@example.com")
    path = f"/console/people/{person.id}/export"
    clock.pass_(minutes=6)
    asked = console.open(f"/console/customers/{person.id}?ask=export")
    assert asked.leads_to.startswith("/console/prove?"), asked.leads_to
    refused = console.send(path, {}, seen_at="/console/account/")
    assert refused.status == 403
    assert "You're about to export everything that is stored about a person." in refused.text
    assert not trail(shop, "user.export")
    answer = console.send(path, {"proof_password": PASSWORD}, seen_at="/console/account/")
    assert answer.status == 200
    assert answer.response.headers["Content-Disposition"].startswith("attachment")
    assert json.loads(answer.html)["account"]["email"] == EMAIL
    [entry] = trail(shop, "user.export")
    assert entry.actor_name == "boss@example.com"
    assert "Export everything" in console.open(f"/console/customers/{person.id}?ask=export").text


def test_holder_of_all_permissions_erases(staff_console: StaffConsole, shop: Ports) -> None:
    person = make_person_with_traces(shop)
    console = staff_console(*Permission, email="boss@example.com")
    page = console.open(f"/console/customers/{person.id}?ask=erase")
    assert "Orders and log entries stay under the account's ID" in page.text
    erased = console.send(f"/console/people/{person.id}/erase", {}, seen_at="/console/account/")
    assert erased.leads_to == "/console/customers/"
    assert "Erased" in console.follow(erased).text
    assert "users" not in tables_with(shop, EMAIL)
    [entry] = trail(shop, "user.erase")
    assert entry.actor_name == "boss@example.com"


def test_other_staff_neither_see_nor_do_it(staff_console: StaffConsole, shop: Ports) -> None:
    customer = make_user(shop, "ines@example.com")
    console = staff_console(*ALMOST_ALL)
    assert "Personal data" not in console.open(f"/console/customers/{customer}?view=account").text
    for act in ("export", "erase"):
        path = f"/console/people/{customer}/{act}"
        refused = console.send(path, {}, seen_at="/console/account/")
        assert refused.status == 403
        assert "MANAGE_ORDERS" in refused.text
    assert tables_with(shop, "ines@example.com")
    boss = staff_console(*Permission, email="boss@example.com")
    assert "Personal data" in boss.open(f"/console/customers/{customer}?view=account").text


def test_nobody_erases_themselves(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(*Permission, email="boss@example.com")
    with shop.database.reading() as session:
        own = session.scalars(select(models.User.id).filter_by(email="boss@example.com")).one()
    refused = console.send(f"/console/people/{own}/erase", {}, seen_at="/console/account/")
    assert refused.leads_to == f"/console/staff/{own}"
    assert tables_with(shop, "boss@example.com")
