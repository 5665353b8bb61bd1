"""Pages that keep themselves current, without losing place, focus or selection."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.services.apps.installation_worker import install_next_app
from tests.browser.console import RunningShop, work
from tests.builders.apps import make_app
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook
from tests.servers.apps import app_server
from tests.servers.http import Reply, http_server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

SOON = 6_000
LATER = 60_000
"""Milliseconds: beyond the next refresh, and beyond the slowest."""

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def stop_time(page: Page) -> None:
    """Let time pass on the page only when the test says so: no refresh comes in between."""
    page.clock.install(time=BEGIN)
    page.clock.pause_at(BEGIN + timedelta(hours=1))


def test_new_deliveries_appear_without_losing_focus_selection_or_place(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(ports, app_id, EventType.PRODUCT_UPDATED)
    first = make_delivery(ports, hook)
    stop_time(admin)
    admin.goto(f"{small_shop.url}/console/deliveries/")
    rows = admin.locator("#delivery-list tbody tr")
    admin.locator(f'[data-key="{first}"] a').focus()
    make_delivery(ports, hook)
    admin.clock.run_for(SOON)
    expect(rows).to_have_count(2)
    expect(rows.last.locator("a")).to_be_focused()

    box = rows.last.get_by_role("checkbox")
    box.check()
    change_delivery(ports, first, status="SUCCESS", next_attempt_at=None)
    make_delivery(ports, hook)
    admin.clock.run_for(LATER)
    expect(rows.last).to_contain_text("Delivered")
    expect(rows).to_have_count(2)
    expect(box).to_be_checked()
    box.uncheck()
    admin.clock.run_for(LATER)
    expect(rows).to_have_count(3)

    admin.get_by_role("link", name="Replay missed events").click()
    cancel = admin.get_by_role("dialog").get_by_role("link", name="Cancel")
    cancel.focus()  # from a field, which would pause it too
    asked: list[str] = []
    admin.on("request", lambda request: asked.append(request.url))
    admin.clock.run_for(LATER)
    assert asked == [], "an open dialog pauses the refresh"
    make_delivery(ports, hook)
    cancel.click()
    admin.clock.run_for(LATER)
    expect(rows).to_have_count(4)


def test_waiting_delivery_becomes_delivered_and_is_announced(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(200, b"{}"))
        webhook = make_webhook(ports, app_id, EventType.PRODUCT_UPDATED, target_url=target)
        delivery = make_delivery(ports, webhook)
        stop_time(admin)
        admin.goto(f"{small_shop.url}/console/deliveries/{delivery}")
        expect(admin.locator("#delivery-state")).to_contain_text("Waiting")
        admin.get_by_role("radio", name="Request").check(force=True)
        work(small_shop)
        admin.clock.run_for(SOON)
        expect(admin.locator("#delivery-state")).to_contain_text("Delivered")
        expect(admin.get_by_role("region", name="Attempts")).to_contain_text("200 OK")
        said = admin.get_by_role("status").filter(has_text="Product updated: Delivered")
        expect(said).to_have_count(1)
    asked: list[str] = []
    admin.on("request", lambda request: asked.append(request.url))
    admin.clock.run_for(LATER)
    assert asked == []


def test_finished_installation_brings_count_and_message_along(
    admin: Page, small_shop: RunningShop
) -> None:
    make_app(small_shop.ports, "Labels")
    stop_time(admin)
    with app_server() as app:
        admin.goto(f"{small_shop.url}/console/apps/install/")
        admin.get_by_label("Manifest").fill(app.manifest_url)
        admin.get_by_role("button", name="Continue").click()
        admin.get_by_role("button", name="Install An app").click()
        message = admin.locator(".lk-messages .lk-flash")
        expect(message).to_contain_text("Installing An app")
        expect(message).not_to_have_class("lk-flash is-ok")
        expect(admin.get_by_text("1 app", exact=True)).to_be_visible()
        assert install_next_app(small_shop.ports, WORKER) == 1
    admin.clock.run_for(SOON)
    expect(message).to_have_text("Installation finished.")
    said = admin.get_by_role("status").filter(has_text="Installation finished.")
    expect(said.and_(admin.locator(".visually-hidden"))).to_have_count(1)
    expect(admin.get_by_text("2 apps", exact=True)).to_be_visible()
    rows = admin.locator("#app-list tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.get_by_role("link", name="An app")).to_be_visible()
    expect(admin.get_by_text("Installing An app")).to_have_count(0)
