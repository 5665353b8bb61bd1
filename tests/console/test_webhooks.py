"""Webhooks in the console: created, checked while typing, tested, disabled, deleted."""

import re

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import SUBJECTS, EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_lists import show_app
from app.services.deliveries.attempt_results import FAILING_REASON
from app.services.webhooks.failing_webhooks import disable_webhook
from app.services.webhooks.lists import show_webhook
from tests.builders.apps import change_app, make_app
from tests.builders.products import make_product
from tests.builders.webhooks import change_webhook, make_many_deliveries, make_webhook
from tests.console.conftest import StaffConsole, Statements
from tests.console.list_cells import active_filters
from tests.console.staff_client import ConsoleClient
from tests.fixtures.cases import cases

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
QUERY = "subscription {\r\n  event { ... on ProductUpdated { product { name } } }\r\n}"
TARGET = "https://labels.example.com/hooks"


def permissions_of(shop: Ports, app_id: int) -> set[Permission]:
    app = show_app(shop, OPERATOR, app_id)
    assert app is not None
    return set(app.permissions)


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
    assert "PRODUCT_UPDATED" in console.open("/console/webhooks/1?view=events").text
    edited = console.open("/console/webhooks/1/edit")
    assert "a secret of theirs" not in edited.html
    assert "X-Shop: harbour" in edited.text
    data = {"app": str(app_id), "name": "Stock", "target_url": TARGET, "query": QUERY}
    console.send("/console/webhooks/1/edit", data)
    stored = show_webhook(shop, OPERATOR, 1)
    assert stored is not None
    assert (stored.name, stored.is_active) == ("Stock", False)
    assert stored.reveal() == "a secret of theirs"


def test_emptied_query_is_removed_and_the_ticked_events_count(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, query=QUERY)
    console = staff_console(*MAY)
    data = {"target_url": TARGET, "is_active": "y", "events": ["PRODUCT_CREATED"]}
    page = f"/console/webhooks/{hook}/edit"
    for query, kept, events in (
        (QUERY, QUERY, (EventType.PRODUCT_UPDATED,)),
        (" ", "", (EventType.PRODUCT_CREATED,)),
    ):
        assert console.send(page, {**data, "query": query}).status == 303
        stored = show_webhook(shop, OPERATOR, hook)
        assert stored is not None
        assert (stored.query, stored.events) == (kept, events)


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
        "difference": "",
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
    asked = "/console/webhooks/1?ask=disable"
    assert "Disable “hook”?" in console.open(asked).text
    done = console.follow(console.send("/console/webhooks/1/disable", seen_at=asked))
    assert "“hook” disabled." in done.text
    assert (
        "“hook” enabled."
        in console.follow(console.send("/console/webhooks/1/enable", seen_at=asked)).text
    )
    gone = console.send("/console/webhooks/1/delete", seen_at="/console/webhooks/1?ask=delete")
    assert "“hook” deleted." in console.follow(gone).text
    assert console.open("/console/webhooks/1").status == 404


def test_webhook_is_paused_limited_and_resumed(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels")
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    console = staff_console(*MAY)
    shown = "/console/webhooks/1"
    assert "Paused" not in console.open(shown).text
    paused = console.follow(console.send(f"{shown}/pause", seen_at=shown))
    assert "“hook” paused. Its events wait until you resume it." in paused.text
    assert "Events are waiting." in paused.text
    assert "hook" in console.open("/console/webhooks/?state=paused").text
    assert "Paused" in console.open("/console/webhooks/").text
    resumed = console.follow(console.send(f"{shown}/resume", seen_at=shown))
    assert "“hook” resumed." in resumed.text
    assert "Events are waiting." not in resumed.text

    edit = f"{shown}/edit"
    form = {"name": "hook", "target_url": TARGET, "events": ["PRODUCT_UPDATED"], "warned": "y"}
    wrong = console.send(edit, {**form, "max_rate": "1001"}, seen_at=edit)
    assert (wrong.status, "from 0 to 1000" in wrong.text) == (422, True)
    limited = console.follow(console.send(edit, {**form, "max_rate": "5"}, seen_at=edit))
    assert "5 requests a second" in limited.text
    free = console.follow(console.send(edit, {**form, "max_rate": ""}, seen_at=edit))
    assert "requests a second" not in free.text


def test_test_is_a_delivery_like_any_other(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    product = make_product(shop)
    console = staff_console(*MAY)
    asked = "/console/webhooks/1?ask=test"
    wrong = console.send("/console/webhooks/1/test", {"object": "nonsense"}, seen_at=asked)
    assert wrong.status == 422
    assert "This ID does not match" in wrong.text
    data = {"object": to_global_id("Product", product)}
    sent = console.send("/console/webhooks/1/test", data, seen_at=asked)
    assert sent.leads_to == "/console/deliveries/1"
    with shop.database.transaction() as session:
        assert session.get_one(models.Delivery, 1).webhook_id == 1


def test_sample_that_is_sent_twice_is_one_delivery(
    staff_console: StaffConsole, shop: Ports
) -> None:
    """By a double click on either page; the control is the form of the page that is shown anew."""
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    make_product(shop)
    console = staff_console(*MAY)
    sent = []
    for path, shown in (
        ("/console/webhooks/1/test", "/console/webhooks/1?ask=test"),
        ("/console/events/send", "/console/events/?event=PRODUCT_UPDATED"),
        ("/console/events/send", "/console/events/?event=PRODUCT_UPDATED"),
    ):
        key = re.search(r'name="submission"[^>]*value="([^"]+)"', console.open(shown).html)
        assert key is not None
        data = {"event": "PRODUCT_UPDATED", "webhook": "1", "submission": key[1]}
        first, second = console.send_twice(path, data, seen_at=shown)
        assert console.follow(second).leads_to == first.leads_to
        sent.append(first.leads_to)
    assert sent == [f"/console/deliveries/{number}" for number in (1, 2, 3)]
    with shop.database.reading() as session:
        assert len(session.scalars(select(models.Delivery.id)).all()) == 3


def test_sample_event_is_about_the_named_object(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_webhook(shop, app_id, EventType.PRODUCT_CREATED, EventType.PRODUCT_UPDATED)
    make_product(shop, "Bowl, oatmeal")
    product = make_product(shop, "Bowl, ash glaze")
    console = staff_console(*MAY)
    names = ("", "Bowl, ash glaze", "bowl, ASH", to_global_id("Product", product))
    for key, name in enumerate(names, 1):
        data = {"event": "PRODUCT_UPDATED", "object": name}
        asked = "/console/webhooks/1?ask=test"
        sent = console.send("/console/webhooks/1/test", data, seen_at=asked)
        assert sent.leads_to == f"/console/deliveries/{key}", name
        assert "Sending sample event." in console.follow(sent).text, name
        with shop.database.transaction() as session:
            stored = session.get_one(models.Delivery, key)
            assert (stored.event, stored.subject_id) == ("PRODUCT_UPDATED", product), name


@pytest.fixture
def bowls(staff_console: StaffConsole, shop: Ports) -> ConsoleClient:
    """Somebody at the webhooks of a shop with two bowls."""
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    for name in ("Bowl, ash glaze", "Bowl, oatmeal"):
        make_product(shop, name)
    return staff_console(*MAY)


@cases(
    ("data", "told"),
    [
        (
            {"event": "PRODUCT_UPDATED", "object": "bowl"},
            "“bowl” matches Bowl, ash glaze and Bowl, oatmeal. Enter the full name, or an ID.",
        ),
        (
            {"event": "PRODUCT_UPDATED", "object": "vase"},
            "Nothing that this event is about matches “vase”. Enter a number, name, email or ID",
        ),
        ({"event": "ORDER_PAID"}, "doesn't subscribe to Order paid, but to Product updated."),
    ],
)
def test_refused_sample_event_keeps_what_was_entered(
    bowls: ConsoleClient, data: dict[str, str], told: str
) -> None:
    page = bowls.send("/console/webhooks/1/test", data, seen_at="/console/webhooks/1?ask=test")
    assert page.status == 422
    assert told in page.text
    assert f'value="{data.get("object", "")}"' in page.html


def test_webhook_disabled_for_failing_says_why_until_it_is_enabled(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_webhook(shop, make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)[0])
    with shop.database.transaction() as session:
        disable_webhook(shop, session, session.get_one(models.Webhook, key), FAILING_REASON)
    console = staff_console(*MAY)
    for path in ("/console/", f"/console/webhooks/{key}"):
        assert FAILING_REASON in console.open(path).text
    console.send(f"/console/webhooks/{key}/enable", {}, seen_at=f"/console/webhooks/{key}")
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
        r"<details( open)?>\s*<summary>\s*<svg.*?</svg>\s*([^<]*?)\s*<span", page.html, re.DOTALL
    )
    assert [noun for is_open, noun in nouns if is_open] == ["Products"]
    assert {noun for _, noun in nouns} == {subject.heading for subject in SUBJECTS}
    assert "Products 1 selected of 3 Products Requires Manage products." in page.text
    assert (
        "Orders 0 selected of 6 Orders Requires Manage orders, which Labels doesn't have."
        in page.text
    )
    offered = re.findall(r'name="events"\s+id="[^"]+"\s+value="(\w+)"', page.html)
    assert sorted(offered) == sorted(event.value for event in EventType)
    assert " open>" not in console.open("/console/webhooks/new").html


def test_missing_permission_is_shown_and_granted(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels")
    make_webhook(shop, app_id, EventType.ORDER_PAID)
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    assert "Missing permission: Manage orders" in console.open("/console/webhooks/").text
    page = console.open("/console/webhooks/1")
    assert "Labels doesn't receive “Order paid”." in page.text
    assert "Grant Manage orders" in page.text
    granted = console.send("/console/webhooks/1/grant", seen_at="/console/webhooks/1")
    told = console.follow(granted).text
    assert "Permissions of Labels saved." in told
    assert "doesn't receive" not in told
    assert permissions_of(shop, app_id) == {Permission.MANAGE_ORDERS}
    console.send("/console/webhooks/1/grant", seen_at="/console/webhooks/1")
    assert permissions_of(shop, app_id) == {Permission.MANAGE_ORDERS}


def test_person_without_the_permission_cannot_grant_it(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels")
    make_webhook(shop, app_id, EventType.ORDER_PAID)
    console = staff_console(*MAY)
    assert "Grant Manage orders" not in console.open("/console/webhooks/1").text
    refused = console.send("/console/webhooks/1/grant", seen_at="/console/webhooks/1")
    assert "MANAGE_ORDERS" in console.follow(refused).text
    assert permissions_of(shop, app_id) == set()
    assert console.send("/console/webhooks/9/grant", seen_at="/console/webhooks/1").status == 404


@pytest.mark.parametrize(
    ("grants", "held"), [({}, set()), ({"grants": "y"}, {Permission.MANAGE_ORDERS})]
)
def test_form_warns_of_a_missing_permission(
    staff_console: StaffConsole, shop: Ports, grants: dict[str, str], held: set[Permission]
) -> None:
    app_id, _ = make_app(shop, "Labels")
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    data = {"app": str(app_id), "name": "Paid", "target_url": TARGET, "events": ["ORDER_PAID"]}
    warned = console.send("/console/webhooks/new", data)
    assert warned.status == 422
    assert "Labels doesn't receive “Order paid”." in warned.text
    assert "Grant Manage orders and save" in warned.text
    assert show_webhook(shop, OPERATOR, 1) is None
    done = console.send("/console/webhooks/new", {**data, "warned": "yes", **grants})
    assert done.leads_to == "/console/webhooks/1"
    assert permissions_of(shop, app_id) == held


def test_edited_webhook_warns_of_a_missing_permission(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    path = "/console/webhooks/1/edit"
    paid = QUERY.replace("ProductUpdated { product { name } }", "OrderPaid { order { number } }")
    data = {"target_url": TARGET, "query": paid}
    assert "Labels doesn't receive “Order paid”." in console.send(path, data).text
    console.send(path, {**data, "warned": "yes", "grants": "y"})
    assert permissions_of(shop, app_id) == {Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS}


def test_form_chooses_the_first_active_app(staff_console: StaffConsole, shop: Ports) -> None:
    off, _ = make_app(shop, "Off")
    on, _ = make_app(shop, "On")
    change_app(shop, off, is_active=False)
    console = staff_console(*MAY)
    page = console.open("/console/webhooks/new")
    assert "Off (inactive)" in page.text
    assert re.findall(r'<option value="(\d+)" selected>', page.html) == [str(on)]
    asked = console.open(f"/console/webhooks/new?app={off}")
    assert re.findall(r'<option value="(\d+)" selected>', asked.html) == [str(off)]


def test_form_that_is_sent_twice_creates_one_webhook(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    console = staff_console(*MAY)
    form = console.open("/console/webhooks/new").html
    key = re.search(r'name="submission"[^>]*value="([^"]+)"', form)
    assert key is not None
    data = {
        "app": str(app_id),
        "target_url": TARGET,
        "events": ["PRODUCT_UPDATED"],
        "submission": key[1],
    }
    first = console.send("/console/webhooks/new", data)
    again = console.follow(console.send("/console/webhooks/new", data))
    assert first.leads_to == again.leads_to == "/console/webhooks/1"
    assert show_webhook(shop, OPERATOR, 2) is None


def test_invalid_filters_of_webhooks_are_reported(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_webhook(shop, make_app(shop, "Labels")[0])
    told = staff_console(*MAY).open("/console/webhooks/?app=x&event=NONE&state=odd&q=hook")
    for name, value in (("App", "x"), ("Event", "NONE"), ("State", "odd")):
        assert f"{name}: “{value}” isn't valid." in told.text
    assert active_filters(told.html) == []
    assert 'value="hook"' in told.html


def test_page_charts_deliveries_by_day_or_hour(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_product(shop)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    console = staff_console(*MAY)
    assert "No events were sent in the last 14 days." in console.open("/console/webhooks/1").text
    make_many_deliveries(shop, hook, 2, attempts=1, response_status=200)
    with statements() as seen:
        page = console.open("/console/webhooks/1")
    assert len(seen) <= 7
    assert "Health by day 24 hours 14 days" in page.text
    assert "Deliveries by day: 2 delivered." in page.html
    assert ">1 Mar: 2 delivered</span>" in page.html
    hourly = console.open("/console/webhooks/1?chart=24h")
    assert "Deliveries by hour: 2 delivered." in hourly.html
    assert "Health by day" in console.open("/console/webhooks/1?chart=never").text


def test_payload_of_the_form_is_shown_as_its_app_reads_it(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_product(shop, "Kettle")
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    preview, form = "/console/webhooks/preview", "/console/webhooks/new"
    entered = {"app": str(app_id), "events": ["PRODUCT_CREATED", "PRODUCT_UPDATED", "ORDER_PAID"]}
    shown = console.send(preview, {**entered, "shown": "PRODUCT_UPDATED"}, seen_at=form)
    assert "Kettle" in shown.text
    assert '<option value="PRODUCT_UPDATED" selected>' in shown.html
    lacking = console.send(preview, {**entered, "shown": "ORDER_PAID"}, seen_at=form)
    assert "Kettle" not in lacking.text
    assert "The app Labels needs MANAGE_ORDERS to receive this event." in lacking.text
    query = "subscription { event { ... on ProductDeleted { product { slug } } } }"
    assert "slug" in console.send(preview, {**entered, "query": query}, seen_at=form).text
    wrong = console.send(preview, {**entered, "query": "subscription { x }"}, seen_at=form)
    assert "x" in wrong.text
    assert "No event selected" in console.send(preview, {"app": str(app_id)}, seen_at=form).text
    without = staff_console(Permission.MANAGE_ORDERS, email="other@example.com")
    assert without.send(preview, entered, seen_at="/console/").status == 403


def test_webhook_without_an_app_leads_to_making_one(
    admin: ConsoleClient, staff_console: StaffConsole, shop: Ports
) -> None:
    new = "/console/webhooks/new"
    page = admin.open(new)
    assert "Create an app first" in page.text
    assert 'href="/console/apps/connect"' in page.html
    assert 'href="/console/apps/install/"' in page.html
    assert "Endpoint URL" not in page.text
    make_app(shop, "Labels", Permission.MANAGE_ORDERS)
    # An app beyond one's reach is none to make webhooks for.
    assert "they have permissions you don" in staff_console(Permission.MANAGE_APPS).open(new).text
    assert "Endpoint URL" in admin.open(new).text
