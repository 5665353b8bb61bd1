"""Two tabs on the same page, and what becomes of a save of the older one."""

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from tests.browser.console import RunningShop
from tests.builders.apps import app_as_stored, make_app
from tests.builders.webhooks import make_webhook

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

ORDERS, PRODUCTS = Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS


def test_permission_removed_in_another_tab_stays_removed(
    admin: Page, small_shop: RunningShop
) -> None:
    app, _ = make_app(small_shop.ports, "Labels", ORDERS)
    address = f"{small_shop.url}/console/apps/{app}?view=permissions"
    admin.goto(address)
    other = admin.context.new_page()
    other.goto(address)
    other.get_by_label("Manage orders", exact=True).uncheck()
    other.get_by_role("button", name="Save permissions").click()
    expect(other.get_by_text("Permissions of Labels: none.")).to_be_visible()
    admin.get_by_label("Manage products", exact=True).check()
    admin.get_by_role("button", name="Save permissions").click()
    expect(admin.get_by_text("Permissions of Labels: Manage products.")).to_be_visible()
    assert app_as_stored(small_shop.ports, app).permissions == {PRODUCTS}


def test_both_names_of_a_webhook_are_shown_to_choose_from(
    admin: Page, small_shop: RunningShop
) -> None:
    app, _ = make_app(small_shop.ports, "Labels", PRODUCTS)
    hook = make_webhook(small_shop.ports, app, EventType.PRODUCT_UPDATED, name="Print label")
    address = f"{small_shop.url}/console/webhooks/{hook}/edit"
    admin.goto(address)
    other = admin.context.new_page()
    for page, name in ((other, "Label printer"), (admin, "Berlin")):
        page.goto(address) if page is other else None
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_role("button", name="Save webhook").last.click()
    expect(admin.get_by_role("heading", level=1)).to_have_text(
        "Your changes to Label printer aren't saved yet"
    )
    table = admin.get_by_role("table", name="Fields with two versions")
    expect(table).to_contain_text("was Print label")
    expect(table.get_by_role("radio", name="Name: Your version")).to_be_checked()

    admin.get_by_role("button", name="Continue editing").click()
    expect(admin.get_by_label("Name", exact=True)).to_have_value("Berlin")
    admin.get_by_role("button", name="Save webhook").last.click()
    expect(admin.get_by_text("Webhook saved.")).to_be_visible()
    expect(admin.get_by_role("heading", level=1)).to_contain_text("Berlin")
