"""The audit log in words: every action, and every field that use cases record."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import app.services
from app.console.frame.formatting import use_time_zone
from app.console.security.audit import make_entry_page
from app.console.security.audit_sentences import (
    ACTIONS,
    FIELDS,
    act,
    field_value,
    sentence,
    subject_kind,
    who_did,
)
from app.domain.audit import REFERENCES, AuditEntry
from app.domain.shop.setting_table import SETTINGS as SHOP_SETTINGS
from app.domain.shop.setting_table import SettingKind
from app.domain.single_sign_on.provider_settings import SETTINGS as PROVIDER_SETTINGS
from app.domain.single_sign_on.provider_settings import SettingType
from tests.fixtures.audit_fields import RAW, TYPED, raw_words
from tests.fixtures.cases import cases

_ACTION = re.compile(r'"([a-z_]+\.[a-z_]+)"(?=[,\s])')
_TYPE = re.compile(r'Change\(\s*[^(),]+,\s*"([A-Z][A-Za-z]+)"')
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
MOMENT = "2026-03-01T12:00:00+00:00"
_OF_KINDS: Mapping[object, object] = {
    SettingKind.SWITCH: True,
    SettingKind.LOGIN_MODE: "CUSTOMERS_ONLY",
    SettingKind.SECOND_FACTOR: "REQUIRED",
    SettingKind.MAIL_SENDER: "APP",
    SettingKind.LANGUAGE: "PT_BR",
    SettingKind.MOMENT: MOMENT,
    SettingKind.DAYS: 14,
    SettingType.BOOLEAN: "true",
    SettingType.SECRET: "**** (another)",
}
RECORDED: Mapping[str, object] = {
    **{one.name: _OF_KINDS.get(one.kind, "words") for one in SHOP_SETTINGS},
    **{one.name: _OF_KINDS.get(one.type, "words") for one in PROVIDER_SETTINGS},
    "before": MOMENT,
    "blocked_until": 1795646985.8952,
    "changed": ["first_name", "billing", "street_address_1"],
    "country": "PL",
    "date_joined": MOMENT,
    "ends": MOMENT,
    "event": "PRODUCT_UPDATED",
    "events": ["ORDER_CREATED", "ANY_EVENTS"],
    "expires_at": MOMENT,
    "findings": {"EMAIL_TAKEN": 2},
    "kind": "password_reset",
    "language": "DE",
    "language_code": "PT_BR",
    "last_login": MOMENT,
    "notice": "new_device",
    "permissions": ["MANAGE_ORDERS", "MANAGE_STAFF"],
    "sections": ["people", "sso"],
    "sent": "deliveries, emails, installations",
    "since": MOMENT,
    "state": "withdrawn",
    "status": "CUSTOMERS_ONLY",
    "stopped": ["Authenticator app"],
    "template": "edited",
    "type": "AUTHENTICATOR_APP",
    "until": MOMENT,
    "updated_at": MOMENT,
    "user": {"kind": "user", "title": "People", "read": 3, "created": 2, "left_out": 1},
    **{name: [1, 2] for name in REFERENCES},
}
"""Values as use cases record them, for each field that isn't a number or a switch."""


def sources() -> list[str]:
    folder = Path(app.services.__file__).parent
    files = (file for file in folder.rglob("*.py") if folder / "demo" not in file.parents)
    return [source for file in files if "Change(" in (source := file.read_text())]


def test_every_action_that_use_cases_write_down_has_words() -> None:
    written = {action for source in sources() for action in _ACTION.findall(source)}
    assert len(written) > 60
    assert written - {*ACTIONS} == set()


def test_every_type_of_subjects_has_a_name() -> None:
    types = {name for source in sources() for name in _TYPE.findall(source)}
    assert {"App", "MailTemplate", "EventDelivery"} <= types
    assert not [name for name in sorted(types) if subject_kind(name) == name and RAW.search(name)]


@pytest.mark.usefixtures("translated_page")
def test_no_recorded_field_is_shown_raw() -> None:
    assert FIELDS.keys() >= REFERENCES.keys()
    for name in FIELDS:
        value = RECORDED.get(name, 3)
        assert not raw_words(name, value), name
        assert field_value(name, None, {}) == ""
    for name in FIELDS.keys() - TYPED:
        assert field_value(name, RECORDED.get(name, 3), {})


@pytest.mark.usefixtures("translated_page")
def test_no_action_is_shown_raw_or_ends_before_its_subject() -> None:
    recorded = {name: RECORDED.get(name, 3) for name in FIELDS.keys() - TYPED}
    for action in ACTIONS:
        for name in ("Labels", ""):
            entry = replace(ENTRY, action=action, subject_name=name, after=recorded)
            page = make_entry_page(entry)
            for title in (act(entry), sentence(entry), page.heading):
                assert not RAW.search(title), action
                assert not title.endswith((" to", " of", " for", " from")), action
            assert not [one for one in page.differences if RAW.search(f"{one.field} {one.after}")]


@cases(
    ("name", "value", "shown"),
    [
        ("blocked_until", 1795646985.8952, "25 Nov 2026, 17:49:45 EST"),
        ("storefront_opens_at", "2026-07-01T12:00:00+00:00", "1 Jul 2026, 08:00:00 EDT"),
        ("type", "AUTHENTICATOR_APP", "Authenticator app"),
        ("kind", "password_reset", "Password reset"),
        ("client_secret", "**** (another)", "another secret"),
        ("enable_refresh_token", "false", "off"),
        ("events", ["ORDER_CREATED"], "Order created"),
        ("default_language", "DE", "German"),
        ("groups", [1, 9], "Support, 9 (deleted)"),
        ("groups", [{"id": 1, "name": "Support then", "permissions": []}], "Support then"),
        (
            "user",
            {"kind": "user", "title": "People", "read": 3, "created": 2},
            "Read: 3, Created: 2",
        ),
    ],
)
def test_values_are_shown_in_words_and_in_the_readers_zone(
    name: str, value: object, shown: str
) -> None:
    use_time_zone("America/New_York")
    try:
        assert field_value(name, value, {("Group", 1): "Support"}) == shown
    finally:
        use_time_zone(None)


def test_constants_in_names_of_subjects_are_words() -> None:
    delivery = replace(
        ENTRY,
        action="delivery.retry",
        subject_type="EventDelivery",
        subject_name="PRODUCT_UPDATED",
    )
    assert act(delivery) == "Resent the delivery Product updated"
    template = replace(
        ENTRY,
        action="mail_template.save",
        subject_type="MailTemplate",
        subject_id="DE/password_reset",
        subject_name="Password reset (Deutsch)",
    )
    assert act(template) == "Saved the email template Password reset (German)"


def test_request_of_a_provider_is_attributed_to_it() -> None:
    after = {"reason": "The identity provider ended the session.", "provider": "Northlight ID"}
    entry = replace(ENTRY, actor_kind="anonymous", action="session.end", after=after)
    assert who_did(entry) == "Northlight ID"
    assert who_did(replace(entry, after={})) == "Anonymous visitor"
