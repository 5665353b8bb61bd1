"""A session that ended while a form was filled in: what was typed is there after signing in."""

import json

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.permissions import Permission
from tests.browser.console import ADMIN, RunningShop
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_group, make_user
from tests.fakes.offset_clock import Ahead

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

EMAIL = "nadia@example.com"
OTHER = "other@example.com"
RESTORED = "We restored what you entered"


def let_the_session_end(shop: RunningShop) -> None:
    assert isinstance(shop.ports.clock, Ahead)
    shop.ports.clock.seconds += 31 * 60


def sign_in(page: Page, email: str = ADMIN, password: str = PASSWORD) -> None:
    page.wait_for_load_state()  # a script keeps what was typed before
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in with password").click()


def fill_in_invitation(page: Page) -> None:
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_label("First name").fill("Nadia <b>")
    page.get_by_role("checkbox", name="Support").check()


def test_form_is_filled_in_again_for_the_account_that_signs_in_again(
    admin: Page, small_shop: RunningShop
) -> None:
    make_user(small_shop.ports, OTHER, is_superuser=True)
    make_group(small_shop.ports, "Support", Permission.MANAGE_ORDERS)
    admin.goto(f"{small_shop.url}/console/staff/invite/")
    fill_in_invitation(admin)
    let_the_session_end(small_shop)
    admin.get_by_role("button", name="Send invitation").click()
    expect(
        admin.get_by_text("You were signed out after 30 minutes of inactivity.")
    ).to_be_visible()
    sign_in(admin, OTHER)
    expect(admin.get_by_role("heading", level=1, name="Invite staff member")).to_be_visible()
    expect(admin.get_by_label("Email")).to_have_value("")
    expect(admin.get_by_text(RESTORED)).to_have_count(0)
    assert admin.evaluate("sessionStorage.length") == 0

    fill_in_invitation(admin)
    let_the_session_end(small_shop)
    admin.get_by_role("button", name="Send invitation").click()
    sign_in(admin, OTHER, "not it")
    expect(admin.get_by_text("Incorrect email or password.")).to_be_visible()
    small_shop.ports.throttle.unblock("127.0.0.1")
    sign_in(admin, OTHER)
    expect(admin.get_by_text(RESTORED)).to_be_visible()
    expect(admin.get_by_label("Email")).to_have_value(EMAIL)
    expect(admin.get_by_label("First name")).to_have_value("Nadia <b>")
    expect(admin.get_by_role("checkbox", name="Support")).to_be_checked()
    admin.get_by_role("button", name="Send invitation").click()
    expect(admin.get_by_text(f"Invitation sent to {EMAIL}.")).to_be_visible()
    admin.goto(f"{small_shop.url}/console/staff/invite/")
    expect(admin.get_by_label("Email")).to_have_value("")


def test_secrets_are_not_kept_in_the_tab(admin: Page, small_shop: RunningShop) -> None:
    make_app(small_shop.ports, "Labels", Permission.MANAGE_ORDERS)
    admin.goto(f"{small_shop.url}/console/webhooks/new")
    admin.get_by_label("Name", exact=True).fill("Kettles")
    admin.get_by_label("Secret", exact=True).fill("a secret word")
    admin.locator("[name=custom_headers]").fill("Authorization: another secret")
    let_the_session_end(small_shop)
    admin.locator("form[data-guard] button.btn-primary").last.click()
    expect(admin.get_by_text("You were signed out")).to_be_visible()
    kept = json.dumps(admin.evaluate("({...sessionStorage})"))
    assert "Kettles" in kept
    assert "secret word" not in kept
    assert "another secret" not in kept
    assert "csrf_token" not in kept
    sign_in(admin)
    expect(admin.get_by_label("Name", exact=True)).to_have_value("Kettles")
    expect(admin.get_by_label("Secret", exact=True)).to_have_value("")
    admin.get_by_role("button", name="Create webhook").last.click()
    errors = admin.get_by_role("alert")
    lost = "Enter it again: what you entered before isn't kept anymore."
    expect(errors).to_contain_text(f"Secret: {lost}")
    expect(errors).to_contain_text(f"Custom headers: {lost}")
