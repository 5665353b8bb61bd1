"""What lists and their entries say in another language than English."""

from datetime import UTC, datetime, timedelta

import pytest

from app.console.frame.charts import span_label
from app.console.frame.formatting import milliseconds, percent, setting_text
from app.console.security.audit import AUDIT_LOG, make_entry_page
from app.domain.audit import AuditEntry
from app.domain.values.pages import MAX_COUNTED, Counts
from app.web.translation import text, use_language
from tests.console.list_cells import cell_text
from tests.fixtures.cases import cases

pytestmark = pytest.mark.usefixtures("translated_page")

ENTRY = AuditEntry(
    id=7,
    at=datetime(2026, 3, 1, 12, tzinfo=UTC),
    actor_kind="operator",
    actor_user_id=None,
    actor_app_id=None,
    actor_name="operator",
    address="",
    action="app.update",
    subject_type="App",
    subject_id="3",
    subject_name="Labels",
    before={"is_active": True, "permissions": []},
    after={"is_active": False, "permissions": ["MANAGE_ORDERS"]},
)


@cases(
    ("language", "total", "summary"),
    [
        ("en", 1, "1 entry"),
        ("en", 2000, "2,000 entries"),
        ("de", 2000, "2.000 Einträge"),
        ("de", MAX_COUNTED + 1, "Mehr als 10.000 Einträge"),
        ("pl", 1, "1 wpis"),
        ("pl", 3, "3 wpisy"),
        ("pl", 5, "5 wpisów"),
    ],
)
def test_number_of_rows_has_the_plural_of_the_language(
    language: str, total: int, summary: str
) -> None:
    use_language(language)
    assert AUDIT_LOG.count.sentence(Counts(total, total)) == summary


def test_count_in_a_sentence_is_grouped() -> None:
    use_language("de")
    words = text("{count:,} blocked IP", "{count:,} blocked IPs", count=1500)
    assert words == "1.500 gesperrte IPs"


@cases(
    ("language", "action", "heading"),
    [
        ("en", "Edited the app Labels", "Server administrator edited the app Labels"),
        (
            "de",
            "App bearbeitet \N{EN DASH} Labels",
            "Server-Administration: App bearbeitet \N{EN DASH} Labels",
        ),
        (
            "es",
            "Aplicación editada \N{EN DASH} Labels",
            "Administrador del servidor: aplicación editada \N{EN DASH} Labels",
        ),
    ],
)
def test_audit_entry_is_translated(language: str, action: str, heading: str) -> None:
    use_language(language)
    assert cell_text(AUDIT_LOG.columns, "Action", ENTRY) == action
    assert make_entry_page(ENTRY).heading == heading


def test_changed_fields_are_translated() -> None:
    use_language("de")
    fields = make_entry_page(ENTRY).differences
    assert [(one.field, one.before, one.after) for one in fields] == [
        ("Aktiv", "Ja", "Nein"),
        ("Berechtigungen", "\N{EN DASH}", "Bestellungen verwalten"),
    ]


def test_unknown_setting_is_shown_as_it_is() -> None:
    use_language("de")
    assert setting_text("blue") == "blue"


@cases(
    ("language", "share", "duration", "hour", "day"),
    [
        ("en", "77.8", "1.9", "Sun 12:00", "1 Mar"),
        ("de", "77,8", "1,9", "So. 12:00", "1. März"),
        ("fr", "77,8", "1,9", "dim. 12:00", "1 mars"),
    ],
)
def test_numbers_and_dates_are_of_the_language(
    language: str, share: str, duration: str, hour: str, day: str
) -> None:
    use_language(language)
    assert percent(0.7777, 1) == f"{share}\N{NO-BREAK SPACE}%"
    assert milliseconds(1900) == f"{duration}\N{NO-BREAK SPACE}s"
    assert span_label(ENTRY.at, timedelta(hours=1)) == hour
    assert span_label(ENTRY.at, timedelta(days=1)) == day
