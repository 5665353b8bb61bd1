"""Deliveries in the console: searched, shown, resent."""

import re
from datetime import timedelta
from urllib.parse import quote

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.webhooks.lists import show_webhook
from tests.builders.apps import change_app, make_app
from tests.builders.orders import make_order
from tests.builders.products import make_product
from tests.builders.webhooks import (
    change_delivery,
    change_webhook,
    make_delivery,
    make_many_deliveries,
    make_webhook,
)
from tests.console.conftest import StaffConsole, Statements
from tests.console.list_cells import active_filters
from tests.fakes.clock import FakeClock

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
LIST = "/console/deliveries/"


def a_delivery(shop: Ports, payload: str = '{"product":null}', app: str = "Labels") -> int:
    app_id, _ = make_app(shop, app)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_CREATED)
    return make_delivery(shop, hook, payload)


def fail(shop: Ports, key: int, status: int | None = 503) -> None:
    """One attempt at it, and then it was given up."""
    with shop.database.transaction() as session:
        delivery = session.get_one(models.Delivery, key)
        delivery.status, delivery.attempts = DeliveryStatus.FAILED.value, 1
        delivery.response_status, delivery.given_up = status, "It was tried often enough."
        session.add(
            models.DeliveryAttempt(
                delivery_id=key,
                created_at=shop.clock.now(),
                duration=0.031,
                status=DeliveryStatus.FAILED.value,
                response_status=status,
                request_headers={"webhook-id": "msg_1"},
                response_headers={"Server": "<b>edge</b>"},
                response="<script>alert(1)</script>",
            )
        )


def status_of(shop: Ports, key: int) -> str:
    with shop.database.transaction() as session:
        return session.get_one(models.Delivery, key).status


def attempts_of(shop: Ports, key: int) -> int:
    with shop.database.transaction() as session:
        return session.get_one(models.Delivery, key).attempts


def test_the_page_needs_manage_apps(staff_console: StaffConsole, shop: Ports) -> None:
    key = a_delivery(shop)
    console = staff_console(Permission.MANAGE_ORDERS)
    assert console.open(LIST).status == 403
    assert console.open(f"{LIST}{key}").status == 403


def test_deliveries_are_listed_and_narrowed_by_the_address(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    console = staff_console(*MAY)
    fail(shop, failed := a_delivery(shop))
    a_delivery(shop, '{"product":{"name":"Kettle"}}', app="Till")
    with statements() as seen:
        page = console.open(LIST)
    assert f'data-key="{failed}"' in page.html  # by which a refresh keeps the place
    assert "Failed" in page.text
    assert "Waiting" in page.text
    assert len(seen) <= 6
    assert "Till" not in console.open(f"{LIST}?status=failed&code=503").text.split("Created")[1]
    assert "Labels" not in console.open(f"{LIST}?q=Kettle").text.split("Created")[1]
    assert (
        "No matching deliveries" in console.open(f"{LIST}?event=ORDER_PAID&from=2026-01-01").text
    )


def test_invalid_filters_are_reported_and_not_shown_as_applied(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = a_delivery(shop)
    fail(shop, key)
    console = staff_console(*MAY)
    page = console.open(
        f"{LIST}?object=nonsense&code=abc&webhook=x&from=y&event=NONE&status=all&q=product"
    )
    assert page.status == 200
    for name, value in (
        ("Object", "nonsense"),
        ("Response code", "abc"),
        ("Webhook", "x"),
        ("From date", "y"),
        ("Event", "NONE"),
        ("Status", "all"),
    ):
        assert f"{name}: “{value}” isn't valid." in page.text
    assert active_filters(page.html) == []
    assert 'value="product"' in page.html
    assert f"{LIST}{key}" in page.html
    applied = console.open(f"{LIST}?code=none")
    assert "Response code: none" in applied.text
    assert f"{LIST}{key}" not in applied.html
    assert "isn't valid" not in applied.text


def test_delivery_is_named_for_its_object(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    key = a_delivery(shop)
    change_delivery(shop, key, subject_id=make_product(shop, "Bowl, ash glaze"))
    seen_by_others = staff_console(Permission.MANAGE_APPS, email="other@example.com")
    assert "Bowl, ash glaze" not in seen_by_others.open(f"{LIST}{key}").text
    console = staff_console(*MAY)
    with statements() as seen:
        assert "Bowl, ash glaze" in console.open(LIST).text
    assert len(seen) <= 6
    page = console.open(f"{LIST}{key}")
    assert page.title.startswith("Bowl, ash glaze ·")
    assert "Product updated (PRODUCT_UPDATED) to Labels" in page.text
    assert "Bowl, ash glaze" in console.open("/console/webhooks/1").text


def test_deliveries_are_found_by_what_their_rows_call_the_object(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = a_delivery(shop)
    order = make_order(shop)
    number = order.number
    change_delivery(shop, key, event="ORDER_PAID", subject_id=order.id)
    other = a_delivery(shop, app="Till")
    change_delivery(shop, other, subject_id=make_product(shop, "Kettle"))
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    for called in (f"Order #{number}", f"#{number}", str(number), to_global_id("Order", order.id)):
        page = console.open(f"{LIST}?object={quote(called)}")
        assert f"{LIST}{key}" in page.html, called
        assert f"{LIST}{other}" not in page.html, called
    assert f"{LIST}{other}" in console.open(f"{LIST}?object=kettle").html
    assert "“Kett” isn't valid" in console.open(f"{LIST}?object=Kett").text
    without = staff_console(Permission.MANAGE_APPS, email="other@example.com")
    assert "isn't valid" in without.open(f"{LIST}?object=%23{number}").text


def test_one_delivery_is_shown_with_what_was_answered_and_no_markup_in_it_works(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    console = staff_console(*MAY)
    key = a_delivery(shop, '{"name":"<img src=x onerror=alert(1)>"}', app="<script>x</script>")
    fail(shop, key)
    console.open(f"{LIST}{key}")  # makes the signing keys, this once
    with statements() as seen:
        page = console.open(f"{LIST}{key}")
    assert "503 Service Unavailable" in page.text
    assert "31 ms" in page.text
    assert "It was tried often enough." in page.text
    assert "<script>alert" not in page.html
    assert "<script>x" not in page.html
    assert "<img src=x" not in page.html
    assert "<b>edge" not in page.html
    assert "curl -X POST" in page.html
    assert len(seen) <= 6
    assert console.open(f"{LIST}999").status == 404


def test_one_is_redelivered(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(*MAY)
    key = a_delivery(shop)
    fail(shop, key)
    done = console.send(f"{LIST}{key}/redeliver", seen_at=f"{LIST}{key}")
    assert "Resending now." in console.follow(done).text
    assert status_of(shop, key) == DeliveryStatus.PENDING


def test_delivery_of_a_paused_webhook_is_not_called_resent(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(*MAY)
    key = a_delivery(shop)
    fail(shop, key)
    with shop.database.reading() as session:
        webhook = session.get_one(models.Delivery, key).webhook_id
    change_webhook(shop, webhook, paused_at=clock.now())
    waits = console.follow(console.send(f"{LIST}{key}/redeliver", seen_at=f"{LIST}{key}")).text
    assert "Paused: 1 delivery is sent when its webhook is resumed." in waits
    assert "Resending now." not in waits
    other = a_delivery(shop)
    fail(shop, other)
    chosen = {"id": [str(key), str(other)]}
    both = console.follow(console.send(f"{LIST}redeliver", chosen, seen_at=LIST)).text
    assert "Paused: 1 delivery is sent when its webhook is resumed." in both
    assert "Resending 1 delivery." in both
    page = f"/console/webhooks/{webhook}"
    sent = console.follow(console.send(f"{page}/send-waiting", seen_at=page)).text
    assert "The webhook is paused. What waits is sent when you resume it." in sent
    fail(shop, key)
    replay = {"what": "failed", "webhook": str(webhook), "since": "24"}
    replayed = console.follow(
        console.send(f"{LIST}replay", replay, seen_at=f"{LIST}?ask=replay-failed")
    ).text
    assert "Paused: 1 delivery is sent when its webhook is resumed." in replayed


def test_those_that_are_ticked_are_redelivered_and_the_list_stays_narrowed(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    keys = [a_delivery(shop), a_delivery(shop)]
    for key in keys:
        fail(shop, key)
    none = console.send(f"{LIST}redeliver", seen_at=LIST)
    assert "Select a delivery." in console.follow(none).text
    done = console.send(
        f"{LIST}redeliver?status=failed", {"id": [str(k) for k in keys]}, seen_at=LIST
    )
    assert done.leads_to == f"{LIST}?status=failed"
    assert "Resending 2 deliveries." in console.follow(done).text


def test_retrying_deliveries_are_found_and_sent_now(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    a_delivery(shop, '{"product":{"name":"Waiting"}}')
    key = a_delivery(shop)
    fail(shop, key)
    later = shop.clock.now() + timedelta(hours=1)
    change_delivery(shop, key, status="PENDING", next_attempt_at=later)
    listed = console.open(f"{LIST}?status=retrying")
    assert re.findall(r'href="/console/deliveries/(\d+)"', listed.html) == [str(key)]
    hook = "/console/webhooks/2"
    assert "Send 1 waiting delivery now" in console.open(hook).text
    done = console.follow(console.send(f"{hook}/send-waiting", seen_at=hook))
    assert "Sending 1 delivery now." in done.text
    assert "waiting delivery now" not in done.text


def test_what_failed_since_a_time_is_replayed(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(*MAY)
    key = a_delivery(shop)
    fail(shop, key)
    change_webhook(shop, 1, failing_since=shop.clock.now())
    question_url = f"{LIST}?ask=replay-failed"
    chosen = console.open(question_url)
    assert "Resend failed deliveries?" in chosen.text
    assert '<option value="1" selected>' in chosen.html
    counted = console.open(f"{question_url}&replayed=1&within=24")
    assert "Resend 1 failed delivery?" in counted.text
    assert status_of(shop, key) == DeliveryStatus.FAILED
    none = console.open(f"{LIST}?ask=replay-missing&replayed=1&within=24")
    assert "No missed events." in none.text
    data = {"what": "failed", "webhook": "1", "since": "24"}
    done = console.follow(console.send(f"{LIST}replay", data, seen_at=question_url))
    assert "Resending 1 failed delivery." in done.text
    assert status_of(shop, key) == DeliveryStatus.PENDING
    gone = console.send(
        f"{LIST}replay", {"what": "missing", "webhook": "77"}, seen_at=question_url
    )
    assert gone.status == 404


def test_delivery_of_a_disabled_webhook_is_resent_only_after_enabling_it(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    key = a_delivery(shop)
    fail(shop, key, 402)
    change_webhook(shop, 1, is_active=False)
    page = console.open(f"{LIST}{key}")
    assert "Enable and resend" in page.text
    assert "Resend now" not in page.text

    refused = console.send(f"{LIST}{key}/redeliver", seen_at=f"{LIST}{key}")
    refusal = console.follow(refused).text
    assert "The webhook is disabled. Enable it to resend." in refusal
    assert "Resending" not in refusal
    assert (status_of(shop, key), attempts_of(shop, key)) == (DeliveryStatus.FAILED, 1)

    done = console.send(f"{LIST}{key}/redeliver", {"enable": "yes"}, seen_at=f"{LIST}{key}")
    resent = console.follow(done).text
    assert "Resending now." in resent
    assert "Resend now" in resent
    assert status_of(shop, key) == DeliveryStatus.PENDING
    webhook = show_webhook(shop, OPERATOR, 1)
    assert webhook is not None
    assert webhook.is_active


def test_delivery_of_an_inactive_app_leads_to_the_app(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    key = a_delivery(shop)
    change_app(shop, 1, is_active=False)
    page = console.open(f"{LIST}{key}")
    assert "Labels is inactive. Activate the app to send this delivery." in page.text
    assert "View app" in page.text
    refused = console.send(f"{LIST}{key}/redeliver", seen_at=f"{LIST}{key}")
    assert "The app is inactive. Activate it to resend." in console.follow(refused).text


def test_selected_deliveries_of_disabled_webhooks_are_left_out(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    keys = [a_delivery(shop), a_delivery(shop)]
    for key in keys:
        fail(shop, key)
    change_webhook(shop, 1, is_active=False)
    data = {"id": [str(key) for key in keys]}
    page = console.follow(console.send(f"{LIST}redeliver", data, seen_at=LIST)).text
    assert "Resending 1 delivery." in page
    assert "1 delivery isn't resent: its webhook is disabled" in page
    assert [status_of(shop, key) for key in keys] == [
        DeliveryStatus.FAILED,
        DeliveryStatus.PENDING,
    ]


def test_disabled_webhook_gets_no_replay(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(*MAY)
    key = a_delivery(shop)
    fail(shop, key)
    change_webhook(shop, 1, is_active=False)
    data = {"what": "failed", "webhook": "1", "since": "24"}
    refused = console.send(f"{LIST}replay", data, seen_at=f"{LIST}?ask=replay-failed")
    assert "The webhook is disabled. Enable it to resend." in console.follow(refused).text
    assert status_of(shop, key) == DeliveryStatus.FAILED


def test_all_matching_deliveries_are_resent_from_the_list(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    make_many_deliveries(shop, hook, 30, status="FAILED")
    make_many_deliveries(shop, hook, 2)
    console = staff_console(*MAY)
    offered = console.open(f"{LIST}?status=failed")
    assert "30 of 32 deliveries" in offered.text
    assert "Select all 30 matching deliveries" in offered.text
    assert 'href="/console/deliveries/?select=all&amp;status=failed"' in offered.html
    selected = console.open(f"{LIST}?select=all&status=failed")
    assert "All 30 matching deliveries are selected." in selected.text
    assert selected.html.count(" checked disabled") == 25
    question = console.open(f"{LIST}?ask=resend&select=all&status=failed")
    assert "Resend 30 deliveries?" in question.text
    resent = console.send(f"{LIST}redeliver-matching?status=failed", seen_at=LIST)
    assert resent.leads_to == f"{LIST}?status=failed"
    page = console.follow(resent)
    assert "Resending 30 deliveries." in page.text
    assert "No matching deliveries" in page.text
    assert "30 of 32 deliveries" in console.open(f"{LIST}?status=waiting").text


def test_matching_deliveries_of_a_disabled_webhook_are_refused(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    make_many_deliveries(shop, hook, 3, status="FAILED")
    change_webhook(shop, hook, is_active=False)
    console = staff_console(*MAY)
    reason = "3 deliveries aren't resent: their webhook is disabled or its app inactive."
    question = console.open(f"{LIST}?ask=resend&select=all")
    assert reason in question.text
    assert 'id="dlg-t"' not in question.html
    sent = console.send(f"{LIST}redeliver-matching", seen_at=LIST)
    assert reason in console.follow(sent).text


def test_nothing_is_resent_by_an_invalid_filter(staff_console: StaffConsole, shop: Ports) -> None:
    key = a_delivery(shop)
    fail(shop, key)
    a_delivery(shop, app="Till")
    console = staff_console(*MAY)
    for query in ("code=abc", "object=nonsense"):
        listed = console.open(f"{LIST}?{query}").text.replace("on this page", "")
        assert "Select all" not in listed, query
        page = console.follow(console.send(f"{LIST}redeliver-matching?{query}", seen_at=LIST))
        assert "Resending" not in page.text, query
        assert "Failed" in page.text, query
