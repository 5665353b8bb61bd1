"""The event catalogue: every event, who subscribes to it, and a sample of its payload."""

import pytest

from app import models
from app.console.integrations.events import make_events_page
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, EventType
from app.domain.values.pages import Page
from app.ports import Ports
from app.services.webhooks.lists import Subscriber
from tests.builders.apps import change_app, make_app
from tests.builders.orders import make_order
from tests.builders.people import make_user
from tests.builders.webhooks import make_webhook
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements

PAGE = "/console/events/"
APPS, ORDERS, USERS = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS, Permission.MANAGE_USERS


@pytest.fixture
def console(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console(ORDERS)


def test_every_event_is_listed_with_its_description(staff_console: StaffConsole) -> None:
    page = staff_console(ORDERS).open(PAGE)
    assert page.status == 200
    for event, kind in EVENTS.items():
        assert f"event={event.value}" in page.html
        assert event.label in page.text
        assert kind.description in page.text
    assert f"{len(EVENTS)} of {len(EVENTS)} events" in page.text


@cases("name", ["", "ANY_EVENTS", "NONSENSE", "order_paid"])
def test_unknown_event_shows_the_first(console: ConsoleClient, name: str) -> None:
    page = console.open(f"{PAGE}?event={name}")
    assert page.status == 200
    assert next(iter(EVENTS)).value in page.text


def test_search_matches_names_and_descriptions(staff_console: StaffConsole) -> None:
    console = staff_console(ORDERS)
    assert f"1 of {len(EVENTS)} events" in console.open(f"{PAGE}?q=ORDER_PAID").text
    by_label = console.open(f"{PAGE}?q=order%20paid").html
    assert "event=ORDER_PAID" in by_label
    assert "event=PRODUCT_CREATED" not in by_label
    nothing = console.open(f"{PAGE}?q=%3Cb%3E").html
    assert "No event matches “&lt;b&gt;”" in nothing


def test_sample_is_the_payload_of_the_newest_object(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(ORDERS)
    assert "Copy payload" not in console.open(f"{PAGE}?event=ORDER_PAID").text
    make_order(shop)
    page = console.open(f"{PAGE}?event=ORDER_PAID")
    assert "Copy payload" in page.text
    assert '"order"' in page.text


def test_sample_needs_the_permission_of_the_event(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_order(shop)
    page = staff_console(Permission.MANAGE_PRODUCTS).open(f"{PAGE}?event=ORDER_PAID")
    assert page.status == 200
    assert "Copy payload" not in page.text
    assert "MANAGE_ORDERS" in page.text


def test_subscribers_are_shown_to_those_who_manage_apps(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app, _ = make_app(shop, "Parcel Post", ORDERS)
    key = make_webhook(shop, app, EventType.ORDER_PAID)
    console = staff_console(APPS, ORDERS)
    page = console.open(f"{PAGE}?event=ORDER_PAID")
    assert "1 webhook subscribes" in page.text
    assert f'href="/console/webhooks/{key}">hook</a>' in page.html
    assert "No webhook subscribes" in console.open(f"{PAGE}?event=ORDER_CREATED").text


def test_subscribers_are_hidden_from_others(staff_console: StaffConsole, shop: Ports) -> None:
    app, _ = make_app(shop, "Parcel Post", ORDERS)
    make_webhook(shop, app, EventType.ORDER_PAID)
    page = staff_console(ORDERS).open(f"{PAGE}?event=ORDER_PAID")
    assert "subscribes" not in page.text
    assert "(Parcel Post)" not in page.text


@cases(
    ("count", "has_next", "sentence"),
    [
        (0, False, "No webhook subscribes"),
        (1, False, "1 webhook subscribes"),
        (2, False, "2 webhooks subscribe"),
        (2, True, "More than 2 webhooks subscribe"),
    ],
)
def test_subscribers_are_counted(count: int, has_next: bool, sentence: str) -> None:
    subscribers = tuple(
        Subscriber(key, "Parcels", "", "Parcel Post", is_active=True, is_app_active=True)
        for key in range(count)
    )
    listed = Page(subscribers, (), has_next, has_previous=False, count=lambda: count)
    page = make_events_page(EventType.ORDER_PAID, "", listed)
    assert page.shown.subscribers == sentence


def test_page_takes_six_statements(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels", USERS)
    make_webhook(shop, app_id, EventType.CUSTOMER_CREATED)
    make_user(shop)
    console = staff_console(APPS, USERS)
    with recorded_statements() as seen:
        page = console.open(f"{PAGE}?event=CUSTOMER_CREATED")
    assert "1 webhook subscribes" in page.text
    assert "Copy payload" in page.text
    assert sum(statement.startswith(("SELECT", "WITH")) for statement in seen) <= 6


def test_groups_without_a_match_are_left_out() -> None:
    page = make_events_page(EventType.ORDER_PAID, "  Order P ", None)
    [group] = page.groups
    assert group.noun == "Orders"
    assert [event.name for event in group.entries] == [EventType.ORDER_PAID]
    assert group.entries[0].is_chosen
    assert page.shown.subscribers == ""


def test_sample_is_sent_to_a_webhook_that_subscribes(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", ORDERS)
    off, _ = make_app(shop, "Off", ORDERS)
    change_app(shop, off, is_active=False)
    make_webhook(shop, off, EventType.ORDER_PAID)
    hook = make_webhook(shop, app_id, EventType.ORDER_CREATED, EventType.ORDER_PAID)
    order = make_order(shop)
    console = staff_console(APPS, ORDERS)
    seen = f"{PAGE}?event=ORDER_PAID"
    page = console.open(seen)
    assert "hook (Labels)" in page.text
    assert '<option value="1">' not in page.html
    data = {"event": "ORDER_PAID", "webhook": str(hook), "object": f"#{order.number}"}
    sent = console.send(f"{PAGE}send", data, seen_at=seen)
    assert "Sending sample event." in console.follow(sent).text
    with shop.database.transaction() as session:
        stored = session.query(models.Delivery).one()
        assert (stored.webhook_id, stored.event) == (hook, "ORDER_PAID")


def test_refused_sample_shows_the_form_again(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels", ORDERS)
    hook = make_webhook(shop, app_id, EventType.ORDER_PAID)
    console = staff_console(APPS, ORDERS)
    seen = f"{PAGE}?event=ORDER_PAID"
    data = {"event": "ORDER_PAID", "webhook": str(hook), "object": "#4711"}
    page = console.send(f"{PAGE}send", data, seen_at=seen)
    assert page.status == 422
    assert "Nothing that this event is about matches “#4711”." in page.text
    assert 'value="#4711"' in page.html
    gone = console.send(f"{PAGE}send", data | {"webhook": "99", "object": ""}, seen_at=seen)
    assert "There is no such webhook." in gone.text


def test_page_says_what_a_sample_requires(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(APPS, ORDERS)
    page = console.open(f"{PAGE}?event=ORDER_PAID")
    assert "To send a sample, create a webhook that subscribes to this event." in page.text
    app_id, _ = make_app(shop, "Labels", ORDERS)
    change_app(shop, app_id, is_active=False)
    make_webhook(shop, app_id, EventType.ORDER_PAID)
    page = console.open(f"{PAGE}?event=ORDER_PAID")
    assert "To send a sample, enable a webhook that subscribes to this event" in page.text
