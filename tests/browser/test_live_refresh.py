"""Pages that keep themselves current, without losing place, focus or selection."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.models import AppInstallationRecord
from tests.browser.console import RunningShop, work
from tests.builders.apps import make_app
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook
from tests.servers.http import Reply, http_server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

SOON = 6_000
LATER = 60_000
"""Milliseconds: beyond the next refresh, and beyond the slowest."""

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def hook(small_shop: RunningShop) -> int:
    app_id, _ = make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    return make_webhook(small_shop.ports, app_id, EventType.PRODUCT_UPDATED)


def stop_time(page: Page) -> None:
    """Let time pass on the page only when the test says so: no refresh comes in between."""
    page.clock.install(time=BEGIN)
    page.clock.pause_at(BEGIN + timedelta(hours=1))


def test_new_delivery_appears_without_losing_focus(
    admin: Page, small_shop: RunningShop, hook: int
) -> None:
    first = make_delivery(small_shop.ports, hook)
    stop_time(admin)
    admin.goto(f"{small_shop.url}/console/deliveries/")
    rows = admin.locator("#delivery-list tbody tr")
    link = admin.locator(f'[data-key="{first}"] a')
    link.focus()
    make_delivery(small_shop.ports, hook)
    admin.clock.run_for(SOON)
    expect(rows).to_have_count(2)
    expect(rows.last.locator("a")).to_be_focused()


def test_selected_rows_stay_selected_and_no_row_moves(
    admin: Page, small_shop: RunningShop, hook: int
) -> None:
    first = make_delivery(small_shop.ports, hook)
    stop_time(admin)
    admin.goto(f"{small_shop.url}/console/deliveries/")
    rows = admin.locator("#delivery-list tbody tr")
    box = rows.get_by_role("checkbox")
    box.check()
    change_delivery(small_shop.ports, first, status="SUCCESS", next_attempt_at=None)
    make_delivery(small_shop.ports, hook)
    admin.clock.run_for(SOON)
    expect(rows.first).to_contain_text("Delivered")
    expect(rows).to_have_count(1)
    expect(box).to_be_checked()
    box.uncheck()
    admin.clock.run_for(LATER)
    expect(rows).to_have_count(2)


def test_open_dialog_pauses_the_refresh(admin: Page, small_shop: RunningShop, hook: int) -> None:
    make_delivery(small_shop.ports, hook)
    stop_time(admin)
    admin.goto(f"{small_shop.url}/console/deliveries/")
    admin.get_by_role("link", name="Replay missed events").click()
    expect(admin.get_by_role("dialog")).to_be_visible()
    asked: list[str] = []
    admin.on("request", lambda request: asked.append(request.url))
    admin.clock.run_for(LATER)
    assert asked == []
    make_delivery(small_shop.ports, hook)
    admin.get_by_role("link", name="Cancel").click()
    admin.clock.run_for(LATER)
    expect(admin.locator("#delivery-list tbody tr")).to_have_count(2)


def test_waiting_delivery_becomes_delivered_and_is_announced(
    admin: Page, small_shop: RunningShop, hook: int
) -> None:
    ports = small_shop.ports
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(200, b"{}"))
        webhook = make_webhook(ports, 1, EventType.PRODUCT_UPDATED, target_url=target)
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


def test_finished_installation_shows_the_app(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    now = ports.clock.now()
    with ports.database.transaction() as session:
        installation = AppInstallationRecord(
            app_name="Parcel Post",
            manifest_url="https://parcels.example.com/manifest",
            caller={},
            created_at=now,
            updated_at=now,
        )
        session.add(installation)
        session.flush()
        key = installation.id
    stop_time(admin)
    admin.goto(f"{small_shop.url}/console/apps/")
    expect(admin.get_by_text("Installing Parcel Post")).to_be_visible()
    make_app(ports, "Parcel Post")
    with ports.database.transaction() as session:
        session.delete(session.get_one(AppInstallationRecord, key))
    admin.clock.run_for(SOON)
    expect(admin.get_by_text("Installing Parcel Post")).to_have_count(0)
    expect(admin.get_by_role("link", name="Parcel Post")).to_be_visible()
    done = admin.get_by_role("status").filter(has_text="Installation finished.")
    expect(done).to_have_count(1)
