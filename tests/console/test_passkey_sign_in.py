"""Signing in to the console with a passkey alone."""

import html
import json
import re
from dataclasses import replace

import pytest

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.sign_in.second_factor_sign_in import challenge_passkey
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, make_staff, make_user, sessions_of
from tests.builders.shop import set_mode
from tests.console.staff_client import ConsoleClient, Page
from tests.fixtures.cases import cases

SIGN_IN = "/console/sign-in"
ORIGIN = "http://localhost"


def make_authenticator(shop: Ports, user_id: int) -> SoftwareAuthenticator:
    authenticator = SoftwareAuthenticator(origin=ORIGIN)
    make_passkey(shop, user_id, authenticator)
    return authenticator


def ask(console: ConsoleClient) -> dict[str, str]:
    """Return the challenge and options that script gets."""
    answer = console.send(f"{SIGN_IN}/passkey/options", seen_at=SIGN_IN)
    assert answer.status == 200
    asked: dict[str, str] = json.loads(answer.html)
    return asked


def sign_in(
    console: ConsoleClient, authenticator: SoftwareAuthenticator, next_path: str = ""
) -> Page:
    asked = ask(console)
    sent = {"challenge": asked["challenge"], "credential": authenticator.get(asked["options"])}
    query = f"?next={next_path}" if next_path else ""
    return console.send(f"{SIGN_IN}/passkey{query}", sent, seen_at=SIGN_IN)


def test_passkey_alone_signs_in_and_leads_on(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    user_id = make_staff(shop)
    authenticator = make_authenticator(shop, user_id)
    page = anonymous_console.open(SIGN_IN)
    assert "Sign in with a passkey" in page.text
    assert 'autocomplete="username webauthn"' in page.html

    answer = sign_in(anonymous_console, authenticator, "/console/account/")

    assert (answer.status, answer.leads_to) == (303, "/console/account/")
    assert "with a passkey" in anonymous_console.follow(answer).text
    (stored,) = sessions_of(shop, user_id)
    assert (stored.origin, stored.amr) == ("password", "hwk mfa")
    assert (stored.expires_at - stored.created_at).total_seconds() == 12 * 3600


def test_passkey_leads_only_to_pages_of_the_console(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    authenticator = make_authenticator(shop, make_staff(shop))
    answer = sign_in(anonymous_console, authenticator, "https://evil.example/console/")
    assert answer.leads_to == "/console/"


def test_passkey_of_a_customer_is_refused(anonymous_console: ConsoleClient, shop: Ports) -> None:
    user_id = make_user(shop)
    answer = sign_in(anonymous_console, make_authenticator(shop, user_id))
    assert answer.status == 422
    assert "This is a customer account." in answer.text
    assert sessions_of(shop, user_id) == []


def test_refused_passkey_is_told_apart_from_nothing(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    user_id = make_staff(shop)
    make_authenticator(shop, user_id)
    unknown = SoftwareAuthenticator(origin=ORIGIN, user_handle="h" * 64)
    answer = sign_in(anonymous_console, unknown)
    assert answer.status == 422
    assert "This passkey wasn't accepted." in answer.text
    blocked = anonymous_console.send(f"{SIGN_IN}/passkey", {"challenge": "x"}, seen_at=SIGN_IN)
    assert "expired or was already used" in blocked.text
    assert sessions_of(shop, user_id) == []


@cases("values", [{}, {"challenge": "x" * 5000}, {"credential": "[" * 9000}])
def test_malformed_form_is_refused(
    anonymous_console: ConsoleClient, shop: Ports, values: dict[str, str]
) -> None:
    asked = ask(anonymous_console)
    sent = {"challenge": asked["challenge"], "credential": "{}", **values}
    assert anonymous_console.send(f"{SIGN_IN}/passkey", sent, seen_at=SIGN_IN).status == 422


def test_options_need_the_token_of_the_form(anonymous_console: ConsoleClient) -> None:
    answer = anonymous_console.client.post(f"{SIGN_IN}/passkey/options")
    assert answer.status_code == 400


def test_challenge_of_the_api_does_not_open_the_console(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    user_id = make_staff(shop)
    authenticator = make_authenticator(shop, user_id)
    asked = challenge_passkey(shop, replace(NOBODY, issuer=f"{ORIGIN}/graphql/"))
    sent = {"challenge": asked.token, "credential": authenticator.get(asked.options)}
    page = anonymous_console.send(f"{SIGN_IN}/passkey", sent, seen_at=SIGN_IN)
    assert page.status == 422
    assert sessions_of(shop, user_id) == []


def test_no_passkeys_while_password_login_is_off(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    user_id = make_staff(shop)
    authenticator = make_authenticator(shop, user_id)
    asked = ask(anonymous_console)
    set_mode(shop, PasswordLoginMode.DISABLED)
    page = anonymous_console.open(SIGN_IN)
    assert "Sign in with a passkey" not in page.text
    assert "passkeys.js" not in page.html
    sent = {"challenge": asked["challenge"], "credential": authenticator.get(asked["options"])}
    anonymous_console.send(f"{SIGN_IN}/passkey", sent, seen_at=SIGN_IN)
    refused = anonymous_console.send(f"{SIGN_IN}/passkey/options", seen_at=SIGN_IN)
    assert refused.status in (400, 422)
    assert sessions_of(shop, user_id) == []


def test_passkey_gives_no_staff_rights_where_passwords_are_for_customers(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    authenticator = make_authenticator(shop, make_staff(shop))
    set_mode(shop, PasswordLoginMode.CUSTOMERS_ONLY)
    assert "with a password or passkey, you won't have staff access" in (
        anonymous_console.open(SIGN_IN).text
    )
    assert sign_in(anonymous_console, authenticator).status == 303
    assert anonymous_console.open("/console/account/security/").status == 403


def test_page_on_an_ip_address_says_where_passkeys_work(anonymous_console: ConsoleClient) -> None:
    page = Page(anonymous_console.client.get(SIGN_IN, base_url="http://127.0.0.1:8000"))
    assert "Open the console at http://localhost:8000 to use passkeys." in page.text
    assert "Sign in with a passkey" not in page.text


@pytest.mark.parametrize("host", ["localhost:99999", "localhost:port", "[::1", "["])
def test_invalid_host_is_asked_for_no_passkey(anonymous_console: ConsoleClient, host: str) -> None:
    page = Page(anonymous_console.client.get(SIGN_IN, headers={"Host": host}))
    assert page.status == 200
    assert "Sign in with a passkey" not in page.text


def test_host_of_a_request_chooses_no_relying_party_in_production(shop: Ports) -> None:
    rp_ids = []
    for public_url in ("http://localhost:9000", ""):
        settings = replace(shop.configuration, public_url=public_url)
        ports = replace(shop, configuration=settings)
        console = ConsoleClient(create_app(ports, Settings()).test_client(), ports)
        evil = "http://evil.example"
        page = Page(console.client.get(SIGN_IN, base_url=evil))
        token = html.unescape(page.html.split('name="csrf_token" value="')[1].split('"')[0])
        answer = console.client.post(
            f"{SIGN_IN}/passkey/options", data={"csrf_token": token}, base_url=evil
        )
        rp_ids.append(json.loads(answer.get_json()["options"])["rpId"])
    assert rp_ids == ["localhost", "evil.example"]


def test_session_by_passkey_is_called_so_and_cut_off_with_passwords(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    user_id = make_user(shop, "staff@example.com", is_superuser=True)
    sign_in(anonymous_console, make_authenticator(shop, user_id))
    assert re.search(r"Current Passkey 127", anonymous_console.open("/console/account/").text)
    access = anonymous_console.open("/console/access/").text
    assert "You signed in with a passkey ." in access
    assert access.count("password or passkey") >= 3
    staff = anonymous_console.open("/console/staff/").text
    assert "Password or passkey" in staff
    for mode, says in (
        (PasswordLoginMode.CUSTOMERS_ONLY, "Staff who sign in with a password or passkey have no"),
        (PasswordLoginMode.DISABLED, "off for everyone, and passkeys with it"),
    ):
        set_mode(shop, mode)
        refused = anonymous_console.open("/console/access/")
        assert refused.status == 403
        assert "You signed in with a passkey. " in refused.text
        assert says in refused.text
