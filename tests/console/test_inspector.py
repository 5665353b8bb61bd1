"""The token inspector: it explains a pasted token and never shows the token itself."""

import logging
import re
from dataclasses import replace

import pytest

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from tests.builders.apps import change_app, make_app
from tests.builders.people import NOBODY, make_staff, make_user, sign_in
from tests.builders.shop import set_mode
from tests.builders.tokens import altered, extension_of
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock

PAGE = "/console/inspector/"
CALLER = replace(NOBODY, issuer="http://localhost/graphql/")
STAFF, ORDERS = Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS


def token_of(shop: Ports, user_id: int, origin: SessionOrigin = SessionOrigin.PASSWORD) -> str:
    return sign_in(shop, user_id, origin, CALLER).access


def come_by_sign_on(shop: Ports) -> None:
    """Let every open session have begun at a provider."""
    with shop.database.transaction() as session:
        for stored in session.query(models.Session):
            stored.origin = SessionOrigin.OIDC.value


def inspect(console: ConsoleClient, token: str) -> Page:
    return console.send(PAGE, {"token": token})


def test_page_asks_by_a_form_that_is_posted(staff_console: StaffConsole) -> None:
    page = staff_console().open(PAGE)
    assert page.status == 200
    assert re.search(r'<form method="post"\s+action="/console/inspector/"', page.html)
    assert "Effective permissions" not in page.text


def test_token_in_the_address_is_not_looked_at(staff_console: StaffConsole, shop: Ports) -> None:
    token = token_of(shop, make_user(shop))
    page = staff_console().open(f"{PAGE}?token={token}")
    assert "Effective permissions" not in page.text


def test_token_is_shown_with_claims_key_checks_and_permissions(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(STAFF)
    tom = make_user(shop, "tom@example.com", is_staff=True, permissions=[ORDERS], first_name="Tom")
    page = inspect(console, f"Bearer {token_of(shop, tom)}")
    assert page.status == 200
    assert "Result Valid" in page.text
    assert "Signature valid" in page.text
    assert "active View signing keys" in page.text
    assert "email tom@example.com" in page.text
    assert "user_id" in page.text
    assert "in 5 min" in page.text
    assert "Manage orders Yes Yes" in page.text


def test_token_is_nowhere_in_what_goes_out_and_in_no_log(
    staff_console: StaffConsole, shop: Ports, caplog: pytest.LogCaptureFixture
) -> None:
    console = staff_console(STAFF)
    token = token_of(shop, make_staff(shop, "tom@example.com"))
    app_token = make_app(shop, "Parcels")[1]
    with caplog.at_level(logging.DEBUG):
        for pasted in (token, f"{token}x", app_token, "no token at all"):
            page = inspect(console, pasted)
            everything = f"{page.html}{page.response.headers}"
            assert pasted not in everything
            assert pasted.rpartition(".")[2] not in everything
            assert page.response.headers["Cache-Control"] == "no-store"
    assert token not in caplog.text
    assert app_token not in caplog.text


def test_login_mode_effect_on_permissions_is_shown(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(STAFF)
    come_by_sign_on(shop)
    token = token_of(shop, make_staff(shop, "tom@example.com", ORDERS))
    set_mode(shop, PasswordLoginMode.CUSTOMERS_ONLY)
    page = inspect(console, token)
    assert "Valid, reduced permissions" in page.text
    assert "Password login is limited to customers" in page.text
    assert "Manage orders Yes No: login mode" in page.text
    assert "If this person signs in with SSO: Manage orders" in page.text


def test_extension_acts_with_what_person_and_app_both_hold(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(STAFF)
    tom = make_staff(shop, "tom@example.com", ORDERS)
    app_id, _ = make_app(shop, "<script>alert(1)</script>", Permission.MANAGE_SHIPPING)
    page = inspect(console, extension_of(shop, token_of(shop, tom), app_id))
    assert "Extension token" in page.text
    assert "No: the app doesn't have it" in page.text
    assert "No: the person doesn't have it" in page.text
    assert "<script>alert(1)" not in page.html


def test_reason_for_an_invalid_token_is_shown(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(STAFF)
    token = token_of(shop, make_user(shop))
    foreign = inspect(console, altered(shop, token, iss="https://elsewhere.example/graphql/"))
    assert "Not valid" in foreign.text
    assert "It was issued for another URL" in foreign.text
    assert "Unrecognized token" in inspect(console, "<b>nothing</b>").text
    assert "Paste a token" in inspect(console, " ").text
    clock.pass_(minutes=6)
    over = inspect(console, token)
    assert "Not valid" in over.text
    assert "It expired at" in over.text


def test_claims_of_any_form_are_shown_as_text(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(STAFF)
    token = token_of(shop, make_user(shop))
    odd = altered(shop, token, exp=10**30, iat=True, nested={"<i>": [1, None]}, nbf="<u>")
    page = inspect(console, odd)
    assert page.status == 200
    assert "{&#34;&lt;i&gt;&#34;: [1, null]}" in page.html
    assert "<i>" not in page.html
    assert "<u>" not in page.html


def test_app_token_is_shown_with_its_app(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(STAFF)
    app_id, token = make_app(shop, "Parcels", ORDERS)
    page = inspect(console, token)
    assert "Parcels" in page.text
    assert "Manage orders Yes Yes" in page.text
    change_app(shop, app_id, is_active=False)
    off = inspect(console, token)
    assert "The app is deactivated" in off.text
    assert "No: the token isn't valid" in off.text


def test_permissions_are_hidden_from_other_managers(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(ORDERS)
    page = inspect(console, token_of(shop, make_staff(shop, "tom@example.com", ORDERS)))
    assert "you need Manage staff" in page.text
    assert "Manage orders" not in page.text


def test_inspection_costs_six_statements_at_most(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    console = staff_console(STAFF)
    token = token_of(shop, make_staff(shop, "tom@example.com", ORDERS))
    inspect(console, token)
    csrf = console.open(PAGE).html.partition('name="csrf_token" value="')[2].partition('"')[0]
    with statements() as seen:
        answer = console.client.post(PAGE, data={"token": token, "csrf_token": csrf})
    assert answer.status_code == 200
    assert len(seen) <= 6
