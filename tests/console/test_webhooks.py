"""Webhooks in the console: created, checked while typing, tested, disabled, deleted."""

import re

from app.console.integrations.event_catalog import NOUNS
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.models import DeliveryRecord, WebhookRecord
from app.ports import Ports
from app.services.deliveries.attempt_results import FAILING_REASON
from app.services.webhooks.details import show_webhook
from app.services.webhooks.disabling import disable_webhook
from tests.builders.apps import make_app
from tests.builders.products import make_product
from tests.builders.webhooks import change_webhook, make_webhook
from tests.console.conftest import StaffConsole, Statements

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
QUERY = "subscription {\r\n  event { ... on ProductUpdated { product { name } } }\r\n}"
TARGET = "https://labels.example.com/hooks"


def test_the_page_needs_manage_apps(staff_console: StaffConsole) -> None:
    console = staff_console()
    assert console.open("/console/webhooks/").status == 403
    assert console.open("/console/webhooks/new").status == 403


def test_webhook_is_created_with_a_query_and_edited(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    console = staff_console(*MAY)
    data = {
        "app": str(app_id),
        "name": "Stock feed",
        "target_url": TARGET,
        "query": QUERY,
        "custom_headers": "X-Shop: harbour",
        "secret_key": "a secret of theirs",
        "is_active": "y",
    }
    done = console.follow(console.send("/console/webhooks/new", data))
    assert "Webhook “Stock feed” created." in done.text
    assert "PRODUCT_UPDATED" in done.text
    edited = console.open("/console/webhooks/1/edit")
    assert "a secret of theirs" not in edited.html
    assert "X-Shop: harbour" in edited.text
    data = {"app": str(app_id), "name": "Stock", "target_url": TARGET, "query": QUERY}
    console.send("/console/webhooks/1/edit", data)
    stored = show_webhook(shop, OPERATOR, 1)
    assert stored is not None
    assert (stored.name, stored.is_active) == ("Stock", False)
    assert stored.reveal() == "a secret of theirs"


def test_what_is_wrong_with_a_query_is_marked_by_line(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    console = staff_console(*MAY)
    bad = "subscription {\n  event { ... on ProductUpdated {\n    nothing\n  } } }"
    told = console.send("/console/webhooks/new", {"app": "1", "target_url": TARGET, "query": bad})
    assert told.status == 422
    assert '<li class="is-bad">3</li>' in told.html
    assert "nothing" in told.text
    found = console.send(
        "/console/webhooks/check", {"query": bad}, seen_at="/console/webhooks/new"
    )
    assert found.response.json is not None
    assert [mark["line"] for mark in found.response.json["marks"]] == [3]
    found = console.send(
        "/console/webhooks/check", {"query": QUERY}, seen_at="/console/webhooks/new"
    )
    assert found.response.json == {
        "marks": [],
        "message": "Valid query. Subscribes to Product updated.",
    }


def test_internal_targets_bad_headers_and_nothing_at_all_are_refused(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_app(shop, "Labels")
    console = staff_console(*MAY)
    for data in (
        {"app": "1", "target_url": ""},
        {"app": "1", "target_url": "ftp://x"},
        {"app": "1", "target_url": TARGET, "custom_headers": "Host: evil"},
        {"app": "1", "target_url": TARGET, "custom_headers": "no colon"},
        {"app": "99", "target_url": TARGET},
        {"app": "", "target_url": TARGET},
    ):
        told = console.send("/console/webhooks/new", data)
        assert told.status in (404, 422), data
    assert "No webhooks yet" in console.open("/console/webhooks/").text


def test_all_webhooks_are_listed_with_their_health(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    app_id, _ = make_app(shop, "<script>alert(1)</script>")
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    failing = make_webhook(shop, app_id, EventType.ORDER_PAID)
    change_webhook(shop, failing, failing_since=shop.clock.now(), name="Broken")
    console = staff_console(*MAY)
    with statements() as seen:
        page = console.open("/console/webhooks/")
    assert "Failing" in page.text
    assert "<script>alert" not in page.html
    assert len(seen) <= 6
    assert "Broken" in console.open("/console/webhooks/?state=failing").text
    assert "Broken" not in console.open("/console/webhooks/?event=PRODUCT_UPDATED").text
    with statements() as seen:
        assert console.open(f"/console/webhooks/{failing}").status == 200
    assert len(seen) <= 6


def test_webhook_is_disabled_enabled_and_deleted(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels")
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    console = staff_console(*MAY)
    asked = "/console/webhooks/1?ask=pause"
    assert "Disable “hook”?" in console.open(asked).text
    done = console.follow(console.send("/console/webhooks/1/pause", seen_at=asked))
    assert "“hook” disabled." in done.text
    assert (
        "“hook” enabled."
        in console.follow(console.send("/console/webhooks/1/resume", seen_at=asked)).text
    )
    gone = console.send("/console/webhooks/1/delete", seen_at="/console/webhooks/1?ask=delete")
    assert "“hook” deleted." in console.follow(gone).text
    assert console.open("/console/webhooks/1").status == 404


def test_a_test_is_a_delivery_like_any_other(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    product = make_product(shop)
    console = staff_console(*MAY)
    asked = "/console/webhooks/1?ask=test"
    wrong = console.send("/console/webhooks/1/test", {"object": "nonsense"}, seen_at=asked)
    assert "That is no id of an object" in console.follow(wrong).text
    data = {"object": to_global_id("Product", product)}
    sent = console.send("/console/webhooks/1/test", data, seen_at=asked)
    assert sent.leads_to == "/console/deliveries/1"
    with shop.database.transaction() as session:
        assert session.get_one(DeliveryRecord, 1).webhook_id == 1


def test_webhook_disabled_for_failing_says_why_until_it_is_enabled(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_webhook(shop, make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)[0])
    with shop.database.transaction() as session:
        disable_webhook(shop, session, session.get_one(WebhookRecord, key), FAILING_REASON)
    console = staff_console(*MAY)
    for path in ("/console/", f"/console/webhooks/{key}"):
        assert FAILING_REASON in console.open(path).text
    console.send(f"/console/webhooks/{key}/resume", {}, seen_at=f"/console/webhooks/{key}")
    for path in ("/console/", f"/console/webhooks/{key}"):
        assert FAILING_REASON not in console.open(path).text


def test_events_are_grouped_and_groups_with_selected_events_are_open(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    console = staff_console(*MAY)
    page = console.open("/console/webhooks/1/edit")
    nouns = re.findall(
        r'<details class="lk-fold"( open)?>\s*<summary>\s*<span>(.*?)</span>', page.html
    )
    assert [noun for is_open, noun in nouns if is_open] == ["Products"]
    assert [noun for _, noun in nouns] == list(NOUNS.values())
    assert "Products 1 selected of 3 Products Requires Manage products." in page.text
    assert (
        "Orders 0 selected of 6 Orders Requires Manage orders, which Labels doesn't have."
        in page.text
    )
    offered = re.findall(r'name="events"\s+id="[^"]+"\s+value="(\w+)"', page.html)
    assert sorted(offered) == sorted(event.value for event in EventType)
    assert " open>" not in console.open("/console/webhooks/new").html
