"""Erasing a person: what is gone, what stays, and who is refused."""

import pytest
from sqlalchemy import select

from app import models
from app.domain.accounts.users import ERASED, without_texts
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.apps.app_changes import AppChange, update_app
from app.services.apps.app_lists import show_app
from app.services.people.erasure import erase_person
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import make_group, make_staff, make_user
from tests.builders.personal_data import EMAIL, WORDS, make_person_with_traces, tables_with
from tests.builders.sign_in_events import stored_sign_ins
from tests.builders.webhooks import change_webhook

OTHER = "oncall@app.example.com"


@pytest.mark.both_databases
def test_nothing_but_the_event_of_the_deletion_names_the_person(ports: Ports) -> None:
    person = make_person_with_traces(ports)
    change_webhook(ports, person.webhook, saved_by_kind="user", saved_by=EMAIL)
    before = tables_with(ports, *WORDS)
    assert {"users", "addresses", "audit", "sign_in_events", "orders", "deliveries"} <= set(before)
    assert {"app_problems", "outbox_events"} <= set(before)
    assert {"passkeys", "known_devices", "account_links", "second_factor_challenges"} <= set(
        before
    )
    erased = erase_person(ports, OPERATOR, EMAIL.upper())
    assert list(tables_with(ports, *WORDS, "digest-of-zoe")) == ["outbox_events"]
    [event] = [event for event in events(ports) if event.subject_id == person.id]
    assert event.type == "CUSTOMER_DELETED"
    assert event.data["snapshot"]["email"] == EMAIL  # type: ignore[index]
    assert (erased.user_id, erased.sign_ins, erased.orders, erased.emails, erased.deliveries) == (
        *(person.id, 2, 1, 3, 4),
    )


def test_person_is_the_contact_of_no_app_anymore(ports: Ports) -> None:
    make_user(ports, EMAIL)
    theirs, others = (make_app(ports, name)[0] for name in ("Theirs", "Others"))
    for app, emails in ((theirs, (EMAIL.title(), "")), (theirs, (EMAIL,)), (others, (OTHER,))):
        for email in emails:
            update_app(ports, OPERATOR, app, AppChange(contact_email=email))
    erase_person(ports, OPERATOR, EMAIL)
    shown = [show_app(ports, OPERATOR, key) for key in (theirs, others)]
    assert [app.contact_email for app in shown if app] == ["", OTHER]
    assert set(tables_with(ports, EMAIL, EMAIL.title())) <= {"outbox_events"}
    assert "audit" in tables_with(ports, OTHER)


def test_orders_and_log_entries_stay_under_the_id(ports: Ports) -> None:
    person = make_person_with_traces(ports)
    erase_person(ports, OPERATOR, EMAIL)
    with ports.database.reading() as session:
        order = session.get_one(models.Order, person.order)
        entries = session.scalars(
            select(models.AuditEntry).where(models.AuditEntry.subject_type == "User")
        )
        actions = {entry.action: entry for entry in entries}
        row = session.get_one(models.ImportedRow, ("user", person.id))
    assert order.user_email == f"user-{person.id}@erased.invalid"
    assert order.total > 0
    assert {"customer.update", "customer.delete", "user.erase"} <= set(actions)
    assert {entry.subject_name for entry in actions.values()} == {f"User {person.id}"}
    assert actions["customer.update"].after == {"email": ERASED, "last_name": ERASED}
    assert row.source_digest == ERASED
    assert [entry.user_id for entry in stored_sign_ins(ports)].count(person.id) >= 1


def test_permissions_stay_in_entries_about_staff(ports: Ports) -> None:
    make_staff(ports, "boss@example.com", Permission.MANAGE_STAFF)
    group = make_group(ports, "Support", Permission.MANAGE_USERS)
    key = make_user(
        ports,
        "ada@example.com",
        is_staff=True,
        permissions=[Permission.MANAGE_APPS],
        groups=[group],
    )
    erase_person(ports, OPERATOR, "ada@example.com")
    [entry] = trail(ports, "staff.delete")
    assert (entry.subject_name, entry.subject_id) == (f"User {key}", str(key))
    assert entry.before == {"permissions": ["MANAGE_APPS", "MANAGE_USERS"], "groups": [group]}
    assert [event.type for event in events(ports)] == ["STAFF_DELETED"]


def test_last_person_who_manages_staff_is_refused(ports: Ports) -> None:
    make_staff(ports, "boss@example.com", Permission.MANAGE_STAFF)
    make_user(ports, "former@example.com", is_superuser=True, is_active=False)
    with pytest.raises(Refused) as refused:
        erase_person(ports, OPERATOR, "boss@example.com")
    assert refused.value.problems[0].code == "LEFT_NOT_MANAGEABLE_PERMISSION"
    assert tables_with(ports, "boss@example.com")
    make_user(ports, "root@example.com", is_superuser=True)
    erase_person(ports, OPERATOR, "boss@example.com")
    assert list(tables_with(ports, "boss@example.com")) == ["outbox_events"]


def test_unknown_person_is_refused(ports: Ports) -> None:
    with pytest.raises(Refused) as refused:
        erase_person(ports, OPERATOR, "nobody@example.com")
    assert refused.value.problems[0].code == "NOT_FOUND"


def test_others_are_untouched(ports: Ports) -> None:
    make_person_with_traces(ports)
    make_user(ports, "other@example.com")
    before = tables_with(ports, "other@example.com")
    erase_person(ports, OPERATOR, EMAIL)
    assert tables_with(ports, "other@example.com") == before


def test_texts_of_entries_are_erased() -> None:
    values = {
        "email": "a@example.com",
        "note": "",
        "is_active": True,
        "permissions": ["MANAGE_APPS"],
        "keys": ["crm", 1],
        "metadata": {"crm": "1"},
        "last_login": None,
    }
    assert without_texts(values) == {
        "email": ERASED,
        "note": "",
        "is_active": True,
        "permissions": ["MANAGE_APPS"],
        "keys": [ERASED, 1],
        "metadata": ERASED,
        "last_login": None,
    }
