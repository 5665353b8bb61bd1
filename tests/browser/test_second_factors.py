"""Authenticator app and recovery codes on the account's page, in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.second_factors import SecondFactorType
from app.services.second_factors.factor_checks import check_code
from tests.browser.axe import findings
from tests.browser.console import RunningShop, Watch
from tests.browser.test_accessibility import TOO_WIDE
from tests.builders.people import NOBODY
from tests.builders.second_factors import one_time_code

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("scheme"),
]

OWN_KEY = 1
QR_COLORS = """() => {
  const style = getComputedStyle(document.querySelector('.lk-qr'));
  return [style.backgroundColor, style.fill];
}"""


def faults(page: Page) -> list[str]:
    """Return what axe finds on the page, and whether it is too wide on a phone."""
    page.wait_for_load_state()
    found = findings(page, around=False)
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        too_wide = page.evaluate(TOO_WIDE)
        found += [too_wide] if too_wide else []
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_app_is_set_up_and_turned_off(
    admin: Page, watch: Watch, small_shop: RunningShop, scheme: str, tmp_path: Path
) -> None:
    admin.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    admin.goto(f"{small_shop.url}/console/account/security/")
    admin.get_by_role("button", name="Set up authenticator app").click()
    expect(admin.get_by_role("img", name="QR code for your authenticator app.")).to_be_visible()
    assert admin.evaluate(QR_COLORS) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]

    admin.get_by_label("2. Enter the 6-digit code from the app").fill("000000")
    admin.get_by_role("button", name="Turn on authenticator app").click()
    expect(admin.locator("#code-error")).to_contain_text("Incorrect code.")
    assert faults(admin) == []
    enter_code(admin, small_shop)
    admin.get_by_role("button", name="Turn on authenticator app").click()
    codes = admin.get_by_role("list", name="Recovery codes").get_by_role("listitem")
    expect(codes).to_have_count(10)
    shown = codes.all_inner_texts()
    assert faults(admin) == []
    with admin.expect_download() as started:
        admin.get_by_role("link", name="Download codes").click()
    started.value.save_as(tmp_path / "codes.txt")
    assert started.value.suggested_filename == "recovery-codes.txt"
    assert (tmp_path / "codes.txt").read_text().split()[-10:] == shown
    used = check_code(small_shop.ports, NOBODY, OWN_KEY, shown[0])
    assert used is SecondFactorType.RECOVERY_CODES
    admin.get_by_role("link", name="Done").click()
    expect(admin.get_by_text("9 of 10 left")).to_be_visible()
    assert faults(admin) == []

    admin.get_by_role("link", name="Turn off …").click()
    dialog = admin.get_by_role("dialog", name="Turn off")
    expect(dialog).to_be_visible()
    assert faults(admin) == []
    dialog.get_by_role("button", name="Turn off authenticator app").click()
    expect(admin.get_by_text("Authenticator app turned off.")).to_be_visible()
    expect(admin.get_by_role("button", name="Set up authenticator app")).to_be_visible()


def enter_code(page: Page, shop: RunningShop) -> None:
    """Enter the code that an app with the shown setup key gives."""
    secret = page.locator("#setup-key").input_value().replace(" ", "")
    field = page.get_by_label("2. Enter the 6-digit code from the app")
    field.fill(one_time_code(shop.ports, secret))
