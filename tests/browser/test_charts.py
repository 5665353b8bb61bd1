"""Charts with names, tables and intervals."""

import pytest
from playwright.sync_api import Page, expect

from app import models
from app.domain.apps.apps import ANY_REQUEST, HOUR, UNUSED_AFTER, span_start
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.shop.settings import TrafficKind, bucket_of
from tests.browser.console import RunningShop
from tests.builders.apps import make_app
from tests.builders.webhooks import make_many_deliveries, make_webhook
from tests.fakes.offset_clock import Ahead

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]


def test_charts_have_names_tables_and_intervals(admin: Page, small_shop: RunningShop) -> None:
    look_at_webhook(admin, small_shop)
    look_at_home(admin, small_shop)
    look_at_app(admin, small_shop)


def look_at_webhook(admin: Page, small_shop: RunningShop) -> None:
    """See deliveries by day and by hour."""
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(ports, app_id, EventType.PRODUCT_UPDATED)
    make_many_deliveries(ports, hook, 3, attempts=1, response_status=200)
    admin.goto(f"{small_shop.url}/console/webhooks/{hook}")
    health = admin.get_by_role("region", name="Health by day")
    expect(health.get_by_role("img", name="Deliveries by day: 3 delivered.")).to_be_visible()
    health.get_by_text("View as table").click()
    expect(health.get_by_role("table").get_by_role("row")).to_have_count(15)
    health.get_by_role("link", name="24 hours").click()
    health = admin.get_by_role("region", name="Health by hour")
    expect(health.get_by_role("link", name="24 hours")).to_have_attribute("aria-current", "true")
    expect(health.get_by_role("img", name="Deliveries by hour: 3 delivered.")).to_be_visible()


def look_at_home(admin: Page, small_shop: RunningShop) -> None:
    """See requests of the last hours by their kind."""
    ports = small_shop.ports
    assert isinstance(ports.clock, Ahead)
    if ports.clock.now().minute >= 55:  # the hour must not end before the page is made
        ports.clock.seconds += 600
    with ports.database.transaction() as session:
        session.query(models.Traffic).delete()
        for kind, requests in ((TrafficKind.CUSTOMER, 1200), (TrafficKind.APP, 1)):
            session.add(
                models.Traffic(
                    began_at=bucket_of(ports.clock.now()), kind=kind.value, requests=requests
                )
            )
    admin.goto(f"{small_shop.url}/console/")
    chart = admin.get_by_role("region", name="API requests by hour")
    name = "API requests by hour: 1,200 from customers, 1 from apps."
    expect(chart.get_by_role("img", name=name)).to_be_visible()
    chart.get_by_text("View as table").click()
    newest = chart.get_by_role("table").get_by_role("row").nth(1)
    expect(newest).to_contain_text("1,200")


def look_at_app(admin: Page, small_shop: RunningShop) -> None:
    """See requests of an app, their errors, and the permissions that none of them used."""
    ports = small_shop.ports
    app, _ = make_app(ports, "Feed", Permission.MANAGE_PRODUCTS, Permission.MANAGE_ORDERS)
    now = ports.clock.now()
    begun = now - 2 * UNUSED_AFTER
    with ports.database.transaction() as session:
        for code, requests in (("", 40), ("PermissionDenied", 2)):
            row = {"app_id": app, "span": HOUR, "began_at": span_start(now, HOUR)}
            counted = models.AppRequest(**row, code=code, requests=requests, slow=1, slowest=1250)
            session.add(counted)
        for name, last in ((ANY_REQUEST, now), ("MANAGE_PRODUCTS", now)):
            session.add(
                models.AppPermissionUse(
                    app_id=app, permission=name, first_used_at=begun, last_used_at=last
                )
            )
    admin.goto(f"{small_shop.url}/console/apps/{app}")
    admin.get_by_role("link", name="Activity", exact=True).click()
    chart = admin.get_by_role("region", name="API requests", exact=True)
    expect(
        chart.get_by_role("img", name="API requests by hour: 40 succeeded, 2 failed.")
    ).to_be_visible()
    chart.get_by_text("View as table").click()
    expect(chart.get_by_role("table").get_by_role("row").nth(1)).to_contain_text("42")
    codes = admin.get_by_role("region", name="Errors by code")
    expect(codes).to_contain_text("PermissionDenied")
    unused = admin.get_by_role("region", name="Unused permissions")
    expect(unused).to_contain_text("Manage orders")
    expect(unused).not_to_contain_text("Manage products")
    chart.get_by_role("link", name="30 days").click()
    by_day = admin.get_by_role("img", name="API requests by day: 40 succeeded, 2 failed.")
    expect(by_day).to_be_visible()
