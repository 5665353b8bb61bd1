"""A webhook's form and its dry run in a browser: what was entered stays, back and forth."""

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.permissions import Permission
from tests.browser.console import RunningShop
from tests.builders.apps import make_app
from tests.builders.products import make_product

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

ENDPOINT = "https://labels.example.com/hooks"
EDITED = ("CREATED", "UPDATED")


def test_webhook_form_survives_a_dry_run(admin: Page, small_shop: RunningShop) -> None:
    make_product(small_shop.ports, "Kettle")
    make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    admin.goto(f"{small_shop.url}/console/webhooks/new")
    name = admin.get_by_label("Name", exact=True)
    name.fill("Stock feed")
    admin.get_by_label("Endpoint URL").fill(ENDPOINT)
    admin.get_by_label("Custom headers").fill("X-Shop: harbour\nX-Till: 2")
    admin.locator("summary", has_text="Products").click()
    ticked = [admin.get_by_role("checkbox", name=f"PRODUCT_{act}") for act in EDITED]
    for box in ticked:
        box.check()
    admin.get_by_role("button", name="Preview payload").click()
    dry_run = admin.get_by_role("heading", name="Dry run", level=1)
    expect(dry_run).to_be_visible()
    assert "labels.example.com" not in admin.url
    admin.get_by_role("button", name="Run", exact=False).first.click()
    expect(admin.get_by_role("region", name="Payload as JSON")).to_contain_text("Kettle")
    difference = admin.locator("#difference")
    expect(difference).to_have_text("This query removes “Product updated”.")
    admin.get_by_label("Event").select_option("Product deleted")
    expect(difference).to_have_text(
        "This query adds “Product deleted” and removes “Product created” and “Product updated”."
    )

    admin.get_by_role("button", name="Back to webhook").click()
    expect(name).to_have_value("Stock feed")
    admin.go_back()
    expect(dry_run).to_be_visible()
    admin.go_forward()
    expect(name).to_have_value("Stock feed")
    expect(admin.get_by_label("Endpoint URL")).to_have_value(ENDPOINT)
    expect(admin.get_by_label("Custom headers")).to_have_value("X-Shop: harbour\nX-Till: 2")
    expect(admin.get_by_role("textbox", name="Subscription query")).to_have_value("")
    for box in (*ticked, admin.get_by_role("checkbox", name="Enabled")):
        expect(box).to_be_checked()
    name.press("Enter")
    expect(admin.get_by_text("Webhook “Stock feed” created.")).to_be_visible()
    expect(admin.get_by_role("main").get_by_role("link", name="Events 2")).to_be_visible()
