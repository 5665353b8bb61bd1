"""The two switches: what a change would do, and that it does."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import pytest

from app import models
from app.adapters.activity import SqlActivity
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate, TrafficKind, bucket_of
from app.ports import Ports
from app.services.shop.settings import show_settings, update_shop
from tests.builders.people import change_user, make_staff, make_user, sign_in
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.shop import set_mode
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

MAY = Permission.MANAGE_SETTINGS
CLOSING = "/console/access/?ask=storefront&open=false"
SIGN_IN_THERE = "/console/sign-in/with/latchkey.authentication.openidconnect"
DISABLE_LOGIN = "/console/access/?ask=mode&mode=DISABLED"


def come_by_sign_on(shop: Ports) -> None:
    """Let every open session have begun at a provider."""
    with shop.database.transaction() as session:
        for stored in session.query(models.Session):
            stored.origin = SessionOrigin.OIDC.value


def count_requests(shop: Ports, kind: TrafficKind, requests: int) -> None:
    with shop.database.transaction() as session:
        began = bucket_of(shop.clock.now())
        session.add(models.Traffic(began_at=began, kind=kind.value, requests=requests))


@pytest.fixture
def manager(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console(MAY)


def test_page_needs_manage_settings_and_says_so(staff_console: StaffConsole) -> None:
    page = staff_console(Permission.MANAGE_ORDERS).open("/console/access/")
    assert page.status == 403
    assert "Manage settings ( MANAGE_SETTINGS )" in page.text
    assert "Ask your server administrator" in page.text


def test_page_gives_the_viewer_the_way_to_a_session_that_can_restrict(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY, Permission.MANAGE_PLUGINS)
    access = "/console/access/"

    def own_session() -> tuple[str, str]:
        page = console.open(access)
        text = page.text.split("Your session")[1].split("Staff without an SSO identity")[0]
        card = page.html.split('id="you"')[1].split("</section>")[0]
        return text.strip(), " ".join(re.findall(r'href="([^"]+)"', card))

    text, links = own_session()
    assert text.startswith("You signed in with a password . Only a session that began with SSO")
    assert (text.endswith("Set up SSO"), links) == (True, "/console/single-sign-on/")
    make_provider(
        shop,
        client_id="shop",
        oauth_authorization_url="https://login.invalid/in",
        oauth_token_url="https://login.invalid/token",
    )
    text, links = own_session()
    assert "Your account has no SSO identity. Link an SSO identity" in text
    assert links == "/console/account/security/#sso"
    link_identity(shop, 1)
    text, links = own_session()
    assert text.endswith("Sign in with default")
    assert links == f"{SIGN_IN_THERE}?next={access}"
    come_by_sign_on(shop)
    with console.client.session_transaction("/console/") as kept:
        kept["origin"], kept["provider"] = "oidc", "Northlight ID"
    assert "can't restrict it." in own_session()[0]
    set_mode(shop, PasswordLoginMode.CUSTOMERS_ONLY)
    assert own_session()[0] == (
        "You signed in with Northlight ID (SSO), so you can restrict password login. "
        "Until it's set back to Everyone, staff need SSO to open this page."
    )


def test_numbers_are_counted_when_they_are_shown(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    assert "1 of 1 staff has no SSO identity" in console.open("/console/access/").text
    make_staff(shop, "second@example.com")
    make_user(shop)
    count_requests(shop, TrafficKind.ANONYMOUS, 1240)
    page = console.open("/console/access/").text
    assert "2 of 2 staff have no SSO identity" in page
    assert "1 of 1 customers has no other way to sign in" in page
    assert "1 staff session started with a password" in page
    assert "1 session will stop working" in page
    come_by_sign_on(shop)
    page = console.open("/console/access/").text
    assert "started with a password" not in page
    assert "will stop working" not in page
    assert "1,240 requests from customers and visitors would have been rejected" in page


def test_affected_staff_beyond_the_limit_link_to_the_staff_list(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY, Permission.MANAGE_STAFF)
    for number in range(11):
        make_staff(shop, f"s{number}@example.com")
    change_user(shop, make_staff(shop, "gone@example.com"), is_active=False)
    page = console.open("/console/access/")
    link = re.search(r'href="([^"]+)">2 more<', page.html)
    assert link is not None
    assert "12 of 13 people" in console.open(unescape(link[1])).text
    other = staff_console(MAY, email="other@example.com")
    assert "and 3 more" in other.open("/console/access/").text


def test_storefront_is_closed_after_a_question_with_numbers(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    count_requests(shop, TrafficKind.CUSTOMER, 7)
    question = console.open(CLOSING)
    assert "Close the storefront?" in question.text
    assert "They sent 7 requests in the last hour" in question.text
    assert "<main" in question.html
    assert " inert" in question.html
    done = console.follow(
        console.send("/console/access/storefront", {"open": "false"}, seen_at=CLOSING)
    )
    assert "Storefront closed." in done.text
    assert "Changed by you" in done.text
    answer = console.client.post("/graphql/", json={"query": "{ shop { name } }"})
    assert answer.status_code == 401


def test_closing_takes_a_note_and_a_time(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(MAY)
    closing = {"open": "false", "note": "<Stocktake>", "opens_at": "2026-03-01 14:30"}
    console.follow(console.send("/console/access/storefront", closing, seen_at=CLOSING))
    settings = show_settings(shop, OPERATOR)
    assert settings.storefront_note == "<Stocktake>"
    assert settings.storefront_opens_at == datetime(2026, 3, 1, 14, 30, tzinfo=UTC)
    clock.pass_(minutes=3)
    about = "Note: “<Stocktake>”. Opens today at 14:30 UTC"
    for path in ("/console/", "/console/access/", "/console/account/"):
        assert about in console.open(path).text
    assert f"Closed 3 min ago . {about}" in console.open("/console/access/").text
    edited = console.open(CLOSING)
    assert 'value="2026-03-01 14:30"' in edited.html
    done = console.send(
        "/console/access/storefront", {"open": "false", "note": "Fire drill"}, seen_at=CLOSING
    )
    assert "Note and opening time saved." in console.follow(done).text
    settings = show_settings(shop, OPERATOR)
    assert (settings.storefront_note, settings.storefront_opens_at) == ("Fire drill", None)


@cases(
    ("opens_at", "error"),
    [
        ("tomorrow", "Enter a date and time such as 2026-11-30 09:00."),
        ("2026-02-30 12:00", "Enter a date and time such as 2026-11-30 09:00."),
        ("2026-03-01 11:59", "Enter a time in the future."),
    ],
)
def test_unusable_opening_time_keeps_the_dialog_and_what_was_typed(
    manager: ConsoleClient, shop: Ports, opens_at: str, error: str
) -> None:
    closing = {"open": "false", "note": "Stocktake", "opens_at": opens_at}
    refused = manager.send("/console/access/storefront", closing, seen_at=CLOSING)
    assert refused.status == 422
    assert "Close the storefront?" in refused.text
    assert error in refused.text
    assert f'value="{opens_at}"' in refused.html
    assert 'value="Stocktake"' in refused.html
    assert show_settings(shop, OPERATOR).allow_storefront_traffic


def test_rejected_requests_are_counted_from_the_closing_on(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    count_requests(shop, TrafficKind.ANONYMOUS, 1240)
    console.send("/console/access/storefront", {"open": "false"}, seen_at=CLOSING)
    assert "No requests have been rejected yet." in console.open("/console/").text
    activity = SqlActivity(shop.database, shop.clock)
    app = create_app(replace(shop, activity=activity), Settings())
    for _ in range(2):
        app.test_client().post("/graphql/", json={"query": "{ shop { name } }"})
    activity.close()
    sentence = "2 requests from customers and visitors rejected since it closed."
    for path in ("/console/", "/console/access/"):
        assert sentence in console.open(path).text
        assert "1,240" not in console.open(path).text


def test_password_session_cannot_restrict_password_login(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    page = console.open("/console/access/?ask=mode&mode=CUSTOMERS_ONLY")
    assert "only by someone who signed in through single sign-on" in page.text
    assert '<dialog class="lk-dialog" open' not in page.html
    refused = console.send(
        "/console/access/mode", {"mode": "CUSTOMERS_ONLY"}, seen_at="/console/access/"
    )
    assert refused.status == 422
    assert show_settings(shop, OPERATOR).password_login_mode is PasswordLoginMode.ENABLED


def test_question_counts_sso_sessions_that_cannot_be_refreshed(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    come_by_sign_on(shop)
    sign_in(shop, make_user(shop), SessionOrigin.OIDC)
    sentence = "1 SSO session can't be refreshed by its identity provider"
    assert sentence in console.open(DISABLE_LOGIN).text
    assert sentence in console.open("/console/access/").text


def test_worst_needs_a_typed_word(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    come_by_sign_on(shop)
    for phrase in ("yes", ""):
        wrong = console.send(
            "/console/access/mode", {"mode": "DISABLED", "phrase": phrase}, seen_at=DISABLE_LOGIN
        )
        assert wrong.status == 422
        assert "Type NOBODY to confirm" in wrong.text
    console.send(
        "/console/access/mode", {"mode": "DISABLED", "phrase": "nobody"}, seen_at=DISABLE_LOGIN
    )
    assert show_settings(shop, OPERATOR).password_login_mode is PasswordLoginMode.DISABLED


def test_worst_asks_again_who_one_is(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(MAY)
    clock.pass_(minutes=6)
    question = console.open(CLOSING)
    assert question.leads_to.startswith("/console/prove?next=")
    posted = console.send(
        "/console/access/storefront", {"open": "false"}, seen_at="/console/access/"
    )
    assert (posted.status, "Confirm your password" in posted.text) == (403, True)
    assert show_settings(shop, OPERATOR).allow_storefront_traffic
    assert "You're about to close the storefront." in console.follow(question).text
    assert "We won't ask again for 5 minutes." in console.follow(question).text
    assert 'href="/console/access/">Cancel' in console.follow(question).html
    wrong = console.send(question.leads_to, {"proof_password": "not mine"})
    assert (wrong.status, "about to close the storefront" in wrong.text) == (422, True)
    right = console.send(question.leads_to, {"proof_password": "correct horse battery staple"})
    assert "Close the storefront?" in console.follow(right).text


def test_disabling_password_login_needs_reauthentication(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(MAY)
    come_by_sign_on(shop)
    clock.pass_(minutes=6)
    assert console.open(DISABLE_LOGIN).leads_to.startswith("/console/prove?next=")
    answer = {"mode": "DISABLED", "phrase": "NOBODY"}
    posted = console.send("/console/access/mode", answer, seen_at="/console/access/")
    assert (posted.status, "Confirm your password" in posted.text) == (403, True)
    assert show_settings(shop, OPERATOR).password_login_mode is PasswordLoginMode.ENABLED


def test_last_administrator_cannot_be_locked_out(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    make_user(shop, "only@example.com", is_staff=True, permissions=[MAY])
    anonymous_console.sign_in("only@example.com")
    refused = anonymous_console.send(
        "/console/access/mode", {"mode": "CUSTOMERS_ONLY"}, seen_at="/console/access/"
    )
    assert refused.status == 422
    assert "No identity provider is active" in refused.text


def test_guard_is_the_consoles_alone(shop: Ports) -> None:
    make_user(shop, "only@example.com", is_staff=True, permissions=[MAY])
    update_shop(shop, OPERATOR, ShopUpdate(password_login_mode=PasswordLoginMode.DISABLED))
    assert show_settings(shop, OPERATOR).password_login_mode is PasswordLoginMode.DISABLED


@cases("query", ["ask=mode&mode=SOMETHING", "ask=storefront&open=maybe", "ask=x"])
def test_question_about_nothing_shows_the_page(manager: ConsoleClient, query: str) -> None:
    question = manager.open(f"/console/access/?{query}")
    assert question.status == 200
    assert '<dialog class="lk-dialog" open' not in question.html


def test_the_page_costs_seven_statements_at_most(
    staff_console: StaffConsole, statements: Statements
) -> None:
    console = staff_console(MAY)
    with statements() as seen:
        console.open("/console/access/")
    assert len(seen) <= 7
