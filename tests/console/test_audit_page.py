"""The audit log's view models, made of entries without HTTP."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.console.security.audit import (
    AUDIT_LOG,
    Difference,
    listed_differences,
    make_entry_page,
    subject_label,
)
from app.domain.audit import AuditEntry
from tests.console.list_cells import cell_text
from tests.fixtures.cases import cases

ENTRY = AuditEntry(
    id=7,
    at=datetime(2026, 3, 1, 12, tzinfo=UTC),
    actor_kind="user",
    actor_user_id=1,
    actor_app_id=None,
    actor_name="Ines Duarte",
    address="203.0.113.7",
    action="app.update",
    subject_type="App",
    subject_id="3",
    subject_name="Labels",
    before={},
    after={},
)


@cases(
    ("kind", "actor", "via"),
    [
        ("user", "Ines Duarte", ""),
        ("app", "Ines Duarte", "app"),
        ("operator", "Server administrator", "command line"),
        ("worker", "Latchkey", "automatic"),
        ("anonymous", "Anonymous visitor", "not signed in"),
    ],
)
def test_actor_is_named(kind: str, actor: str, via: str) -> None:
    entry = replace(ENTRY, actor_kind=kind)
    assert cell_text(AUDIT_LOG.columns, "Actor", entry) == f"{actor} {via}".strip()


@pytest.mark.usefixtures("translated_page")
def test_action_and_subject_are_separate() -> None:
    assert cell_text(AUDIT_LOG.columns, "Action", ENTRY) == "Edited the app Labels"


@cases(
    ("after", "listed", "more"),
    [
        ({}, [], ""),
        ({"name": "A"}, ["Name"], ""),
        ({"name": "A", "note": "B"}, ["Name", "Note"], ""),
        ({"name": "A", "note": "B", "about": "C"}, ["Name", "Note"], "+1 more"),
        ({"name": "A", "is_staff": False, "note": ""}, ["Name"], ""),
    ],
)
def test_list_shows_two_differences(
    after: Mapping[str, object], listed: list[str], more: str
) -> None:
    differences, others = listed_differences(replace(ENTRY, after=after))
    assert [one.field for one in differences] == listed
    assert others == more


def test_entry_shows_every_difference() -> None:
    page = make_entry_page(
        replace(ENTRY, before={"is_active": True}, after={"is_active": False, "note": ""})
    )
    assert page.differences == (
        Difference("Active", "Yes", "No"),
        Difference("Note", "\N{EN DASH}", "\N{EN DASH}"),
    )


@cases(
    ("action", "name", "heading"),
    [
        ("app.update", "Labels", "Ines Duarte edited the app Labels"),
        ("order.cancel", "1988", "Ines Duarte canceled the order #1988"),
        ("keys.rotate", "", "Ines Duarte rotated the signing key"),
        ("session.end", "tom@example.com", "Ines Duarte ended a session of tom@example.com"),
        ("session.end", "", "Ines Duarte ended a session"),
        ("webhook.replay", "", "Ines Duarte replayed deliveries"),
        ("delivery.retry", "", "Ines Duarte resent deliveries"),
        ("webhook.update", "", "Ines Duarte edited the webhook"),
        ("order.cancel", "", "Ines Duarte canceled the order"),
        ("thing.not_known", "", "Ines Duarte thing not known"),
    ],
)
def test_heading_is_a_whole_sentence(action: str, name: str, heading: str) -> None:
    assert make_entry_page(replace(ENTRY, action=action, subject_name=name)).heading == heading


def test_changed_switches_are_named_together() -> None:
    after = {"password_login_mode": "DISABLED", "allow_storefront_traffic": False}
    page = make_entry_page(replace(ENTRY, action="shop.update", after=after))
    assert page.heading == "Ines Duarte turned off password login and closed the storefront"


def test_subject_is_named_with_its_id() -> None:
    page = make_entry_page(replace(ENTRY, subject_type="AppToken", subject_id="17"))
    assert (page.subject_kind, page.subject_name) == ("App token", "Labels")
    assert page.subject_filter == "AppToken:17"


@cases(("name", "label"), [("Labels", "App token Labels"), ("", "App token 17")])
def test_filtered_subject_is_named(name: str, label: str) -> None:
    entry = replace(ENTRY, subject_type="AppToken", subject_id="17", subject_name=name)
    assert subject_label([entry], "AppToken:17") == label


def test_subject_without_entries_is_shown_as_asked_for() -> None:
    assert subject_label([], "AppToken:17") == "AppToken:17"


@cases(
    ("value", "words"),
    [
        ("UNCONFIRMED", "Unconfirmed"),
        ("CUSTOMERS_ONLY", "Customers only"),
        ("next", "Next"),
        (["MANAGE_ORDERS", "MANAGE_NONSENSE"], "Manage orders, MANAGE_NONSENSE"),
        (3, "3"),
        ("ORDER", "ORDER"),
    ],
)
def test_values_are_shown_in_words(value: object, words: str) -> None:
    (difference,) = make_entry_page(replace(ENTRY, after={"status": value})).differences
    assert difference.after == words
