"""Requiring a second factor of staff, the reminder and the rule in force, in a browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import ADMIN, RunningShop
from tests.browser.test_second_factors import faults
from tests.builders.people import PASSWORD, make_staff
from tests.builders.second_factor_rule import add_unusable_passkey
from tests.fakes.offset_clock import Ahead

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("scheme"),
]

REQUIRED = "Add a second factor"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rule_is_set_reminds_and_leads_to_a_second_factor_once_in_force(
    admin: Page, small_shop: RunningShop, scheme: str
) -> None:
    admin.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    add_unusable_passkey(small_shop.ports, make_staff(small_shop.ports, "maya@example.com"))
    admin.goto(f"{small_shop.url}/console/settings/second-factor")
    expect(admin.get_by_text("1 of 2 staff has no second factor.")).to_be_visible()
    admin.get_by_label("Required").check()
    admin.get_by_label("Grace period in days").fill("9")
    admin.get_by_role("button", name="Review change").click()
    dialog = admin.get_by_role("dialog", name="Require a second factor for staff?")
    expect(dialog).to_contain_text("1 of them signs in with a password only.")
    expect(dialog).to_contain_text("You're one of them.")
    dialog.get_by_role("button", name="Require second factor").click()
    expect(admin.get_by_role("heading", level=1, name=REQUIRED)).to_be_visible()
    assert faults(admin) == []
    admin.get_by_role("link", name="Remind me later (9 days left)").click()
    expect(admin.get_by_text("Required from")).to_be_visible()

    assert isinstance(small_shop.ports.clock, Ahead)
    small_shop.ports.clock.seconds += 10 * 24 * 3600
    admin.goto(f"{small_shop.url}/console/settings/")
    admin.get_by_label("Email").fill(ADMIN)
    admin.get_by_label("Password").fill(PASSWORD)
    admin.get_by_label("Password").press("Enter")
    expect(admin.get_by_role("heading", level=1, name=REQUIRED)).to_be_visible()
    expect(admin.get_by_text("Without it, you have customer-level access.")).to_be_visible()
    expect(admin.get_by_role("link", name="Remind me later")).to_have_count(0)
    assert faults(admin) == []
    admin.get_by_label("Authenticator app").check()
    admin.get_by_role("button", name="Continue").click()
    expect(admin.get_by_role("button", name="Set up authenticator app")).to_be_in_viewport()
