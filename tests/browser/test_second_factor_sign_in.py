"""Signing in with a code and proving it again, in a browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import ADMIN, RunningShop, Watch
from tests.browser.test_second_factors import faults
from tests.builders.people import PASSWORD, sessions_of
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.fakes.offset_clock import Ahead
from tests.services.sign_in.second_factors import Protected, make_protected

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("scheme"),
]

KEYS = "/console/keys/"


@pytest.fixture
def boss(small_shop: RunningShop) -> Protected:
    return make_protected(small_shop.ports, ADMIN, is_superuser=True)


def enter_password(page: Page, url: str, next_path: str = KEYS) -> None:
    page.goto(f"{url}/console/sign-in?next={next_path}")
    page.get_by_label("Email").fill(ADMIN)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in with password").click()


def enter_code(page: Page, small_shop: RunningShop, boss: Protected) -> None:
    page.get_by_label("6-digit code").fill(one_time_code(small_shop.ports, boss.secret))
    page.get_by_role("button", name="Verify code").click()


def move_on(small_shop: RunningShop, seconds: float) -> None:
    assert isinstance(small_shop.ports.clock, Ahead)
    small_shop.ports.clock.seconds += seconds


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_staff_sign_in_and_confirm_who_they_are_with_codes(
    page: Page, watch: Watch, small_shop: RunningShop, boss: Protected, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    make_recovery_codes(small_shop.ports, boss.id)
    enter_password(page, small_shop.url)
    page.get_by_role("link", name="Use a recovery code").click()
    expect(page.get_by_role("heading", name="Enter a recovery code")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("link", name="Use another account").click()
    expect(page.get_by_role("heading", name="Sign in to")).to_be_visible()
    assert sessions_of(small_shop.ports, boss.id) == []

    enter_password(page, small_shop.url)
    expect(page.get_by_role("heading", name="Enter your code")).to_be_visible()
    expect(page.get_by_label("6-digit code")).to_be_focused()
    page.get_by_label("6-digit code").fill("000000")
    page.get_by_role("button", name="Verify code").click()
    expect(page.get_by_role("alert")).to_contain_text("Incorrect code. 4 attempts left.")
    assert faults(page) == []
    move_on(small_shop, 2)
    enter_code(page, small_shop, boss)
    keys = page.get_by_role("heading", level=1, name="Signing keys")
    expect(keys).to_be_visible()

    move_on(small_shop, 360)
    page.goto(f"{small_shop.url}/console/prove?next={KEYS}&act=keys.rotate")
    expect(page.get_by_role("heading", name="Confirm it's you")).to_be_visible()
    expect(page.get_by_label("Password")).to_have_count(0)
    assert faults(page) == []
    page.get_by_label("Code").fill(one_time_code(small_shop.ports, boss.secret))
    page.get_by_role("button", name="Continue").click()
    expect(keys).to_be_visible()
    assert [session.amr for session in sessions_of(small_shop.ports, boss.id)] == ["pwd otp mfa"]
