"""In and out of the console, and who gets no further than its door."""

import re
from typing import cast

import pytest
from flask import Flask
from sqlalchemy import delete

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.ports import Ports
from app.services.shop.settings import update_shop
from tests.builders.people import PASSWORD, change_user, make_staff, make_user, sessions_of
from tests.builders.shop import configure_shop
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import KEYBOARD, ConsoleClient, Page
from tests.fakes.activity import FakeActivity
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases


def test_sign_in_returns_to_the_requested_page(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    make_staff(shop)
    door = anonymous_console.open("/console/keyboard?from=here")
    assert door.status == 303
    assert door.leads_to == "/console/sign-in?next=/console/keyboard?from%3Dhere"
    led = anonymous_console.send(
        door.leads_to, {"email": "staff@example.com", "password": PASSWORD}
    )
    assert led.leads_to == "/console/keyboard?from=here"


@pytest.fixture
def staff(shop: Ports) -> str:
    """The email of somebody who may sign in."""
    make_staff(shop)
    return "staff@example.com"


@cases(
    "elsewhere",
    ["//evil.example/", "https://evil.example/", "/console/\\evil.example", "/graphql/", "/%0a"],
)
def test_sign_in_ignores_a_foreign_next_url(
    app: Flask, shop: Ports, staff: str, elsewhere: str
) -> None:
    led = ConsoleClient(app.test_client(), shop).send(
        f"/console/sign-in?next={elsewhere}", {"email": staff, "password": PASSWORD}
    )
    assert led.leads_to == "/console/"


def test_wrong_password_does_not_reveal_whether_the_email_exists(
    anonymous_console: ConsoleClient, shop: Ports, clock: FakeClock
) -> None:
    make_staff(shop)
    wrong = anonymous_console.send(
        "/console/sign-in", {"email": "staff@example.com", "password": "wrong"}
    )
    clock.pass_(hours=3)
    unknown = anonymous_console.send(
        "/console/sign-in", {"email": "nobody@example.com", "password": "wrong"}
    )
    assert wrong.status == unknown.status == 422
    assert "Incorrect email or password." in wrong.text
    assert wrong.text.replace("staff@", "") == unknown.text.replace("nobody@", "")


def test_signing_in_shares_the_throttle_of_the_api(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    make_staff(shop)
    anonymous_console.send("/console/sign-in", {"email": "staff@example.com", "password": "wrong"})
    body = {
        "query": 'mutation { tokenCreate(email: "staff@example.com", password: "x")'
        " { errors { code } } }"
    }
    answer = anonymous_console.client.post("/graphql/", json=body).json
    assert answer is not None
    assert answer["data"]["tokenCreate"]["errors"] == [{"code": "LOGIN_ATTEMPT_DELAYED"}]


def test_customer_cannot_sign_in_to_the_console(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    make_user(shop)
    page = anonymous_console.sign_in("customer@example.com")
    assert page.status == 422
    assert "The console is for staff" in page.text
    assert anonymous_console.open("/console/").status == 303


def test_session_has_a_new_name_after_each_sign_in(staff_console: StaffConsole) -> None:
    console = staff_console()
    first = console.client.get_cookie("latchkey")
    console.send("/console/sign-out", seen_at="/console/keyboard")
    console.sign_in("staff@example.com")
    second = console.client.get_cookie("latchkey")
    assert first is not None
    assert second is not None
    assert first.value != second.value


def test_sign_out_ignores_a_foreign_next_url(staff_console: StaffConsole) -> None:
    elsewhere = "/console/sign-out?next=https://evil.example/"
    left = staff_console().send(elsewhere, seen_at="/console/keyboard")
    assert left.leads_to == "/console/sign-in?next=/console/"


def test_cookie_is_invalid_after_signing_out(staff_console: StaffConsole) -> None:
    console = staff_console()
    stolen = console.client.get_cookie("latchkey")
    assert stolen is not None
    assert console.send("/console/sign-out", seen_at="/console/keyboard").leads_to.endswith(
        "sign-in"
    )
    console.client.set_cookie("latchkey", stolen.value)
    assert console.open("/console/").status == 303


def test_half_an_hour_without_use_ends_the_session(
    staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console()
    for _ in range(3):
        clock.pass_(minutes=29)
        assert console.open("/console/").status == 200
    clock.pass_(minutes=31)
    assert console.open("/console/").status == 303


def test_page_that_refreshes_by_itself_does_not_keep_the_session(
    staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console()
    console.open("/console/")
    refresh = {"X-Requested-With": "refresh"}
    for _ in range(2):
        clock.pass_(minutes=14)
        answer = console.client.get("/console/", headers=refresh)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (200, False)
    clock.pass_(minutes=3)
    assert console.client.get("/console/", headers=refresh).status_code == 401


def test_refresh_leaves_messages_to_the_next_page(staff_console: StaffConsole) -> None:
    console = staff_console(Permission.MANAGE_APPS)
    console.send("/console/deliveries/redeliver", {}, seen_at="/console/deliveries/")
    refresh = {"X-Requested-With": "refresh"}
    refreshed = console.client.get("/console/deliveries/", headers=refresh)
    assert "Select a delivery." not in refreshed.text
    assert "Select a delivery." in console.open("/console/deliveries/").text


def test_session_ends_after_twelve_hours_however_busy(
    staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console()
    for _ in range(28):
        clock.pass_(minutes=25)
        assert console.open(KEYBOARD).status == 200
    clock.pass_(minutes=25)
    assert console.open("/console/").status == 303


def test_no_change_is_made_without_the_token_of_its_form(staff_console: StaffConsole) -> None:
    console = staff_console()
    refused = console.client.post("/console/sign-out")
    assert refused.status_code == 400
    assert console.open("/console/").status == 200


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        (PasswordLoginMode.CUSTOMERS_ONLY, "have no staff access"),
        (PasswordLoginMode.DISABLED, "so your session doesn't work"),
    ],
)
def test_staff_limited_to_sso_see_how_to_sign_in(
    staff_console: StaffConsole, shop: Ports, mode: PasswordLoginMode, why: str
) -> None:
    console = staff_console()
    update_shop(shop, OPERATOR, ShopUpdate(password_login_mode=mode))
    page = console.open("/console/")
    assert page.status == 403
    assert why in page.text
    assert "flask shop set password-login-mode ENABLED" in page.text
    assert console.send("/console/sign-out", seen_at="/console/").status == 303


def test_no_page_may_be_kept_framed_or_made_to_run_what_is_not_ours(
    anonymous_console: ConsoleClient,
) -> None:
    headers = anonymous_console.open("/console/sign-in").response.headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_cookie_is_for_this_host_alone_and_out_of_reach_of_scripts(
    secure_console: ConsoleClient,
) -> None:
    answer = secure_console.client.get("/console/sign-in", base_url="https://shop.example.com")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-latchkey=")
    for part in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/"):
        assert part in cookie


def test_theme_is_remembered_in_the_browser(staff_console: StaffConsole) -> None:
    console = staff_console()
    sent = console.send(
        "/console/theme", {"theme": "dark", "next": "/console/keyboard"}, seen_at="/console/"
    )
    assert sent.leads_to == "/console/keyboard"
    assert 'data-bs-theme="dark"' in console.open("/console/").html


@pytest.mark.both_databases
def test_page_costs_few_statements(staff_console: StaffConsole, statements: Statements) -> None:
    console = staff_console()
    with statements() as seen:
        console.open("/console/keyboard")
    # The caller, and what the navigation and the banner show.
    assert len(seen) == 2


def test_cookie_of_a_busy_session_is_written_once_a_minute(
    staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console()
    console.open("/console/")
    clock.pass_(seconds=59)
    assert "Set-Cookie" not in console.open("/console/").response.headers
    clock.pass_(seconds=1)
    assert "Set-Cookie" in console.open("/console/").response.headers
    assert "Set-Cookie" not in console.open("/console/").response.headers


def test_each_page_counts_as_a_use_of_the_session(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    activity = cast("FakeActivity", shop.activity)
    before = len(activity.sessions)
    console.open("/console/")
    assert [one.id for one in sessions_of(shop, 1)] == activity.sessions[before:]


def test_sign_in_says_why_the_session_ended(
    staff_console: StaffConsole, anonymous_console: ConsoleClient, clock: FakeClock
) -> None:
    assert "signed out" not in anonymous_console.open("/console/sign-in").text
    console = staff_console()
    clock.pass_(minutes=31)
    assert (
        "You were signed out after 30 minutes of inactivity."
        in console.follow(console.open("/console/account/")).text
    )
    wrong = console.send("/console/sign-in", {"email": "staff@example.com", "password": "no"})
    assert "You were signed out after 30 minutes of inactivity." in wrong.text


def test_sign_in_tells_an_ended_session_from_an_expired_one(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console()
    with shop.database.transaction() as session:
        session.execute(delete(models.Session))
    assert "Your session was ended." in console.open("/console/sign-in").text
    busy = staff_console(email="busy@example.com")
    for _ in range(28):
        clock.pass_(minutes=25)
        assert busy.open(KEYBOARD).status == 200
    clock.pass_(minutes=25)
    assert "Your session expired." in busy.open("/console/sign-in").text


def test_sign_out_gives_no_reason(staff_console: StaffConsole) -> None:
    console = staff_console()
    console.send("/console/sign-out", seen_at="/console/")
    page = console.open("/console/sign-in")
    assert page.status == 200
    assert "data-signed-out" not in page.html


def test_form_of_an_ended_session_leads_back_to_its_page(
    staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console(Permission.MANAGE_STAFF)
    clock.pass_(minutes=31)
    sent = console.client.post(
        "/console/staff/groups/1/save",
        headers={"Referer": "http://localhost/console/staff/groups/1?after=x"},
    )
    assert sent.headers["Location"] == ("/console/sign-in?next=/console/staff/groups/1?after%3Dx")


def test_blocked_address_is_told_how_long_to_wait(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    make_staff(shop)
    given = {"email": "staff@example.com", "password": "wrong"}
    anonymous_console.send("/console/sign-in", given)
    again = anonymous_console.send("/console/sign-in", given).text
    assert re.search(r"Too many attempts\. Try again in \d+ seconds?\.", again)
    assert "UTC" not in again


@cases(
    ("asked", "shops", "language"),
    [
        ("", "FR", "fr"),
        ("nl", "PL", "pl"),
        ("de", "FR", "de"),
        ("nl", "SV", "en"),
        ("", "AR", "ar"),
    ],
)
def test_page_is_in_the_browsers_language_or_the_shops(
    app: Flask, shop: Ports, asked: str, shops: str, language: str
) -> None:
    configure_shop(shop, default_language=shops)
    page = app.test_client().get("/console/sign-in", headers={"Accept-Language": asked})
    assert f'<html lang="{language}"' in " ".join(page.text.split())


def language_of(page: Page) -> str:
    found = re.search(r'<html lang="(\w+)"', page.html)
    return found[1] if found else ""


def test_console_keeps_one_language_from_page_to_page(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    """The account's language wins, then what was chosen here, then the browser's."""
    person = make_staff(shop)
    console = anonymous_console
    console.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    door = "/console/sign-in"
    assert language_of(console.open(door)) == "de"
    assert language_of(console.open(f"{door}?ui_locales=fr")) == "fr"
    assert language_of(console.open(door)) == "fr"
    console.follow(console.sign_in("staff@example.com"))
    assert language_of(console.open("/console/")) == "en"
    assert language_of(console.open("/console/account/?ui_locales=fr")) == "en"
    console.send("/console/sign-out", seen_at="/console/account/")
    for path in (door, "/console/forgotten"):
        assert language_of(console.open(path)) == "en"
    change_user(shop, person, language_code="PL")
    console.sign_in("staff@example.com")
    assert language_of(console.open("/console/")) == "pl"
    console.send("/console/sign-out", seen_at="/console/account/")
    assert language_of(console.open(door)) == "pl"


def test_sign_in_page_leads_to_itself_in_every_language(anonymous_console: ConsoleClient) -> None:
    page = anonymous_console.open("/console/sign-in?next=/console/keys&ui_locales=xx")
    assert language_of(page) == "en"
    for tag in ("de", "ar"):
        assert f'href="?next=%2Fconsole%2Fkeys&amp;ui_locales={tag}"' in page.html
    assert language_of(anonymous_console.open("/console/sign-in?ui_locales=ar")) == "ar"
