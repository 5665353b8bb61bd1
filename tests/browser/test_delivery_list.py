"""Selecting deliveries and resending them, with script and without."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from tests.browser.console import ADMIN, RunningShop
from tests.builders.apps import make_app
from tests.builders.people import make_user
from tests.builders.webhooks import make_many_deliveries, make_webhook

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


def test_all_matching_deliveries_are_resent_in_three_clicks(
    admin: Page, small_shop: RunningShop
) -> None:
    app_id, _ = make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(small_shop.ports, app_id, EventType.PRODUCT_UPDATED)
    make_many_deliveries(small_shop.ports, hook, 30, status="FAILED")
    make_many_deliveries(small_shop.ports, hook, 3)
    admin.goto(f"{small_shop.url}/console/deliveries/?status=failed")
    expect(admin.get_by_text("30 of 33 deliveries").first).to_be_visible()
    admin.get_by_role("link", name="Select all 30 matching deliveries").click()
    expect(admin.get_by_text("All 30 matching deliveries are selected.")).to_be_visible()
    admin.get_by_role("link", name="Resend 30 deliveries").click()
    dialog = admin.get_by_role("dialog", name="Resend 30 deliveries?")
    dialog.get_by_role("button", name="Resend 30 deliveries").click()
    expect(admin.get_by_text("Resending 30 deliveries.")).to_be_visible()
    expect(admin.get_by_text("No matching deliveries").first).to_be_visible()


def test_rows_of_the_page_are_selected_at_once(browser: Browser, small_shop: RunningShop) -> None:
    app_id, _ = make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(small_shop.ports, app_id, EventType.PRODUCT_UPDATED)
    make_many_deliveries(small_shop.ports, hook, 3, status="FAILED")
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    context = browser.new_context(reduced_motion="reduce")
    small_shop.sign_in(context, ADMIN)
    page = context.new_page()
    page.goto(f"{small_shop.url}/console/deliveries/")
    page.get_by_role("checkbox", name="Select all on this page").check()
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.get_by_role("button", name="Resend selected").click()
    expect(page.get_by_text("Resending 3 deliveries.")).to_be_visible()
    context.close()
