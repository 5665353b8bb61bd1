"""What the pages of people and groups say in German: sentences, amounts and refusals."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import update

from app import models
from app.console.people.customers import make_customer_page
from app.console.people.groups import first_labels
from app.console.people.sign_in_checks import make_sign_in_card
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.console.sign_in_methods import Blocks, SignInDiagnosis
from app.services.people.user_status import Person
from app.web.translation import use_language
from tests.builders.people import make_group, make_staff
from tests.console.conftest import StaffConsole
from tests.console.example_people import ADA, NOW
from tests.console.staff_client import ConsoleClient
from tests.console.test_customer_pages import EDITOR, HOME, ORDER
from tests.console.test_sign_in_checks import BOSS, STATE
from tests.console.test_sign_ins_page import CLARA

STAFF, ORDERS = Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS
CHECKOUTS = Permission.MANAGE_CHECKOUTS
GROUPS = "/console/staff/groups/"


@contextmanager
def german(app: Flask) -> Iterator[None]:
    """A request whose page is in German."""
    with app.test_request_context():
        use_language("de")
        yield


@pytest.fixture
def console(staff_console: StaffConsole, shop: Ports) -> ConsoleClient:
    """A staff manager who reads German."""
    made = staff_console(STAFF, ORDERS)
    with shop.database.transaction() as session:
        session.execute(update(models.User).values(language_code="DE"))
    return made


def test_forms_and_their_refusals_are_german(console: ConsoleClient) -> None:
    given = {"name": "Support", "permissions": "MANAGE_ORDERS"}
    made = console.follow(console.send(f"{GROUPS}new", given)).text
    assert "Die Gruppe Support wurde erstellt." in made
    again = console.send(f"{GROUPS}new", given)
    assert again.status == 422
    assert "Name: Es gibt bereits eine Gruppe mit diesem Namen." in again.text
    nameless = console.send(f"{GROUPS}new", {"name": ""}).text
    assert "Name: Geben Sie einen Namen ein." in nameless
    assert "Geben Sie der Gruppe" not in nameless


def test_refused_member_is_named_in_german(console: ConsoleClient, shop: Ports) -> None:
    here = f"{GROUPS}{make_group(shop, 'Support', ORDERS)}"
    unknown = console.send(f"{here}/members", {"email": "who@example.com"}, seen_at=here)
    assert "Kein Konto hat die E-Mail-Adresse who@example.com" in unknown.text


def test_actions_and_their_refusals_are_german(console: ConsoleClient, shop: Ports) -> None:
    tom = make_staff(shop, "tom@example.com")
    here = f"/console/staff/{tom}"
    done = console.send(f"/console/people/{tom}/deactivate", seen_at=here)
    assert "tom@example.com wurde deaktiviert" in console.follow(done).text
    with shop.database.reading() as session:
        own = session.query(models.User.id).filter_by(email="staff@example.com").scalar()
    refused = console.send(f"/console/people/{own}/remove", seen_at=here)
    shown = console.follow(refused).text
    assert "Sie können Ihr eigenes Konto nicht löschen. Es wurde nichts geändert." in shown


def test_filters_of_lists_are_german(console: ConsoleClient) -> None:
    people = console.open("/console/staff/?status=active&by=password").text
    assert "Status: Aktiv" in people
    assert "Anmeldung mit: Passwort, kein SSO" in people
    wrong = console.open("/console/staff/?status=gone").text
    assert "Status: „gone“ ist nicht gültig." in wrong


def test_metadata_says_who_reads_it_in_german(console: ConsoleClient, shop: Ports) -> None:
    with shop.database.reading() as session:
        key = session.query(models.User.id).scalar()
    dialog = console.open(f"/console/staff/{key}?ask=add-metadata").text
    assert "die dieses Konto sehen" in dialog
    saved = console.send(
        f"/console/metadata/people/{key}/save",
        {"scope": "private", "new_name": "locker", "value": "7"},
        seen_at=f"/console/staff/{key}",
    )
    assert "locker wurde gespeichert." in console.follow(saved).text


def test_permissions_are_named_and_sorted_in_german(app: Flask) -> None:
    permissions = frozenset({CHECKOUTS, ORDERS})
    assert first_labels(permissions) == "Manage checkouts, Manage orders"
    with german(app):
        shown = first_labels(permissions)
    assert shown == "Bestellungen verwalten, Checkouts verwalten"


def test_amounts_have_the_separator_of_the_language(app: Flask) -> None:
    with german(app):
        page = make_customer_page(Person(ADA), EDITOR, [ORDER])
    assert page.orders is not None
    assert page.orders[0].total == f"9,50 {ORDER.total.currency}"


def test_countries_of_addresses_are_named_in_the_language(app: Flask) -> None:
    swedish = replace(HOME, country="SE", city="Malmö", postal_code="21112")
    unknown = replace(HOME, country="XY")
    with german(app):
        shown = make_customer_page(Person(ADA), EDITOR, addresses=[swedish, unknown])
    assert [row.lines.rpartition(", ")[2] for row in shown.addresses.rows] == ["Schweden", "XY"]
    english = make_customer_page(Person(ADA), EDITOR, addresses=[swedish])
    assert english.addresses.rows[0].lines.endswith(", Sweden")


def test_reasons_and_devices_of_sign_ins_are_german(app: Flask) -> None:
    person = Person(replace(ADA, is_active=False))
    with german(app):
        card = make_sign_in_card(
            SignInDiagnosis(person, STATE, (CLARA,), Blocks((), None)), BOSS, NOW
        )
    assert card.answer == "Nein. Das Konto ist nicht aktiv."
    assert card.attempts[0].device == "Firefox unter Windows"
