"""What the list of deliveries says, made of deliveries without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.console.integrations.deliveries_page import (
    DeliveryRow,
    delivery_row,
    latest_words,
    make_selection,
    replay_of,
    replay_question,
    replay_result,
    resend_problem,
    resend_question,
    resend_result,
    webhook_names,
)
from app.domain.deliveries.deliveries import DeliveryStatus, ReplayResult
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Counts
from app.services.deliveries.details import ObjectName
from app.services.deliveries.lists import DeliveryLine
from app.services.deliveries.replays import ResendImpact, Resent
from app.services.webhooks.lists import WebhookName
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WAITING = DeliveryLine(
    id=7,
    webhook_id=2,
    webhook_name="",
    target_url="https://labels.example.com/",
    is_webhook_active=True,
    app_id=1,
    app_name="Labels",
    is_app_active=True,
    event=EventType.PRODUCT_CREATED,
    status=DeliveryStatus.PENDING,
    created_at=NOW,
    attempts=0,
    response_status=None,
    last_response="",
    next_attempt_at=NOW + timedelta(minutes=1),
    given_up="",
    message_id="msg_1",
    object_id="",
)
NONE = "\N{EN DASH}"
FAILED = replace(
    WAITING, status=DeliveryStatus.FAILED, attempts=6, response_status=503, next_attempt_at=None
)


def row_of(line: DeliveryLine) -> DeliveryRow:
    return delivery_row(line, {})


@cases(
    ("line", "state", "status", "attempts"),
    [
        (WAITING, "info", "Waiting", NONE),
        (replace(WAITING, attempts=2, response_status=503), "warn", "Retrying", "2 of 10"),
        (replace(WAITING, response_status=503), "info", "Resending", NONE),
        (replace(WAITING, last_response="Unreachable."), "info", "Resending", NONE),
        (FAILED, "bad", "Failed", "6 of 10"),
        (replace(FAILED, status=DeliveryStatus.SUCCESS), "ok", "Delivered", "6"),
    ],
)
def test_row_has_one_state(line: DeliveryLine, state: str, status: str, attempts: str) -> None:
    row = row_of(line)
    assert (row.state, row.status, row.attempts) == (state, status, attempts)


@cases(
    ("line", "result", "detail"),
    [
        (WAITING, NONE, ""),
        (FAILED, "503 Service Unavailable", ""),
        (
            replace(FAILED, response_status=402, last_response='{"error": "Your plan has ended"}'),
            "402 Payment Required",
            "Your plan has ended",
        ),
        (replace(FAILED, given_up="Disabled."), "503 Service Unavailable", "Disabled."),
        (replace(WAITING, attempts=1, last_response="Unreachable."), "Unreachable.", ""),
        (replace(FAILED, response_status=None, given_up="Not allowed."), "Not allowed.", ""),
        (
            replace(
                FAILED, status=DeliveryStatus.SUCCESS, response_status=200, last_response="ok"
            ),
            "200 OK",
            "",
        ),
    ],
)
def test_row_has_the_cause(line: DeliveryLine, result: str, detail: str) -> None:
    row = row_of(line)
    assert (row.result, row.detail) == (result, detail)


def test_next_attempt_is_shown_after_the_first() -> None:
    assert row_of(WAITING).next_attempt_at is None
    assert row_of(replace(WAITING, attempts=1)).next_attempt_at == WAITING.next_attempt_at


def test_unnamed_webhook_is_known_by_its_app() -> None:
    row = row_of(WAITING)
    assert row.webhook == "Unnamed webhook"
    assert row.checkbox_label == "Select Product created to Labels, 1 Mar 2026, 12:00:00 UTC"
    named = row_of(replace(WAITING, webhook_name="Stock"))
    assert named.webhook == "Stock"
    assert named.checkbox_label.startswith("Select Product created to Stock, ")


def test_webhooks_to_choose_from_are_called_by_name_and_app() -> None:
    webhooks = [WebhookName(2, "Stock", 1, "Labels"), WebhookName(1, "", 1, "Labels")]
    assert webhook_names(webhooks) == {"2": "Stock (Labels)", "1": "Unnamed webhook (Labels)"}


def test_replay_says_how_much_it_sends_before_it_does() -> None:
    found = ReplayResult(failed=3, missing=1, earlier=2)
    for name, what, title in (
        ("replay-missing", "missing", "Send 1 missed event?"),
        ("replay-failed", "failed", "Resend 3 failed deliveries?"),
    ):
        replay = replay_of(name, "7", "24")
        assert replay is not None
        question = replay_question(replay, found, "Stock (Labels)")
        assert question is not None
        assert (question.title, question.detail) == (title, "Stock (Labels) · Last 24 hours")
        assert question.hidden == (("what", what), ("webhook", "7"), ("since", "24"))
        assert replay_question(replay, ReplayResult(0, 0), "Stock (Labels)") is None
    assert replay_of("other", "7", "24") is None


@cases(
    ("count", "missed", "failed"),
    [
        (0, "No missed events.", "No failed deliveries."),
        (1, "Sending 1 missed event.", "Resending 1 failed delivery."),
        (2000, "Sending 2,000 missed events.", "Resending 2,000 failed deliveries."),
    ],
)
def test_replay_counts_what_is_sent(count: int, missed: str, failed: str) -> None:
    assert replay_result(ReplayResult(failed=9, missing=count), missing=True) == missed
    assert replay_result(ReplayResult(failed=count, missing=9), missing=False) == failed


@cases(
    ("resent", "messages"),
    [
        (Resent(1), [("ok", "Resending 1 delivery.")]),
        (
            Resent(2, disabled=1),
            [
                ("ok", "Resending 2 deliveries."),
                ("bad", "1 delivery isn't resent: its webhook is disabled or its app inactive."),
            ],
        ),
        (
            Resent(0, disabled=2),
            [
                (
                    "bad",
                    "2 deliveries aren't resent: their webhook is disabled or its app inactive.",
                )
            ],
        ),
        (Resent(0), [("bad", "The selected deliveries can't be resent: they have no payload.")]),
    ],
)
def test_resending_counts_what_is_sent(resent: Resent, messages: list[tuple[str, str]]) -> None:
    assert list(resend_result(resent)) == messages


def test_disabled_webhook_has_no_next_attempt() -> None:
    row = row_of(replace(WAITING, attempts=1, is_webhook_active=False))
    assert (row.state, row.status, row.next_attempt_at) == ("warn", "Not sending", None)


@cases(
    ("event", "names", "title", "label"),
    [
        (
            EventType.PRODUCT_CREATED,
            {"id": ObjectName("Bowl, ash glaze")},
            "Bowl, ash glaze",
            "Product created",
        ),
        (EventType.ORDER_PAID, {"id": ObjectName("1988")}, "Order #1988", "Order paid"),
        (
            EventType.PRODUCT_CREATED,
            {"id": ObjectName("Bowl", is_deleted=True)},
            "Bowl (deleted)",
            "Product created",
        ),
        (
            EventType.CHECKOUT_CREATED,
            {"id": ObjectName("mia@example.com")},
            "Cart of mia@example.com",
            "Checkout created",
        ),
        (EventType.PRODUCT_CREATED, {}, "Product created", ""),
        (EventType.ORDER_PAID, {}, "Order paid", ""),
    ],
)
def test_row_is_named_for_its_object(
    event: EventType, names: dict[str, ObjectName], title: str, label: str
) -> None:
    line = replace(WAITING, event=event, object_id="id")
    row = delivery_row(line, names)
    assert (row.title, row.event) == (title, label)


@cases(
    ("object_id", "title"),
    [
        (to_global_id("Checkout", "3f2504e0-4f89-11d3-9a0c-0305e82c3301"), "Cart 3f2504e0"),
        ("", "Deleted cart"),
    ],
)
def test_cart_without_an_email_has_a_short_number(object_id: str, title: str) -> None:
    line = replace(WAITING, event=EventType.CHECKOUT_CREATED, object_id=object_id)
    assert delivery_row(line, {}).title == title


@cases(
    ("matching", "total", "select", "selected", "resend"),
    [
        (0, 0, "", "", ""),
        (1, 1, "", "", ""),
        (
            2,
            2,
            "Select all 2 deliveries",
            "All 2 deliveries are selected.",
            "Resend 2 deliveries …",
        ),
        (
            1284,
            9000,
            "Select all 1,284 matching deliveries",
            "All 1,284 matching deliveries are selected.",
            "Resend 1,284 deliveries …",
        ),
    ],
)
def test_all_matching_deliveries_can_be_selected(
    matching: int, total: int, select: str, selected: str, resend: str
) -> None:
    offered = make_selection(Counts(matching, total), is_all=False)
    assert (offered.sentence, offered.select, offered.resend) == ("", select, resend)
    chosen = make_selection(Counts(matching, total), is_all=True)
    assert (chosen.is_all, chosen.sentence) == (bool(select), selected)


def test_not_all_can_be_selected_if_they_are_too_many_or_a_filter_is_not_valid() -> None:
    many = make_selection(Counts(10_001, 10_001), is_all=True)
    assert not many.is_all
    assert many.select == ""
    assert many.sentence == "To select all, filter to 10,000 deliveries at most."
    assert make_selection(Counts(5, 9), is_all=True, is_valid=False).select == ""


@cases(
    ("impact", "title", "consequences"),
    [
        (ResendImpact(1, 1, 0), "Resend 1 delivery?", []),
        (
            ResendImpact(1284, 1284, 1),
            "Resend 1,284 deliveries?",
            ["1 delivery was delivered before."],
        ),
        (
            ResendImpact(7, 5, 3),
            "Resend 5 deliveries?",
            [
                "3 deliveries were delivered before.",
                "2 deliveries aren't resent: their webhook is disabled or its app inactive.",
            ],
        ),
        (
            ResendImpact(6, 5, 0),
            "Resend 5 deliveries?",
            ["1 delivery isn't resent: its webhook is disabled or its app inactive."],
        ),
    ],
)
def test_question_has_the_numbers(
    impact: ResendImpact, title: str, consequences: list[str]
) -> None:
    question = resend_question(impact, {"status": "failed"})
    assert resend_problem(impact) == ""
    assert question.title == title
    assert question.action == title.removesuffix("?")
    assert question.arguments == {"status": "failed"}
    assert [str(one.sentence) for one in question.consequences[1:]] == consequences


@cases(
    ("impact", "problem"),
    [
        (ResendImpact(0, 0, 0), "No matching deliveries"),
        (
            ResendImpact(1, 0, 0),
            "1 delivery isn't resent: its webhook is disabled or its app inactive.",
        ),
        (
            ResendImpact(10_001, 10_001, 0),
            "More than 10,000 deliveries match. Add a filter, such as a webhook or dates.",
        ),
    ],
)
def test_what_cannot_be_resent_has_a_reason(impact: ResendImpact, problem: str) -> None:
    assert resend_problem(impact) == problem


def test_newest_delivery_is_said_when_the_list_changes() -> None:
    assert latest_words([]) == "No deliveries"
    newer = replace(WAITING, id=WAITING.id + 1)
    row = row_of(newer)
    latest = latest_words([row_of(FAILED), row])
    assert latest == f"Latest delivery: {row.title}, {row.status}"
