"""A customer's page tells why they can't sign in, and lifts what keeps them out."""

from app.domain.authorization.permissions import Permission
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.ports import Ports
from tests.builders.orders import make_order
from tests.builders.people import ADDRESS, actor_of, make_user
from tests.builders.shop import close_storefront
from tests.builders.sign_in_events import make_sign_in
from tests.console.conftest import StaffConsole, Statements
from tests.fakes.clock import FakeClock
from tests.services.logins import EMAIL, code_of

USERS, ORDERS, STAFF = (Permission.MANAGE_USERS, Permission.MANAGE_ORDERS, Permission.MANAGE_STAFF)
QUESTION = "Can this customer sign in?"


def refuse(shop: Ports, user_id: int) -> None:
    """A wrong password, which blocks the IP address for a second."""
    assert code_of(shop, password="wrong") == "INVALID_CREDENTIALS"
    make_sign_in(shop, user_id=user_id, name=EMAIL, reason="INCORRECT_PASSWORD", attempts=2)


def test_customer_who_can_sign_in(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop)
    make_sign_in(shop, user_id=key, name=EMAIL)
    page = staff_console(USERS).open(f"/console/customers/{key}")
    assert f"{QUESTION} Yes. Account active" in page.text
    assert "Successful Password 203.0.113.7 Safari on iPhone" in page.text
    assert "/console/sign-ins/?q=customer@example.com&amp;since=90d" in page.html


def test_reasons_are_told_where_they_are_looked_for(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_user(shop, is_active=False)
    close_storefront(shop)
    page = staff_console(USERS).open(f"/console/customers/{key}")
    assert f"{QUESTION} No. The account is inactive." in page.text
    assert "Storefront closed Only staff and apps can use the API." in page.text
    assert "No sign-in attempts yet" in page.text


def test_support_sees_a_blocked_address_and_who_can_unblock_it(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_user(shop)
    console = staff_console(USERS)
    refuse(shop, key)
    page = console.open(f"/console/customers/{key}")
    assert "No. The customer's IP address is blocked for 1 more min." in page.text
    assert "ask someone with Manage staff" in page.text
    assert "Incorrect password, 2\N{MULTIPLICATION SIGN}" in page.text
    assert "Unblock IP" not in page.text


def test_address_is_unblocked_from_the_customers_page(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_user(shop)
    console = staff_console(USERS, STAFF)
    refuse(shop, key)
    path = f"/console/customers/{key}"
    assert "Unblock IP" in console.open(path).text
    form = {"address": ADDRESS, "back": path}
    done = console.send("/console/throttle/unblock", form, seen_at=path)
    assert done.leads_to == path
    page = console.follow(done)
    assert f"Unblocked {ADDRESS}" in page.text
    assert f"{QUESTION} Yes." in page.text


def test_form_leads_to_no_other_host(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(STAFF)
    form = {"address": ADDRESS, "back": "https://elsewhere.example/"}
    seen_at = "/console/throttle/"
    done = console.send("/console/throttle/unblock", form, seen_at=seen_at)
    assert done.leads_to == "/console/"


def test_support_lifts_the_accounts_own_block(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    key = make_user(shop)
    for _ in range(MAX_GUESSES):
        shop.throttle.guess(key, clock.timestamp())
    console = staff_console(USERS)
    path = f"/console/customers/{key}"
    page = console.open(path)
    assert "Yes. Password changes are blocked." in page.text
    assert "Unblocks in 60 min. Unblock account" in page.text
    done = console.send(f"/console/people/{key}/unblock", {}, seen_at=path)
    assert done.leads_to == path
    after = console.follow(done)
    assert "Unblocked the account of customer@example.com." in after.text
    assert f"{QUESTION} Yes." in after.text
    again = console.send(f"/console/people/{key}/unblock", {}, seen_at=path)
    assert "This account isn't blocked." in console.follow(again).text


def test_who_manages_orders_alone_sees_no_sign_ins(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_user(shop)
    page = staff_console(ORDERS).open(f"/console/customers/{key}")
    assert page.status == 200
    assert QUESTION not in page.text


def test_page_costs_seven_statements_at_most(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    key = make_user(shop)
    make_order(shop, actor_of(shop, key))
    console = staff_console(*Permission)
    refuse(shop, key)
    with statements() as seen:
        console.open(f"/console/customers/{key}")
    assert len(seen) <= 7, seen
