"""The console's hint at a leaked password, and that nothing else looks at it."""

from dataclasses import replace

import pytest
from typing_extensions import override

from app.adapters.keys.passwords import ZxcvbnStrength
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.ports import Ports
from tests.builders.people import PASSWORD, change_user, make_staff, make_user
from tests.builders.second_factors import one_time_code
from tests.console.conftest import Statements
from tests.console.staff_client import ConsoleClient
from tests.services.sign_in.second_factors import make_protected

EMAIL = "staff@example.com"
LEAKED = "password1"
HINT = "Your password is on a list of leaked passwords. Change it."
LOGIN = """mutation($e: String!, $p: String!) {
  tokenCreate(email: $e, password: $p) { user { email } errors { code } } }"""


class ForbiddenStrength(ZxcvbnStrength):
    @override
    def is_leaked(self, password: str) -> bool:
        message = "the API doesn't look"
        raise AssertionError(message)


def test_sign_in_with_a_leaked_password_shows_a_hint_once(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    make_user(shop, EMAIL, is_staff=True, password=LEAKED)
    entered = anonymous_console.sign_in(EMAIL, LEAKED)
    assert (entered.status, entered.leads_to) == (303, "/console/")
    home = anonymous_console.follow(entered)
    assert HINT in home.text
    assert 'href="/console/account/#pw">Change it.</a>' in home.html
    assert HINT not in anonymous_console.open("/console/").text


@pytest.mark.parametrize(("password", "hints"), [(LEAKED, 1), (PASSWORD, 0)])
def test_hint_waits_for_the_second_factor(
    anonymous_console: ConsoleClient, shop: Ports, password: str, hints: int
) -> None:
    boss = make_protected(shop, EMAIL, is_superuser=True)
    change_user(shop, boss.id, password_hash=shop.passwords.hash(password))
    asked = anonymous_console.follow(anonymous_console.sign_in(EMAIL, password))
    assert "Enter your code" in asked.text
    assert "leaked" not in asked.text
    code = {"code": one_time_code(shop, boss.secret)}
    entered = anonymous_console.send("/console/sign-in/code", code)
    assert anonymous_console.follow(entered).text.count(HINT) == hints


@pytest.mark.parametrize("password", [PASSWORD, "vB7!kq2Z"])
def test_other_passwords_show_no_hint(
    anonymous_console: ConsoleClient, shop: Ports, password: str
) -> None:
    make_user(shop, EMAIL, is_staff=True, password=password)
    home = anonymous_console.follow(anonymous_console.sign_in(EMAIL, password))
    assert "leaked" not in home.text


def test_guesses_and_customers_get_no_hint(anonymous_console: ConsoleClient, shop: Ports) -> None:
    make_staff(shop, EMAIL)
    assert "leaked" not in anonymous_console.sign_in(EMAIL, LEAKED).text
    make_user(shop, "customer@example.com", password=LEAKED)
    assert "leaked" not in anonymous_console.sign_in("customer@example.com", LEAKED).text


def test_hint_costs_no_statement(
    anonymous_console: ConsoleClient, shop: Ports, statements: Statements
) -> None:
    user_id = make_staff(shop, EMAIL)
    counts = []
    for password in (PASSWORD, PASSWORD, LEAKED):
        change_user(shop, user_id, password_hash=shop.passwords.hash(password))
        with statements() as executed:
            assert anonymous_console.sign_in(EMAIL, password).status == 303
        counts.append(len(executed))
        anonymous_console.send("/console/sign-out", seen_at="/console/")
    _first, strong, leaked = counts
    assert leaked == strong > 0


def test_token_create_does_not_look_at_the_lists(shop: Ports) -> None:
    make_user(shop, "customer@example.com", password=LEAKED)
    app = create_app(replace(shop, password_strength=ForbiddenStrength()), Settings())
    body = {"query": LOGIN, "variables": {"e": "customer@example.com", "p": LEAKED}}
    answer = app.test_client().post("/graphql/", json=body).json
    user = {"email": "customer@example.com"}
    assert answer is not None
    assert answer["data"]["tokenCreate"] == {"user": user, "errors": []}
