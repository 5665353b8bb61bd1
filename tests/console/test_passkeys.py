"""Passkeys on the page "Sign-in and security"."""

import html
import re
from datetime import timedelta

import pytest

from app.domain.authorization.actor import PROOF_LASTS
from app.domain.second_factors import RECOVERY_CODES
from app.ports import Ports
from app.services.second_factors.stored_factors import read_factors
from tests.builders.passkeys import SYNCABLE, VERIFIED, SoftwareAuthenticator, make_passkey
from tests.builders.people import PASSWORD, sessions_of
from tests.builders.second_factor_rule import require_second_factor
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

URL = "/console/account/security/"
PASSKEYS = f"{URL}passkeys/"
OWN_KEY = 1
ORIGIN = "http://localhost"
_OPTIONS = re.compile(r'data-options="([^"]+)"')
_HIDDEN = re.compile(r'name="(submission|challenge)"[^>]*value="([^"]+)"')
_CODE = re.compile(r"<li>([0-9a-z]{4}-[0-9a-z]{4})</li>")


def begin(console: ConsoleClient) -> Page:
    """Return the page whose script asks the browser for a passkey."""
    return console.send(f"{PASSKEYS}new", seen_at=URL)


def values_of(
    page: Page, authenticator: SoftwareAuthenticator, name: str = "Laptop"
) -> dict[str, str]:
    """Return what script sends from ``page``."""
    (options,) = _OPTIONS.findall(page.html)
    hidden = dict(_HIDDEN.findall(page.html))
    answer = authenticator.create(html.unescape(options))
    return {**hidden, "name": name, "credential": answer}


def add(
    console: ConsoleClient, authenticator: SoftwareAuthenticator | None = None, **values: str
) -> Page:
    authenticator = authenticator or SoftwareAuthenticator(origin=ORIGIN)
    sent = {**values_of(begin(console), authenticator), **values}
    return console.send(f"{PASSKEYS}add", sent, seen_at=URL)


def count(shop: Ports) -> int:
    with shop.database.reading() as session:
        return read_factors(session, OWN_KEY).passkeys


@pytest.fixture
def console(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console()


def test_passkey_is_added_and_recovery_codes_are_shown_once(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    assert "You have no passkey." in console.open(URL).text
    answer = add(console, name="Ann's <laptop>")
    assert answer.status == 303
    shown = console.follow(answer)
    assert "Passkey added." in shown.text
    assert len(_CODE.findall(shown.html)) == RECOVERY_CODES
    assert "Ann's <laptop> Stored on one device or security key" in shown.text
    assert sessions_of(shop, OWN_KEY)[0].amr == "pwd hwk mfa"
    assert not _CODE.findall(console.follow(answer).html)


@cases("missing", ["challenge", "credential"])
def test_form_without_the_browsers_answer_is_refused(
    console: ConsoleClient, shop: Ports, missing: str
) -> None:
    sent = values_of(begin(console), SoftwareAuthenticator(origin=ORIGIN))
    del sent[missing]
    answer = console.send(f"{PASSKEYS}add", sent, seen_at=URL)
    assert answer.status == 422
    assert "There's a problem" in answer.text
    assert count(shop) == 0


def test_form_that_is_sent_twice_adds_one_passkey(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    sent = values_of(begin(console), SoftwareAuthenticator(origin=ORIGIN))
    answers = console.send_twice(f"{PASSKEYS}add", sent, seen_at=URL)
    assert [answer.status for answer in answers] == [303, 303]
    assert count(shop) == 1


def test_synced_passkey_is_named_so(staff_console: StaffConsole) -> None:
    console = staff_console()
    add(console, SoftwareAuthenticator(origin=ORIGIN, flags=VERIFIED | SYNCABLE))
    assert "Synced by a password manager" in console.open(URL).text


@cases(
    ("values", "message"),
    [
        ({"name": ""}, "Enter a name for the passkey."),
        ({"name": "a\u202eb"}, "Name"),
        ({"credential": ""}, "couldn't be verified"),
        ({"credential": '{"id": []}'}, "couldn't be verified"),
        ({"challenge": "x"}, "This took too long or was already used."),
    ],
)
def test_refused_form_is_shown_again_with_new_options(
    console: ConsoleClient, shop: Ports, values: dict[str, str], message: str
) -> None:
    before = count(shop)
    refused = add(console, None, **values)
    assert refused.status == 422
    assert message in refused.text
    assert count(shop) == before
    authenticator = SoftwareAuthenticator(origin=ORIGIN)
    again = console.send(f"{PASSKEYS}add", values_of(refused, authenticator), seen_at=URL)
    assert again.status == 303
    assert count(shop) == before + 1


def test_changes_ask_who_it_is_first(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console()
    clock.pass_(seconds=(PROOF_LASTS + timedelta(seconds=1)).total_seconds())
    asked = begin(console)
    assert asked.status == 403
    assert "You're about to add a passkey." in asked.text
    shown = console.send(f"{PASSKEYS}new", {"proof_password": PASSWORD}, seen_at=URL)
    assert shown.status == 200
    assert _OPTIONS.search(shown.html)

    key = make_passkey(shop, OWN_KEY, SoftwareAuthenticator())
    clock.pass_(seconds=(PROOF_LASTS + timedelta(seconds=1)).total_seconds())
    asked = console.send(f"{PASSKEYS}{key}/delete", seen_at=URL)
    assert asked.status == 403
    assert "You're about to delete a passkey." in asked.text
    assert count(shop) == 1


def test_passkey_is_renamed(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    page = f"{PASSKEYS}{make_passkey(shop, OWN_KEY, SoftwareAuthenticator())}"
    refused = console.send(f"{page}/rename", {"name": " "}, seen_at=page)
    assert refused.status == 422
    answer = console.send(f"{page}/rename", {"name": "Office"}, seen_at=page)
    assert answer.leads_to == URL
    assert "Passkey renamed." in console.follow(answer).text
    assert "Rename Office" in console.open(URL).html


def test_passkey_is_deleted_after_a_question(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    add(console)
    page = f"{PASSKEYS}1"
    asked = console.open(f"{page}?ask=delete")
    assert "Delete the passkey Laptop?" in asked.text
    assert "You sign in without a second factor from then on." in asked.text
    answer = console.send(f"{page}/delete", seen_at=page)
    assert "Passkey deleted." in console.follow(answer).text
    assert count(shop) == 0


def test_last_factor_stays_while_it_is_required(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    add(console)
    page = f"{PASSKEYS}1"
    assert "Delete Laptop" in console.open(URL).html
    require_second_factor(shop, shop.clock.now() + timedelta(days=3))
    console.follow(console.open(URL))  # the reminder
    security = console.open(URL)
    assert "To remove your only second factor, add another one first." in security.text
    assert "Delete Laptop" not in security.html
    assert "Delete the passkey" not in console.open(f"{page}?ask=delete").text
    answer = console.send(f"{page}/delete", seen_at=page)
    assert "Add another one before you remove this one." in console.follow(answer).text
    assert count(shop) == 1


def test_passkeys_of_others_are_not_found(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    staff_console(email="other@example.com")
    page = f"{PASSKEYS}{make_passkey(shop, 2, SoftwareAuthenticator())}"
    for path in ("", "/rename", "/delete"):
        values = {"name": "Mine"}
        answer = console.send(page + path, values, seen_at=URL) if path else console.open(page)
        assert answer.leads_to == URL
        assert "Passkey not found." in console.follow(answer).text


def test_page_on_an_ip_address_says_where_passkeys_work(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    on_localhost = Page(console.client.get(URL, base_url="http://localhost:8000"))
    assert "passkeys/new" in on_localhost.html
    cookie = console.client.get_cookie("latchkey")
    assert cookie is not None
    console.client.set_cookie(cookie.key, cookie.value, domain="127.0.0.1")
    on_ip = Page(console.client.get(URL, base_url="http://127.0.0.1:8000"))
    assert "Open the console at http://localhost:8000 to use passkeys." in on_ip.text
    assert "passkeys/new" not in on_ip.html
