"""What the list of deliveries says, made of deliveries without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.console.integrations.deliveries_page import DeliveryRow, make_deliveries_page
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EventType
from app.services.deliveries.search import DeliveryLine
from app.services.webhooks.names import WebhookName

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WAITING = DeliveryLine(
    id=7,
    webhook_id=2,
    webhook_name="",
    target_url="https://labels.example.com/",
    app_id=1,
    app_name="Labels",
    event=EventType.PRODUCT_CREATED,
    status=DeliveryStatus.PENDING,
    created_at=NOW,
    attempts=0,
    response_status=None,
    next_attempt_at=NOW + timedelta(minutes=1),
    given_up="",
    message_id="msg_1",
    object_id="",
)
FAILED = replace(
    WAITING, status=DeliveryStatus.FAILED, attempts=6, response_status=503, next_attempt_at=None
)


def row_of(line: DeliveryLine) -> DeliveryRow:
    (row,) = make_deliveries_page([line], []).rows
    return row


@pytest.mark.parametrize(
    ("line", "state", "status", "code", "attempts"),
    [
        (WAITING, "info", "Waiting", "\N{EN DASH}", "0"),
        (replace(WAITING, attempts=2), "warn", "Failed, retries", "none", "2 of 10"),
        (replace(WAITING, attempts=1, response_status=503), "warn", "Failed", "503", "1 of 10"),
        (FAILED, "bad", "Gave up", "503", "6"),
    ],
)
def test_row_tells_how_the_attempts_went(
    line: DeliveryLine, state: str, status: str, code: str, attempts: str
) -> None:
    row = row_of(line)
    assert (row.state, row.code, row.attempts) == (state, code, attempts)
    assert row.status.startswith(status)


def test_next_attempt_is_shown_after_the_first() -> None:
    assert row_of(WAITING).next_attempt_at is None
    assert row_of(replace(WAITING, attempts=1)).next_attempt_at == WAITING.next_attempt_at


def test_unnamed_webhook_is_known_by_its_app() -> None:
    row = row_of(WAITING)
    assert (row.webhook, row.app) == ("Without a name", "Labels")
    assert row.checkbox_label == "Choose PRODUCT_CREATED to Labels, 1 Mar 2026, 12:00:00 UTC"
    named = row_of(replace(WAITING, webhook_name="Stock"))
    assert named.webhook == "Stock"
    assert named.checkbox_label.startswith("Choose PRODUCT_CREATED to Stock, ")


@pytest.mark.parametrize(
    ("deliveries", "summary"),
    [(0, "No deliveries here"), (1, "1 delivery here"), (2, "2 deliveries here")],
)
def test_summary_counts_deliveries(deliveries: int, summary: str) -> None:
    assert make_deliveries_page([WAITING] * deliveries, []).summary == summary


def test_caption_tells_the_order() -> None:
    assert make_deliveries_page([], []).caption == "Deliveries, newest first"
    oldest = make_deliveries_page([], [], oldest_first=True)
    assert oldest.caption == "Deliveries, oldest first"


def test_webhooks_to_choose_from_are_called_by_name_and_app() -> None:
    webhooks = [WebhookName(2, "Stock", 1, "Labels"), WebhookName(1, "", 1, "Labels")]
    assert make_deliveries_page([], webhooks).webhooks == {
        "2": "Stock (Labels)",
        "1": "Without a name (Labels)",
    }


@pytest.mark.parametrize(
    ("asked", "what"), [("replay-missing", "missing"), ("replay-failed", "failed")]
)
def test_replay_is_asked_about(asked: str, what: str) -> None:
    replay = make_deliveries_page([], [], asked).replay
    assert replay is not None
    assert (replay.what, replay.action) == (what, replay.title.rstrip("?"))
    assert make_deliveries_page([], [], "other").replay is None
