"""In and out of the console, and who gets no further than its door."""

from typing import cast

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.ports import Ports
from app.services.shop.settings import update_shop
from tests.builders.people import PASSWORD, make_staff, make_user, sessions_of
from tests.console.conftest import StaffDesk, Statements
from tests.console.staff_client import Desk
from tests.fakes.activity import FakeActivity
from tests.fakes.clock import FakeClock


def test_sign_in_returns_to_the_requested_page(nobody: Desk, shop: Ports) -> None:
    make_staff(shop)
    door = nobody.open("/console/keyboard?from=here")
    assert door.status == 303
    assert door.leads_to == "/console/sign-in?next=/console/keyboard?from%3Dhere"
    led = nobody.send(door.leads_to, {"email": "staff@example.com", "password": PASSWORD})
    assert led.leads_to == "/console/keyboard?from=here"


@pytest.mark.parametrize(
    "elsewhere",
    ["//evil.example/", "https://evil.example/", "/console/\\evil.example", "/graphql/", "/%0a"],
)
def test_sign_in_ignores_a_foreign_next_url(nobody: Desk, shop: Ports, elsewhere: str) -> None:
    make_staff(shop)
    led = nobody.send(
        f"/console/sign-in?next={elsewhere}",
        {"email": "staff@example.com", "password": PASSWORD},
    )
    assert led.leads_to == "/console/"


def test_wrong_password_does_not_reveal_whether_the_email_exists(
    nobody: Desk, shop: Ports, clock: FakeClock
) -> None:
    make_staff(shop)
    wrong = nobody.send("/console/sign-in", {"email": "staff@example.com", "password": "wrong"})
    clock.pass_(hours=3)
    unknown = nobody.send("/console/sign-in", {"email": "nobody@example.com", "password": "wrong"})
    assert wrong.status == unknown.status == 422
    assert "Please, enter valid credentials" in wrong.text
    assert wrong.text.replace("staff@", "") == unknown.text.replace("nobody@", "")


def test_signing_in_shares_the_throttle_of_the_api(nobody: Desk, shop: Ports) -> None:
    make_staff(shop)
    nobody.send("/console/sign-in", {"email": "staff@example.com", "password": "wrong"})
    body = {
        "query": 'mutation { tokenCreate(email: "staff@example.com", password: "x")'
        " { errors { code } } }"
    }
    answer = nobody.client.post("/graphql/", json=body).json
    assert answer is not None
    assert answer["data"]["tokenCreate"]["errors"] == [{"code": "LOGIN_ATTEMPT_DELAYED"}]


def test_customer_cannot_sign_in_to_the_console(nobody: Desk, shop: Ports) -> None:
    make_user(shop)
    told = nobody.sign_in("customer@example.com")
    assert told.status == 422
    assert "The console is for staff" in told.text
    assert nobody.open("/console/").status == 303


def test_the_session_has_a_new_name_after_each_sign_in(staff_desk: StaffDesk) -> None:
    desk = staff_desk()
    first = desk.client.get_cookie("latchkey")
    desk.send("/console/sign-out", seen_at="/console/keyboard")
    desk.sign_in("staff@example.com")
    second = desk.client.get_cookie("latchkey")
    assert first is not None
    assert second is not None
    assert first.value != second.value


def test_sign_out_ignores_a_foreign_next_url(staff_desk: StaffDesk) -> None:
    elsewhere = "/console/sign-out?next=https://evil.example/"
    left = staff_desk().send(elsewhere, seen_at="/console/keyboard")
    assert left.leads_to == "/console/sign-in?next=/console/"


def test_cookie_is_invalid_after_signing_out(staff_desk: StaffDesk) -> None:
    desk = staff_desk()
    stolen = desk.client.get_cookie("latchkey")
    assert stolen is not None
    assert desk.send("/console/sign-out", seen_at="/console/keyboard").leads_to.endswith("sign-in")
    desk.client.set_cookie("latchkey", stolen.value)
    assert desk.open("/console/").status == 303


def test_half_an_hour_without_use_ends_the_session(
    staff_desk: StaffDesk, clock: FakeClock
) -> None:
    desk = staff_desk()
    for _ in range(3):
        clock.pass_(minutes=29)
        assert desk.open("/console/").status == 200
    clock.pass_(minutes=31)
    assert desk.open("/console/").status == 303


def test_a_session_ends_after_twelve_hours_however_busy(
    staff_desk: StaffDesk, clock: FakeClock
) -> None:
    desk = staff_desk()
    for _ in range(47):
        clock.pass_(minutes=15)
        assert desk.open("/console/").status == 200
    clock.pass_(minutes=15)
    assert desk.open("/console/").status == 303


def test_no_change_is_made_without_the_token_of_its_form(staff_desk: StaffDesk) -> None:
    desk = staff_desk()
    refused = desk.client.post("/console/sign-out")
    assert refused.status_code == 400
    assert desk.open("/console/").status == 200


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        (PasswordLoginMode.CUSTOMERS_ONLY, "Passwords are for customers only"),
        (PasswordLoginMode.DISABLED, "Password login is switched off for everybody"),
    ],
)
def test_staff_limited_to_sso_see_how_to_sign_in(
    staff_desk: StaffDesk, shop: Ports, mode: PasswordLoginMode, why: str
) -> None:
    desk = staff_desk()
    update_shop(shop, OPERATOR, ShopUpdate(password_login_mode=mode))
    told = desk.open("/console/")
    assert told.status == 403
    assert why in told.text
    assert "flask shop set password-login-mode ENABLED" in told.text
    assert desk.send("/console/sign-out", seen_at="/console/").status == 303


def test_no_page_may_be_kept_framed_or_made_to_run_what_is_not_ours(nobody: Desk) -> None:
    headers = nobody.open("/console/sign-in").response.headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_cookie_is_for_this_host_alone_and_out_of_reach_of_scripts(
    secure_desk: Desk,
) -> None:
    answer = secure_desk.client.get("/console/sign-in", base_url="https://shop.example.com")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-latchkey=")
    for part in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/"):
        assert part in cookie


def test_the_theme_is_remembered_in_the_browser(staff_desk: StaffDesk) -> None:
    desk = staff_desk()
    sent = desk.send(
        "/console/theme", {"theme": "dark", "next": "/console/keyboard"}, seen_at="/console/"
    )
    assert sent.leads_to == "/console/keyboard"
    assert 'data-bs-theme="dark"' in desk.open("/console/").html


def test_a_page_costs_few_statements(staff_desk: StaffDesk, statements: Statements) -> None:
    desk = staff_desk()
    with statements() as seen:
        desk.open("/console/keyboard")
    assert len(seen) == 1


def test_the_cookie_of_a_busy_session_is_written_once_a_minute(
    staff_desk: StaffDesk, clock: FakeClock
) -> None:
    desk = staff_desk()
    desk.open("/console/")
    clock.pass_(seconds=59)
    assert "Set-Cookie" not in desk.open("/console/").response.headers
    clock.pass_(seconds=1)
    assert "Set-Cookie" in desk.open("/console/").response.headers
    assert "Set-Cookie" not in desk.open("/console/").response.headers


def test_each_page_counts_as_a_use_of_the_session(staff_desk: StaffDesk, shop: Ports) -> None:
    desk = staff_desk()
    activity = cast("FakeActivity", shop.activity)
    before = len(activity.sessions)
    desk.open("/console/")
    assert [one.id for one in sessions_of(shop, 1)] == activity.sessions[before:]
