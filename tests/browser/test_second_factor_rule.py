"""Requiring a second factor of staff, the reminder and enrolling at sign-in, in a browser."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.actor import OPERATOR
from app.services.shop.settings import show_settings
from tests.browser.console import ADMIN, RunningShop, Watch
from tests.browser.test_second_factors import enter_code, faults
from tests.builders.people import PASSWORD, make_staff, make_user
from tests.builders.second_factor_rule import add_unusable_passkey, require_second_factor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("scheme"),
]

SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])
REQUIRED = "Add a second factor"


def begin(page: Page, shop: RunningShop, path: str = "") -> None:
    """Sign in on the sign-in page, as a superuser without a second factor."""
    page.goto(f"{shop.url}/console/{path}")
    page.get_by_label("Email").fill(ADMIN)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")


@SCHEMES
def test_rule_is_reviewed_with_counts_and_set(
    admin: Page, small_shop: RunningShop, scheme: str
) -> None:
    admin.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    add_unusable_passkey(small_shop.ports, make_staff(small_shop.ports, "maya@example.com"))
    admin.goto(f"{small_shop.url}/console/settings/second-factor")
    expect(admin.get_by_text("1 of 2 staff has no second factor.")).to_be_visible()
    assert faults(admin) == []
    admin.get_by_label("Required").check()
    admin.get_by_label("Grace period in days").fill("9")
    admin.get_by_role("button", name="Review change").click()
    dialog = admin.get_by_role("dialog", name="Require a second factor for staff?")
    expect(dialog).to_contain_text("1 of them signs in with a password only.")
    expect(dialog).to_contain_text("You're one of them.")
    assert faults(admin) == []
    dialog.get_by_role("button", name="Require second factor").click()
    expect(admin.get_by_role("heading", level=1, name=REQUIRED)).to_be_visible()
    admin.get_by_role("link", name="Remind me later (9 days left)").click()
    expect(admin.get_by_text("Required from")).to_be_visible()
    shop = show_settings(small_shop.ports, OPERATOR)
    assert shop.second_factor_grace_days == 9


@SCHEMES
def test_reminder_comes_at_sign_in_and_can_wait(
    page: Page, watch: Watch, small_shop: RunningShop, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    ports = small_shop.ports
    make_user(ports, ADMIN, is_superuser=True)
    require_second_factor(ports, ports.clock.now() + timedelta(days=11))
    begin(page, small_shop, "staff/")
    expect(page.get_by_role("heading", level=1, name=REQUIRED)).to_be_visible()
    assert faults(page) == []
    page.get_by_role("link", name="Remind me later (11 days left)").click()
    expect(page).to_have_url(f"{small_shop.url}/console/staff/")
    assert faults(page) == []


@SCHEMES
def test_in_force_the_console_opens_after_enrolling(
    page: Page, watch: Watch, small_shop: RunningShop, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    require_second_factor(small_shop.ports)
    begin(page, small_shop, "settings/")
    expect(page.get_by_role("heading", level=1, name=REQUIRED)).to_be_visible()
    expect(page.get_by_text("Without it, you have customer-level access.")).to_be_visible()
    expect(page.get_by_role("link", name="Remind me later")).to_have_count(0)
    assert faults(page) == []
    page.goto(f"{small_shop.url}/console/staff/")
    expect(page.get_by_role("heading", level=1, name=REQUIRED)).to_be_visible()

    page.get_by_label("Authenticator app").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1, name="Sign-in and security")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("button", name="Set up authenticator app").click()
    enter_code(page, small_shop)
    page.get_by_role("button", name="Turn on authenticator app").click()
    codes = page.get_by_role("list", name="Recovery codes").get_by_role("listitem")
    expect(codes).to_have_count(10)
    page.goto(f"{small_shop.url}/console/settings/")
    expect(page.get_by_role("heading", level=1, name="Settings")).to_be_visible()
