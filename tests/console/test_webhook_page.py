"""What the pages of webhooks say, made of webhooks without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.console.frame.parts import Pill
from app.console.integrations.webhook_page import (
    WebhookDialog,
    WebhookPage,
    events_cell,
    make_webhook_page,
    traffic_cell,
    webhook_buttons,
    webhook_health,
    webhook_title,
)
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, EventType
from app.services.deliveries.details import ObjectName
from app.services.webhooks.lists import Health, ListedWebhook
from tests.console.list_cells import plain
from tests.console.test_deliveries_page import FAILED
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOOK = ListedWebhook(
    id=2,
    app_id=1,
    app_name="Labels",
    name="Stock",
    identifier="",
    target_url="https://labels.example.com/hooks",
    is_active=True,
    is_app_active=True,
    has_query=False,
    has_secret=False,
    created_at=NOW - timedelta(days=30),
    failing_since=None,
    last_failure_at=None,
    last_failure="",
    disabled_at=None,
    disabled_reason="",
    app_permissions=frozenset({Permission.MANAGE_ORDERS}),
    events=(EventType.ORDER_PAID,),
    health=Health(delivered=3),
)
EVERY = frozenset(Permission)
FAILING = replace(HOOK, failing_since=NOW - timedelta(hours=3), last_failure="503 Busy")
DISABLED = replace(
    HOOK, is_active=False, disabled_reason="Gone.", disabled_at=NOW - timedelta(hours=1)
)


def page_of(hook: ListedWebhook, dialog: str = "") -> WebhookPage:
    return make_webhook_page(hook, [], NOW, WebhookDialog(dialog), {})


def facts_of(hook: ListedWebhook) -> dict[str, str]:
    return {fact.label: fact.value for fact in page_of(hook).facts}


@cases(
    ("hook", "health"),
    [
        (HOOK, Pill("ok", "Healthy")),
        (replace(HOOK, health=Health()), Pill("", "No recent events")),
        (FAILING, Pill("bad", "Failing")),
        (replace(FAILING, is_app_active=False), Pill("off", "App inactive")),
        (replace(FAILING, is_active=False), Pill("off", "Disabled")),
        (DISABLED, Pill("bad", "Disabled")),
    ],
)
def test_health_is_one_state(hook: ListedWebhook, health: Pill) -> None:
    assert webhook_health(hook) == health
    assert page_of(hook).health == health


@cases(
    ("health", "traffic", "waiting", "day"),
    [
        (Health(), "No events", "", "No events"),
        (Health(delivered=1), "1 delivered", "", "1 delivered"),
        (Health(failed=1200), "1,200 failed", "", "1,200 failed"),
        (Health(waiting=2), "", "2 waiting", "2 waiting"),
        (
            Health(delivered=5, failed=1, waiting=2),
            "5 delivered, 1 failed",
            "2 waiting",
            "5 delivered, 1 failed, 2 waiting",
        ),
    ],
)
def test_traffic_leaves_out_zeros(health: Health, traffic: str, waiting: str, day: str) -> None:
    hook = replace(HOOK, health=health)
    assert plain(traffic_cell(hook)) == f"{traffic} {waiting}".strip()
    assert facts_of(hook)["Last 24 hours"] == day


@cases(
    ("events", "shown"),
    [
        ((), ("No events",)),
        ((EventType.ORDER_PAID,), ("Order paid",)),
        (
            (EventType.ORDER_PAID, EventType.ORDER_CREATED, EventType.ORDER_UPDATED),
            ("Order paid", "+2"),
        ),
    ],
)
def test_row_names_the_first_events(events: tuple[EventType, ...], shown: tuple[str, ...]) -> None:
    assert plain(events_cell(replace(HOOK, events=events, app_permissions=EVERY))) == " ".join(
        shown
    )


@cases(
    ("held", "missing"),
    [
        ((Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS), ""),
        ((Permission.MANAGE_ORDERS,), "Missing permission: Manage products"),
        ((), "Missing permission: Manage orders and Manage products"),
    ],
)
def test_row_names_missing_permissions(held: tuple[Permission, ...], missing: str) -> None:
    events = (EventType.ORDER_PAID, EventType.PRODUCT_UPDATED)
    hook = replace(HOOK, events=events, app_permissions=frozenset(held))
    assert plain(events_cell(hook)) == f"{missing} Order paid +1".strip()


@pytest.mark.usefixtures("translated_page")
def test_unnamed_webhook_is_known_by_its_app() -> None:
    hook = replace(HOOK, name="")
    assert plain(webhook_title(hook)) == "Unnamed webhook Labels · labels.example.com"
    assert 'aria-label="Test webhook of Labels"' in webhook_buttons(hook)
    assert 'aria-label="Edit Stock"' in webhook_buttons(HOOK)


def test_healthy_webhook_has_no_notice() -> None:
    assert page_of(HOOK).notice is None
    assert page_of(replace(HOOK, is_active=False)).notice is None


def test_failing_webhook_tells_when_it_will_be_disabled() -> None:
    notice = page_of(FAILING).notice
    assert notice is not None
    assert (notice.cause, notice.can_enable) == ("503 Busy", False)
    assert "today at 09:00 UTC" in notice.detail
    assert "disabled on <time" in notice.detail
    assert "6 Mar, 09:00" in notice.detail
    soon = page_of(replace(FAILING, failing_since=NOW - timedelta(days=4, hours=20))).notice
    assert soon is not None
    assert "disabled <time" in soon.detail
    assert "in 4 h" in soon.detail


def test_disabled_webhook_tells_why_and_can_be_enabled() -> None:
    notice = page_of(DISABLED).notice
    assert notice is not None
    assert (notice.cause, notice.can_enable) == ("Disabled after failures", True)
    assert notice.detail.startswith("Gone. The webhook was disabled <time")
    after_a_response = page_of(replace(DISABLED, last_failure="402 Payment Required")).notice
    assert after_a_response is not None
    assert after_a_response.cause == "402 Payment Required"
    without_date = page_of(replace(DISABLED, disabled_at=None)).notice
    assert without_date is not None
    assert (without_date.cause, without_date.detail) == ("Gone.", "Gone.")


def test_webhook_of_an_inactive_app_says_so() -> None:
    notice = page_of(replace(HOOK, is_app_active=False)).notice
    assert notice is not None
    assert notice.cause == "Labels is inactive."


@cases(
    ("hook", "payload"),
    [
        (replace(HOOK, has_query=True), "Events and payload are defined by"),
        (HOOK, "Each event is sent with its default payload."),
        (replace(HOOK, events=()), "Add a subscription query"),
    ],
)
def test_page_tells_what_is_sent(hook: ListedWebhook, payload: str) -> None:
    assert page_of(hook).payload.startswith(payload)


def test_facts_name_signing_and_identifier() -> None:
    assert "Identifier" not in facts_of(HOOK)
    assert facts_of(HOOK)["Signing"] == "Shop's signing key (JWS)"
    facts = facts_of(replace(HOOK, identifier="a<b", has_secret=True))
    assert facts["Identifier"] == "a<b"
    assert facts["Signing"] == "Secret (HMAC)"


def test_latest_deliveries_have_their_cause() -> None:
    (row,) = make_webhook_page(HOOK, [FAILED], NOW, WebhookDialog(), {}).latest
    assert (row.result, row.status) == ("503 Service Unavailable", "Failed")
    named = replace(FAILED, object_id="id")
    names = {"id": ObjectName("Bowl")}
    (row,) = make_webhook_page(HOOK, [named], NOW, WebhookDialog(), names).latest
    assert (row.title, row.event) == ("Bowl", "Product created")


@cases(
    ("dialog", "title", "unnamed", "action"),
    [
        ("test", "Send a sample event to “Stock”?", "Send a sample event?", "Send sample event"),
        ("disable", "Disable “Stock”?", "Disable webhook?", "Disable webhook"),
        ("delete", "Delete “Stock”?", "Delete webhook?", "Delete webhook"),
    ],
)
def test_question_repeats_the_act(dialog: str, title: str, unnamed: str, action: str) -> None:
    page = page_of(HOOK, dialog)
    assert page.question is not None
    assert (page.question.title, page.question.action) == (title, action)
    without_name = page_of(replace(HOOK, name=""), dialog).question
    assert without_name is not None
    assert without_name.title == unnamed


def test_nothing_is_asked_without_a_question() -> None:
    assert page_of(HOOK).question is None


@cases(
    ("health", "sentence"),
    [
        (Health(), None),
        (Health(waiting=1), "It was sent 1 event in the last 24 hours."),
        (Health(delivered=999, failed=1), "It was sent 1,000 events in the last 24 hours."),
    ],
)
def test_disabling_counts_events_unless_there_are_none(
    health: Health, sentence: str | None
) -> None:
    question = page_of(replace(HOOK, health=health), "disable").question
    assert question is not None
    told = [one.sentence for one in question.consequences]
    assert told[1:-2] == ([] if sentence is None else [sentence])


@cases(
    ("waiting", "hint"),
    [(0, "Deletes its deliveries too."), (3, "Deletes its deliveries too, 3 of them waiting.")],
)
def test_deleting_counts_waiting_deliveries(waiting: int, hint: str) -> None:
    assert page_of(replace(HOOK, health=Health(waiting=waiting))).delete_hint == hint


def test_sample_event_is_one_of_those_subscribed() -> None:
    dialog = WebhookDialog("test", EventType.ORDER_CREATED.value)
    hook = replace(HOOK, events=(EventType.ORDER_PAID, EventType.ORDER_CREATED))
    samples = make_webhook_page(hook, [], NOW, dialog, {}).samples
    assert [(one.label, one.is_chosen) for one in samples] == [
        ("Order paid", False),
        ("Order created", True),
    ]


def test_sample_of_a_webhook_for_all_events_can_be_any() -> None:
    hook = replace(HOOK, events=(EventType.ANY_EVENTS,))
    samples = make_webhook_page(hook, [], NOW, WebhookDialog("test"), {}).samples
    assert [one.value for one in samples] == [event.value for event in EVENTS]
