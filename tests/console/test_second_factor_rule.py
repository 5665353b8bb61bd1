"""Staff without the second factor that the shop requires: reminded first, then led to it alone."""

from datetime import timedelta

import pytest
from flask import Flask

from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from tests.builders.people import make_staff, make_user, sessions_of
from tests.builders.second_factor_rule import require_second_factor, set_methods
from tests.builders.second_factors import make_authenticator_app
from tests.builders.shop import set_mode
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

SETTINGS = Permission.MANAGE_SETTINGS
SECURITY = "/console/account/security/"
RULE = "/console/second-factor"
PAGE = "/console/settings/"


def require_in(shop: Ports, **grace: float) -> None:
    require_second_factor(shop, shop.clock.now() + timedelta(**grace))


@pytest.fixture
def barred(staff_console: StaffConsole, shop: Ports) -> ConsoleClient:
    """A settings manager without a second factor, after the grace period."""
    console = staff_console(SETTINGS)
    require_second_factor(shop)
    return console


def test_without_the_rule_no_one_is_reminded(staff_console: StaffConsole) -> None:
    console = staff_console(SETTINGS)
    assert console.open(PAGE).status == 200
    assert console.open(RULE).leads_to == "/console/"


@pytest.mark.parametrize(
    ("grace", "left"),
    [
        ({"days": 11}, "(11 days left)"),
        ({"days": 10, "seconds": 1}, "(11 days left)"),
        ({"minutes": 5}, "(1 day left)"),
    ],
)
def test_grace_period_reminds_once_after_each_sign_in(
    staff_console: StaffConsole, shop: Ports, grace: dict[str, float], left: str
) -> None:
    require_in(shop, **grace)
    console = staff_console(SETTINGS)

    asked = console.open(f"{PAGE}?ask=no")
    assert (asked.status, asked.leads_to) == (303, f"{RULE}?next=/console/settings/?ask%3Dno")
    page = console.follow(asked)
    assert f"Remind me later {left}" in page.text
    assert f'href="{PAGE}?ask=no"' in page.html
    assert "Latchkey shop requires one for staff from" in page.text

    assert console.open(PAGE).status == 200
    console.send("/console/sign-out", seen_at="/console/keyboard")
    console.sign_in("staff@example.com")
    assert console.open("/console/").leads_to == f"{RULE}?next=/console/"


def test_form_and_refresh_are_not_interrupted_by_the_reminder(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(SETTINGS)
    console.open(PAGE)
    require_in(shop, days=3)
    refresh = console.client.get(PAGE, headers={"X-Requested-With": "refresh"})
    assert refresh.status_code == 200


def test_account_with_a_second_factor_is_not_reminded(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(SETTINGS)
    user_id = make_staff(shop, "other@example.com")
    make_authenticator_app(shop, user_id - 1)
    require_in(shop, days=3)
    assert console.follow(console.open(PAGE)).leads_to == PAGE
    assert console.open(PAGE).status == 200


@cases(
    ("path", "method"),
    [
        ("/console/", "GET"),
        (PAGE, "GET"),
        ("/console/staff/", "GET"),
        ("/console/people/1", "GET"),
        ("/console/people/1/deactivate", "POST"),
        ("/console/search/?q=a", "GET"),
        ("/console/no-such-page", "GET"),
        ("/console/settings/shop", "POST"),
    ],
)
def test_in_force_every_page_of_staff_leads_to_a_second_factor(
    barred: ConsoleClient, path: str, method: str
) -> None:
    page = barred.open(path) if method == "GET" else barred.send(path, seen_at="/console/account/")
    assert page.status == 303
    assert page.leads_to.startswith(RULE)


def test_in_force_the_page_offers_no_way_around(barred: ConsoleClient) -> None:
    page = barred.follow(barred.open(PAGE))
    assert page.status == 200
    assert "Without it, you have customer-level access." in page.text
    assert "Remind me later" not in page.text
    assert "Sign out" in page.text


@cases(("factor", "card"), [("passkey", "passkeys"), ("app", "app"), ("no", "passkeys")])
def test_choice_leads_to_the_card_of_the_factor(
    barred: ConsoleClient, factor: str, card: str
) -> None:
    chosen = barred.send(RULE, {"factor": factor})
    assert (chosen.status, chosen.leads_to) == (303, f"{SECURITY}#{card}")
    assert barred.follow(chosen).status == 200


def test_in_force_the_own_account_stays_open(barred: ConsoleClient) -> None:
    assert barred.open("/console/account/").status == 200
    assert barred.open(SECURITY).status == 200
    assert barred.send("/console/sign-out", seen_at=RULE).status == 303


def test_account_with_a_factor_is_asked_for_it(barred: ConsoleClient, shop: Ports) -> None:
    make_authenticator_app(shop, 1)
    asked = barred.follow(barred.open(PAGE))
    assert asked.leads_to.startswith("/console/prove?next=/console/settings/")
    assert barred.follow(asked).status == 200


def test_session_that_used_a_second_factor_is_let_through(
    barred: ConsoleClient, shop: Ports
) -> None:
    make_authenticator_app(shop, 1)
    set_methods(shop, sessions_of(shop, 1)[0].id)
    assert barred.open(PAGE).status == 200
    assert barred.open(RULE).leads_to == "/console/"


def test_end_of_the_grace_period_closes_an_open_page(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    require_in(shop, minutes=2)
    console = staff_console(SETTINGS)
    console.open(RULE)
    assert console.open(PAGE).status == 200
    clock.pass_(minutes=2)
    assert console.open(PAGE).leads_to.startswith(RULE)


def test_customers_still_have_no_console(app: Flask, shop: Ports) -> None:
    make_user(shop)
    require_second_factor(shop)
    console = ConsoleClient(app.test_client(), shop)
    assert console.sign_in("customer@example.com").status == 422


def test_login_mode_is_named_first(barred: ConsoleClient, shop: Ports) -> None:
    set_mode(shop, PasswordLoginMode.CUSTOMERS_ONLY)
    assert barred.open(PAGE).status == 403
