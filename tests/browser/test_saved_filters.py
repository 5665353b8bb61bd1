"""Saving a filter of a list, and using it, with script and without."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.console import ADMIN, RunningShop
from tests.builders.people import make_user

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]


@pytest.fixture(params=[True, False], ids=["with script", "without script"])
def admin(
    request: pytest.FixtureRequest, browser: Browser, small_shop: RunningShop
) -> Iterator[Page]:
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    context = browser.new_context(java_script_enabled=request.param, reduced_motion="reduce")
    small_shop.sign_in(context, ADMIN)
    yield context.new_page()
    context.close()


def test_filter_is_saved_used_and_deleted(admin: Page, small_shop: RunningShop) -> None:
    make_user(small_shop.ports, "clara@example.com")
    make_user(small_shop.ports, "ines@example.com", is_active=False)
    admin.goto(f"{small_shop.url}/console/customers/?status=inactive")
    admin.get_by_role("link", name="Save filter").click()
    dialog = admin.get_by_role("dialog", name="Save filter")
    dialog.get_by_label("Name").fill("Deactivated")
    dialog.get_by_role("button", name="Save filter").click()
    saved = admin.get_by_role("navigation", name="Saved filters")
    expect(saved.get_by_role("link", name="Deactivated")).to_have_attribute("aria-current", "page")
    saved.get_by_role("link", name="All").click()
    expect(admin.get_by_text("2 customers")).to_be_visible()
    saved.get_by_role("link", name="Deactivated").click()
    expect(admin.get_by_text("1 of 2 customers").first).to_be_visible()
    saved.get_by_role("link", name="Edit filter").click()
    edit = admin.get_by_role("dialog", name="Edit filter")
    edit.get_by_role("button", name="Delete filter").click()
    expect(admin.get_by_text("Filter deleted.")).to_be_visible()
    expect(saved.get_by_role("link", name="Deactivated")).to_have_count(0)
