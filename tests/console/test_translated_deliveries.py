"""What deliveries, events and Home say in another language than English."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.console.integrations.deliveries import DELIVERIES
from app.console.integrations.deliveries_page import delivery_row
from app.console.integrations.events import make_events_page
from app.console.overview.home import make_home_page
from app.console.security.audit import make_entry_page
from app.domain.deliveries.deliveries import NOT_STORED, DeliveryStatus
from app.domain.events import EVENTS, EventType
from app.domain.values.pages import Counts
from app.services.deliveries.details import ObjectName
from app.services.deliveries.lists import DeliveryLine
from app.web.translation import use_language
from tests.console.test_audit_page import ENTRY
from tests.console.test_deliveries_page import FAILED, NOW, WAITING
from tests.console.test_delivery_page import ATTEMPT, page_of
from tests.console.test_home_page import CALM, WEBHOOK
from tests.fixtures.cases import cases

pytestmark = pytest.mark.usefixtures("translated_page")

UNANSWERED = replace(
    FAILED,
    response_status=None,
    last_response="labels.example.com doesn't have a trusted certificate.",
)


@cases(
    ("language", "total", "summary"),
    [
        ("de", 1, "1 Zustellung"),
        ("de", 2000, "2.000 Zustellungen"),
        ("pl", 2, "2 dostawy"),
        ("pl", 5, "5 dostaw"),
        ("fr", 0, "Aucune livraison"),
    ],
)
def test_number_of_deliveries_is_in_the_language(language: str, total: int, summary: str) -> None:
    use_language(language)
    assert DELIVERIES.count.sentence(Counts(total, total)) == summary


@cases(
    ("line", "status", "result"),
    [
        (WAITING, "Wartet", "\N{EN DASH}"),
        (
            UNANSWERED,
            "Fehlgeschlagen",
            "labels.example.com hat kein vertrauenswürdiges Zertifikat.",
        ),
        (
            replace(UNANSWERED, last_response="", given_up="The app no longer has MANAGE_USERS."),
            "Fehlgeschlagen",
            "Die App hat MANAGE_USERS nicht mehr.",
        ),
        (replace(UNANSWERED, last_response="Zu."), "Fehlgeschlagen", "Zu."),
        (
            replace(FAILED, response_status=200, status=DeliveryStatus.SUCCESS),
            "Zugestellt",
            "200 OK",
        ),
    ],
)
def test_row_says_its_state_and_why_it_failed(
    line: DeliveryLine, status: str, result: str
) -> None:
    use_language("de")
    row = delivery_row(line, {})
    assert (row.status, row.result) == (status, result)


def test_row_is_named_by_event_and_object() -> None:
    use_language("de")
    line = replace(WAITING, event=EventType.ORDER_PAID, object_id="T3JkZXI6NDE=")
    row = delivery_row(line, {"T3JkZXI6NDE=": ObjectName("41", is_deleted=False)})
    assert (row.title, row.event) == ("Bestellung Nr. 41", "Bestellung bezahlt")


def test_exported_cause_stays_english() -> None:
    use_language("de")
    assert DELIVERIES.file_columns["cause"](UNANSWERED) == UNANSWERED.last_response


def test_delivery_page_says_what_follows() -> None:
    use_language("de")
    banner = page_of(UNANSWERED).banner
    assert banner is not None
    assert banner.cause == "labels.example.com hat kein vertrauenswürdiges Zertifikat."
    assert banner.detail == "Nach 6 Versuchen nicht zugestellt."
    response = page_of(FAILED, replace(ATTEMPT, response=NOT_STORED)).response
    assert response is not None
    assert response.body.startswith("(nicht gespeichert: ")
    long = page_of(FAILED, replace(ATTEMPT, response="x" * 1536)).response
    assert long is not None
    assert long.size == "1,5 kB"


def test_events_are_found_in_the_language() -> None:
    use_language("de")
    events = make_events_page(EventType.ORDER_PAID, "bestellung storniert", None)
    assert events.summary == f"1 von {len(EVENTS)} Ereignissen"
    assert events.groups[0].noun == "Bestellungen"
    assert events.shown.label == "Bestellung bezahlt"


def test_home_says_why_a_webhook_is_disabled() -> None:
    use_language("de")
    reason = "The endpoint failed for 5 days without a successful delivery."
    home = make_home_page(replace(CALM, webhooks=(replace(WEBHOOK, disabled_reason=reason),)))
    (item,) = home.attention
    assert item.title == "Der Webhook „&lt;Stock&gt;“ (Labels) ist deaktiviert."
    assert item.detail.startswith("Der Endpunkt war 5 Tage lang")
    assert home.summary == "1 Punkt braucht Ihre Aufmerksamkeit."


def test_home_names_a_moment_in_the_language() -> None:
    use_language("de")
    failing = replace(WEBHOOK, failing_since=NOW - timedelta(hours=2))
    (item,) = make_home_page(replace(CALM, webhooks=(failing,))).attention
    assert "heute um 10:00 UTC" in item.detail


def test_audit_log_says_the_stored_reason() -> None:
    use_language("de")
    after = {"reason": "The endpoint returned 410 Gone.", "name": "The app"}
    shown = make_entry_page(replace(ENTRY, after=after)).differences
    assert [(one.field, one.after) for one in shown] == [
        ("Grund", "Der Endpunkt antwortete mit 410 Gone."),
        ("Name", "The app"),
    ]
