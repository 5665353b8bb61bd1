"""The second step of a sign-in to the console, and the step-up with a second factor."""

import html
import json
import re

import pytest
from flask import Flask

from app.domain.accounts.email_links import LinkPurpose
from app.domain.second_factors import MAX_CHALLENGE_FAILURES
from app.ports import Ports
from tests.builders.links import link_for
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import PASSWORD, change_user, make_user, sessions_of
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock
from tests.services.sign_in.second_factors import WRONG_CODE, Protected, make_protected

BOSS = "boss@example.com"
CODE, SIGN_IN = "/console/sign-in/code", "/console/sign-in"
KEYS, ROTATE = "/console/keys/", "/console/keys/rotate"


@pytest.fixture
def boss(shop: Ports) -> Protected:
    return make_protected(shop, BOSS, is_superuser=True)


@pytest.fixture
def console(app: Flask, shop: Ports) -> ConsoleClient:
    client = app.test_client()
    client.environ_base["SERVER_NAME"] = "localhost"
    return ConsoleClient(client, shop)


def finish(console: ConsoleClient, shop: Ports, boss: Protected) -> Page:
    """Sign in with password and code."""
    console.sign_in(boss.email)
    return console.send(CODE, {"code": one_time_code(shop, boss.secret)})


def ask_passkey(console: ConsoleClient, path: str, seen_at: str) -> dict[str, str]:
    """Return what the script of a page gets to ask a passkey with."""
    answer: dict[str, str] = json.loads(console.send(path, seen_at=seen_at).html)
    return answer


def test_code_finishes_the_sign_in(console: ConsoleClient, shop: Ports, boss: Protected) -> None:
    led = console.send(f"{SIGN_IN}?next=/console/keyboard", {"email": BOSS, "password": PASSWORD})
    assert led.leads_to == CODE
    assert console.open("/console/keyboard").leads_to.startswith(SIGN_IN)
    asked = console.follow(led)
    assert "Enter your code" in asked.text
    assert f"Signing in as {BOSS}" in asked.text
    assert 'autocomplete="one-time-code"' in asked.html
    entered = console.send(CODE, {"code": one_time_code(shop, boss.secret)})
    assert entered.leads_to == "/console/keyboard"
    assert console.follow(entered).status == 200
    [session] = sessions_of(shop, boss.id)
    assert (session.amr, session.origin) == ("pwd otp mfa", "password")
    assert (session.expires_at - session.created_at).total_seconds() == 12 * 3600


def test_wrong_code_says_how_many_attempts_are_left(
    console: ConsoleClient, shop: Ports, boss: Protected, clock: FakeClock
) -> None:
    console.sign_in(BOSS)
    refused = console.send(CODE, {"code": WRONG_CODE})
    assert refused.status == 422
    assert "Incorrect code. 4 attempts left." in refused.text
    assert WRONG_CODE not in refused.html
    waiting = console.send(CODE, {"code": one_time_code(shop, boss.secret)})
    assert "Too many attempts. Try again in 1 second." in waiting.text
    clock.pass_(seconds=1)
    assert console.send(CODE, {"code": one_time_code(shop, boss.secret)}).status == 303


def test_fifth_wrong_code_leads_back_to_the_first_step(
    console: ConsoleClient, shop: Ports, boss: Protected, clock: FakeClock
) -> None:
    console.sign_in(BOSS)
    pages = []
    for failure in range(MAX_CHALLENGE_FAILURES):
        pages.append(console.send(CODE, {"code": WRONG_CODE}))
        clock.pass_(seconds=2**failure)
    page = pages[-1]
    assert page.leads_to == SIGN_IN
    assert "Sign in again." in console.follow(page).text
    assert console.open(CODE).leads_to == SIGN_IN
    assert sessions_of(shop, boss.id) == []


def test_expired_sign_in_leads_back_to_the_first_step(
    console: ConsoleClient, boss: Protected, clock: FakeClock
) -> None:
    console.sign_in(BOSS)
    clock.pass_(seconds=300)
    assert "Your sign-in expired" in console.follow(console.open(CODE)).text


def test_recovery_code_finishes_the_sign_in(
    console: ConsoleClient, shop: Ports, boss: Protected
) -> None:
    codes = make_recovery_codes(shop, boss.id)
    console.sign_in(BOSS)
    assert "Use a recovery code" in console.open(CODE).text
    page = console.open(f"{CODE}?with=recovery")
    assert "Enter a recovery code" in page.text
    entered = console.send(f"{CODE}?with=recovery", {"code": codes[3]}, seen_at=CODE)
    assert entered.leads_to == "/console/"
    assert len(sessions_of(shop, boss.id)) == 1


def test_passkey_finishes_the_sign_in(console: ConsoleClient, shop: Ports) -> None:
    user = make_user(shop, BOSS, is_superuser=True)
    key = SoftwareAuthenticator(origin="http://localhost")
    make_passkey(shop, user, key)
    console.sign_in(BOSS)
    page = console.open(CODE)
    assert "Use your passkey" in page.text
    assert 'name="code"' not in page.html
    asked = ask_passkey(console, f"{CODE}/passkey-options", CODE)
    wrong = console.send(f"{CODE}/passkey", {"credential": "{}"}, seen_at=CODE)
    assert (wrong.status, "This passkey wasn't accepted." in wrong.text) == (422, True)
    shop.throttle.unblock("127.0.0.1")
    answer = {"credential": key.get(asked["options"]), "challenge": "of no matter"}
    entered = console.send(f"{CODE}/passkey", answer, seen_at=CODE)
    assert entered.leads_to == "/console/"
    [session] = sessions_of(shop, user)
    assert session.amr == "pwd hwk mfa"


def test_second_step_needs_the_first(console: ConsoleClient, boss: Protected) -> None:
    for path in (CODE, f"{CODE}?with=recovery", f"{CODE}?with=passkey"):
        assert console.open(path).leads_to == SIGN_IN
    refused = ask_passkey(console, f"{CODE}/passkey-options", SIGN_IN)
    assert set(refused) == {"error"}


def test_customers_and_deactivated_staff_get_no_further(
    console: ConsoleClient, shop: Ports, boss: Protected
) -> None:
    make_protected(shop, "customer@example.com")
    assert console.sign_in("customer@example.com").status == 422
    console.sign_in(BOSS)
    change_user(shop, boss.id, is_active=False)
    led = console.send(CODE, {"code": one_time_code(shop, boss.secret)})
    assert led.leads_to == SIGN_IN
    assert "This account is not active." in console.follow(led).text


def test_emailed_link_leads_to_the_second_step(
    console: ConsoleClient, shop: Ports, boss: Protected
) -> None:
    link = link_for(shop, boss.id, LinkPurpose.SET_PASSWORD)
    console.open(f"/console/set-password?email={BOSS}&token={link}")
    new = {"password": "nine lazy Störche by the sea"}
    led = console.send("/console/new-password", new)
    assert led.leads_to == CODE
    assert sessions_of(shop, boss.id) == []
    entered = console.send(CODE, {"code": one_time_code(shop, boss.secret)})
    assert entered.leads_to == "/console/"


def test_emailed_link_of_a_customer_with_a_factor_sets_the_password(
    console: ConsoleClient, shop: Ports
) -> None:
    customer = make_protected(shop, "customer@example.com")
    link = link_for(shop, customer.id, LinkPurpose.SET_PASSWORD)
    console.open(f"/console/set-password?email=customer@example.com&token={link}")
    page = console.send("/console/new-password", {"password": "nine lazy Störche by the sea"})
    assert page.status == 200
    assert sessions_of(shop, customer.id) == []


def test_step_up_takes_a_code_and_no_password(
    console: ConsoleClient, shop: Ports, boss: Protected, clock: FakeClock
) -> None:
    finish(console, shop, boss)
    clock.pass_(minutes=6)
    asked = console.send(ROTATE, seen_at=KEYS)
    assert asked.status == 403
    assert "Confirm it's you" in asked.text
    assert "proof_password" not in asked.html
    weak = console.send(ROTATE, {"proof_password": PASSWORD}, seen_at=KEYS)
    assert (weak.status, "Enter a code." in weak.text) == (422, True)
    wrong = console.send(ROTATE, {"proof_code": WRONG_CODE}, seen_at=KEYS)
    assert (wrong.status, "Incorrect code." in wrong.text) == (422, True)
    right = {"proof_code": one_time_code(shop, boss.secret)}
    assert console.send(ROTATE, right, seen_at=KEYS).status == 303


def test_step_up_takes_a_passkey(console: ConsoleClient, shop: Ports, clock: FakeClock) -> None:
    user = make_user(shop, BOSS, is_superuser=True)
    key = SoftwareAuthenticator(origin="http://localhost")
    console.sign_in(BOSS)
    make_passkey(shop, user, key)
    clock.pass_(minutes=6)
    asked = console.send(ROTATE, seen_at=KEYS)
    assert "Use a passkey" in asked.text
    assert 'name="proof_code"' not in asked.html
    options = ask_passkey(console, "/console/prove/passkey-options", "/console/keys/")
    answer = {
        "proof_challenge": options["challenge"],
        "proof_credential": key.get(options["options"]),
    }
    done = console.send(ROTATE, answer, seen_at=KEYS)
    assert done.status == 303
    assert [session.amr for session in sessions_of(shop, user)] == ["pwd hwk mfa"]
    clock.pass_(minutes=6)
    again = console.send(ROTATE, answer, seen_at=KEYS)
    assert again.status == 422


def test_fifth_wrong_code_of_a_step_up_ends_the_session(
    console: ConsoleClient, shop: Ports, boss: Protected, clock: FakeClock
) -> None:
    finish(console, shop, boss)
    clock.pass_(minutes=6)
    for _ in range(5):
        assert len(sessions_of(shop, boss.id)) == 1
        console.send(ROTATE, {"proof_code": WRONG_CODE}, seen_at=KEYS)
    assert sessions_of(shop, boss.id) == []


def test_kept_form_goes_on_with_a_code(
    console: ConsoleClient, shop: Ports, boss: Protected, clock: FakeClock
) -> None:
    finish(console, shop, boss)
    clock.pass_(minutes=6)
    asked = console.send("/console/prove?next=/console/keyboard", {"odd": '"><b>'}, seen_at=KEYS)
    hidden = re.findall(r'name="odd" value="([^"]*)"', asked.html)
    assert {html.unescape(value) for value in hidden} <= {'"><b>'}
    led = console.send(
        "/console/prove?next=/console/keyboard",
        {"proof_code": one_time_code(shop, boss.secret)},
        seen_at=KEYS,
    )
    assert led.leads_to == "/console/keyboard"
