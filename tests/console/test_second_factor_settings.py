"""The settings' card "Second factor for staff": counts first, then asks."""

from datetime import timedelta

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import ShopSettings, StaffSecondFactor
from app.ports import Ports
from app.services.shop.settings import show_settings
from tests.builders.audit import trail
from tests.builders.people import change_user, make_staff
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.second_factor_rule import add_unusable_passkey, require_second_factor
from tests.builders.second_factors import make_authenticator_app, one_time_code
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

PAGE = "/console/settings/second-factor"
MANAGER = Permission.MANAGE_SETTINGS
ASK = f"{PAGE}?ask=second-factor&factor={{}}&grace={{}}"
SAVE = PAGE


def settings(shop: Ports) -> ShopSettings:
    return show_settings(shop, OPERATOR)


@pytest.fixture
def manager(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console(MANAGER)


def test_card_counts_staff_without_a_second_factor(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MANAGER)
    make_provider(shop)
    link_identity(shop, make_staff(shop, "sso@example.com"))
    add_unusable_passkey(shop, make_staff(shop, "passkey@example.com"))
    change_user(shop, make_staff(shop, "gone@example.com"), is_active=False)
    page = console.open(PAGE).text
    assert "2 of 3 staff have no second factor. 1 of them signs in with a password only." in page


def test_question_names_who_is_affected_and_from_when(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MANAGER)
    page = console.open(ASK.format("REQUIRED", 14))
    assert "Require a second factor for staff?" in page.text
    assert "1 of 1 staff has no second factor." in page.text
    assert "They get customer-level access on" in page.text
    assert "You're one of them." in page.text
    assert settings(shop).staff_second_factor is StaffSecondFactor.OPTIONAL

    at_once = console.open(ASK.format("REQUIRED", 0)).text
    assert "They get customer-level access at once." in at_once
    code = one_time_code(shop, make_authenticator_app(shop, 1))
    console.send("/console/prove", {"proof_code": code}, seen_at=PAGE)
    calm = console.open(ASK.format("REQUIRED", 14)).text
    assert "All active staff have a second factor." in calm
    assert "You're one of them." not in calm


def test_rule_is_set_and_taken_back(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MANAGER)
    saved = console.send(SAVE, {"factor": "REQUIRED", "grace": "7"}, seen_at=PAGE)
    assert (saved.status, saved.leads_to) == (303, PAGE)
    assert settings(shop).second_factor_from == shop.clock.now() + timedelta(days=7)
    assert len(trail(shop, "shop.update")) == 1

    console.open("/console/second-factor")
    page = console.open(PAGE).text
    assert "Staff need a second factor from" in page
    assert "Required from" in page
    assert "Change the grace period?" in console.open(ASK.format("REQUIRED", 30)).text
    assert "Make the second factor optional?" in console.open(ASK.format("OPTIONAL", 7)).text
    console.send(SAVE, {"factor": "OPTIONAL", "grace": "7"}, seen_at=PAGE)
    assert settings(shop).second_factor_from is None


def test_nothing_to_change_asks_nothing(staff_console: StaffConsole) -> None:
    page = staff_console(MANAGER).open(ASK.format("OPTIONAL", 14))
    assert "There is no change to review." in page.text
    assert "Make the second factor" not in page.text


def test_grace_period_alone_can_be_changed_before(
    staff_console: StaffConsole, shop: Ports
) -> None:
    page = staff_console(MANAGER).open(ASK.format("OPTIONAL", 30)).text
    assert "Applies when you require a second factor." in page


@cases("grace", ["", "soon", "-1", "366", "1e1", "٣", "9" * 40])
def test_invalid_grace_period_is_refused_at_its_field(
    manager: ConsoleClient, shop: Ports, grace: str
) -> None:
    for refused in (
        manager.open(ASK.format("REQUIRED", grace)),
        manager.send(SAVE, {"factor": "REQUIRED", "grace": grace}, seen_at=PAGE),
    ):
        assert refused.status == 422
        assert "Grace period in days: Enter a number of days" in refused.text
    assert settings(shop).staff_second_factor is StaffSecondFactor.OPTIONAL


def test_invalid_rule_is_refused(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MANAGER)
    assert console.open(ASK.format("ALWAYS", 3)).status == 422
    assert console.send(SAVE, {"factor": "ALWAYS", "grace": "3"}, seen_at=PAGE).status == 422
    assert settings(shop).staff_second_factor is StaffSecondFactor.OPTIONAL


def test_change_needs_a_fresh_proof(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(MANAGER)
    clock.pass_(minutes=6)
    asked = console.open(ASK.format("REQUIRED", 14))
    assert (asked.status, asked.leads_to.split("?")[0]) == (303, "/console/prove")
    sent = console.send(SAVE, {"factor": "REQUIRED", "grace": "14"}, seen_at=PAGE)
    assert sent.status == 403
    assert settings(shop).staff_second_factor is StaffSecondFactor.OPTIONAL


def test_other_permissions_change_nothing(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_STAFF)
    sent = console.send(SAVE, {"factor": "REQUIRED", "grace": "0"}, seen_at="/console/keyboard")
    assert sent.status == 403
    assert settings(shop).staff_second_factor is StaffSecondFactor.OPTIONAL


def test_session_without_a_factor_can_not_take_back_the_rule_in_force(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MANAGER)
    require_second_factor(shop)
    console.send(SAVE, {"factor": "OPTIONAL", "grace": "14"}, seen_at="/console/account/")
    assert settings(shop).staff_second_factor is StaffSecondFactor.REQUIRED
