"""Webhooks, dry runs and deliveries in a browser: what was entered stays, and states agree."""

import json

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from tests.browser.console import RunningShop, work
from tests.builders.apps import change_app, make_app
from tests.builders.products import make_product
from tests.builders.webhooks import change_webhook, make_delivery, make_webhook
from tests.servers.http import Reply, http_server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

ENDPOINT = "https://labels.example.com/hooks"
EDITED = ("CREATED", "UPDATED")


def test_failed_delivery_of_a_disabled_webhook_is_enabled_and_resent(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    with http_server() as receiver:
        body = json.dumps({"error": "Your plan has ended"}).encode()
        target = receiver.answer("/hook", Reply(402, body))
        hook = make_webhook(ports, app_id, EventType.PRODUCT_UPDATED, target_url=target)
        make_delivery(ports, hook)
        work(small_shop)
        change_webhook(ports, hook, is_active=False, target_url=ENDPOINT)
        admin.goto(f"{small_shop.url}/console/deliveries/")
        row = admin.get_by_role("row").filter(has_text="Product updated")
        expect(row).to_contain_text("402 Payment Required")
        expect(row).to_contain_text("Your plan has ended")
        row.get_by_role("link").first.click()
        note = admin.locator(".lk-note")
        expect(note).to_contain_text("402 Payment Required: Your plan has ended")
        expect(note).to_contain_text("The webhook is disabled.")
        expect(admin.get_by_text("Next attempt")).to_have_count(0)
        admin.get_by_role("button", name="Enable and resend").click()
        expect(admin.get_by_text("Resending now.")).to_be_visible()
        expect(admin.get_by_role("heading", level=1).locator("..")).to_contain_text("Resending")
        expect(note).to_contain_text("The next attempt is due now.")
        attempts = admin.get_by_role("region", name="Attempts")
        expect(attempts).to_contain_text("Next attempt due now")
        expect(attempts.get_by_role("link")).to_have_count(1)
        expect(attempts.locator("header span")).to_have_text("1")


def test_form_warns_of_a_missing_permission_and_grants_it(
    admin: Page, small_shop: RunningShop
) -> None:
    off, _ = make_app(small_shop.ports, "Off")
    make_app(small_shop.ports, "Labels")
    change_app(small_shop.ports, off, is_active=False)
    admin.goto(f"{small_shop.url}/console/webhooks/new")
    assert admin.get_by_label("App", exact=True).locator(":checked").inner_text() == "Labels"
    admin.get_by_label("Endpoint URL").fill(ENDPOINT)
    admin.locator("summary", has_text="Orders").click()
    admin.get_by_role("checkbox", name="ORDER_PAID").check()
    admin.get_by_role("button", name="Create webhook").click()
    expect(admin.get_by_text("Labels doesn't receive “Order paid”.")).to_be_visible()
    admin.get_by_role("button", name="Grant Manage orders and save").click()
    expect(admin.get_by_text(f"Webhook “{ENDPOINT}” created.")).to_be_visible()
    expect(admin.get_by_text("doesn't receive")).to_have_count(0)
    admin.reload()
    admin.goto(f"{small_shop.url}/console/webhooks/")
    expect(admin.get_by_role("row").filter(has_text="Labels")).to_have_count(1)


def test_webhook_form_survives_a_dry_run(admin: Page, small_shop: RunningShop) -> None:
    make_product(small_shop.ports, "Kettle")
    make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    admin.goto(f"{small_shop.url}/console/webhooks/new")
    admin.get_by_label("Name", exact=True).fill("Stock feed")
    admin.get_by_label("Endpoint URL").fill(ENDPOINT)
    admin.get_by_label("Custom headers").fill("X-Shop: harbour\nX-Till: 2")
    query = admin.get_by_role("textbox", name="Subscription query")
    query.fill("subscription { event { ... on ProductUpdated { product { name } } } }")
    admin.get_by_role("button", name="Preview payload").click()
    admin.get_by_role("button", name="Run", exact=False).first.click()
    expect(admin.get_by_role("region", name="Payload as JSON")).to_contain_text("Kettle")
    assert "labels.example.com" not in admin.url
    admin.get_by_role("button", name="Back to webhook").click()
    expect(admin.get_by_label("Name", exact=True)).to_have_value("Stock feed")
    expect(admin.get_by_label("Endpoint URL")).to_have_value(ENDPOINT)
    expect(admin.get_by_label("Custom headers")).to_have_value("X-Shop: harbour\nX-Till: 2")
    expect(admin.get_by_role("checkbox", name="Enabled")).to_be_checked()
    admin.get_by_label("Name", exact=True).press("Enter")
    expect(admin.get_by_text("Webhook “Stock feed” created.")).to_be_visible()
    admin.reload()
    admin.goto(f"{small_shop.url}/console/webhooks/")
    expect(admin.get_by_role("link", name="Stock feed", exact=True)).to_have_count(1)


def test_preview_drops_no_events(admin: Page, small_shop: RunningShop) -> None:
    make_product(small_shop.ports, "Kettle")
    app_id, _ = make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(
        small_shop.ports, app_id, EventType.PRODUCT_CREATED, EventType.PRODUCT_UPDATED
    )
    for page, save in (("new", "Create webhook"), (f"{hook}/edit", "Save webhook")):
        admin.goto(f"{small_shop.url}/console/webhooks/{page}")
        admin.get_by_label("Endpoint URL").fill(ENDPOINT)
        ticked = [admin.get_by_role("checkbox", name=f"PRODUCT_{act}") for act in EDITED]
        if page == "new":
            admin.locator("summary", has_text="Products").click()
        for box in ticked:
            box.check()
        admin.get_by_role("button", name="Preview payload").click()
        admin.get_by_role("button", name="Run", exact=False).first.click()
        expect(admin.get_by_role("region", name="Payload as JSON")).to_contain_text("product")
        difference = admin.locator("#difference")
        expect(difference).to_have_text("This query removes “Product updated”.")
        admin.get_by_label("Event").select_option("Product deleted")
        expect(difference).to_have_text(
            "This query adds “Product deleted” and removes “Product created” and "
            "“Product updated”."
        )
        admin.get_by_role("button", name="Back to webhook").click()
        expect(admin.get_by_role("textbox", name="Subscription query")).to_have_value("")
        for box in ticked:
            expect(box).to_be_checked()
        admin.get_by_role("button", name=save).first.click()
        admin.get_by_role("main").get_by_role("link", name="Events 2").click()
        events = admin.get_by_role("region", name="Events")
        expect(events).to_contain_text("PRODUCT_CREATED")
        expect(events).to_contain_text("PRODUCT_UPDATED")


def test_back_leads_through_a_dry_run(admin: Page, small_shop: RunningShop) -> None:
    make_product(small_shop.ports, "Kettle")
    make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    admin.goto(f"{small_shop.url}/console/webhooks/new")
    admin.get_by_label("Name", exact=True).fill("Stock feed")
    admin.get_by_role("button", name="Preview payload").click()
    expect(admin.get_by_role("heading", name="Dry run", level=1)).to_be_visible()
    admin.get_by_role("button", name="Back to webhook").click()
    expect(admin.get_by_label("Name", exact=True)).to_have_value("Stock feed")
    admin.go_back()
    expect(admin.get_by_role("heading", name="Dry run", level=1)).to_be_visible()
    admin.go_forward()
    expect(admin.get_by_label("Name", exact=True)).to_have_value("Stock feed")
    admin.go_back()
    admin.go_back()
    expect(admin.get_by_label("Endpoint URL")).to_be_visible()


def test_default_query_follows_the_chosen_event(admin: Page, small_shop: RunningShop) -> None:
    make_product(small_shop.ports, "Kettle")
    admin.goto(f"{small_shop.url}/console/dry-run/")
    query = admin.get_by_role("textbox", name="Subscription query")
    event = admin.get_by_label("Event")
    event.select_option("Order paid")
    assert "... on OrderPaid" in query.input_value()
    expect(admin.get_by_label("Order", exact=True)).to_be_visible()
    event.select_option("Product updated")
    edited = query.input_value() + "# mine"
    query.fill(edited)
    event.select_option("Order paid")
    assert query.input_value() == edited
    told = "The query doesn't subscribe to Order paid, but to Product updated."
    expect(admin.locator("#qmsg")).to_have_text(told)
    admin.get_by_role("button", name="Run", exact=False).first.click()
    expect(admin.locator("#result")).to_contain_text("Query failed")
    expect(admin.locator("#result")).to_contain_text(told)


def test_sample_event_is_sent_and_its_delivery_shown(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    make_product(ports, "Kettle")
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(200, b"{}"))
        make_webhook(ports, app_id, EventType.PRODUCT_UPDATED, target_url=target)
        admin.goto(f"{small_shop.url}/console/events/?event=PRODUCT_UPDATED")
        form = admin.get_by_role("form", name="Send sample event")
        form.get_by_label("Object").fill("vase")
        form.get_by_role("button", name="Send sample event").click()
        expect(form.get_by_role("alert")).to_contain_text("matches “vase”")
        form.get_by_label("Object").fill("kettle")
        form.get_by_role("button", name="Send sample event").click()
        expect(admin.get_by_role("heading", level=1)).to_have_text("Kettle")
        work(small_shop)
        expect(admin.locator("#delivery-state")).to_contain_text("Delivered")
        headers = admin.get_by_role("region", name="Request headers")
        expect(headers).to_contain_text("Latchkey-Sample: true")
        (request,) = receiver.calls("/hook")
        assert "Kettle" in request.body.decode()


def test_webhook_page_sends_a_sample_of_the_chosen_event(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    make_product(ports, "Kettle")
    events = (EventType.PRODUCT_CREATED, EventType.PRODUCT_UPDATED)
    hook = make_webhook(ports, app_id, *events, target_url=ENDPOINT)
    admin.goto(f"{small_shop.url}/console/webhooks/{hook}")
    admin.get_by_role("link", name="Send sample event").click()
    dialog = admin.get_by_role("dialog")
    dialog.get_by_label("Event").select_option("Product updated")
    dialog.get_by_label("Object").fill("Kettle")
    dialog.get_by_role("button", name="Send sample event").click()
    expect(admin.get_by_text("Sending sample event.")).to_be_visible()
    expect(admin.locator(".lk-head p")).to_contain_text("Product updated")
