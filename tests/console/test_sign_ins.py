"""The sign-in log at the console: filtered, charted and exported."""

import csv
import io

import pytest

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.people import make_staff, make_user
from tests.builders.sign_in_events import make_sign_in
from tests.console.conftest import StaffConsole, Statements
from tests.fakes.clock import FakeClock

MAY = Permission.MANAGE_STAFF


@pytest.fixture
def log(shop: Ports, clock: FakeClock) -> int:
    """A customer's failed and successful attempts, and one of an unknown email."""
    hanna = make_user(shop, "hanna@example.com", first_name="Hanna", last_name="Berg")
    first = clock.now()
    clock.pass_(minutes=3)
    make_sign_in(
        shop,
        user_id=hanna,
        name="hanna@example.com",
        reason="INCORRECT_PASSWORD",
        attempts=6,
        first_at=first,
    )
    make_sign_in(shop, user_id=hanna, name="hanna@example.com", method="SSO", provider="North ID")
    make_sign_in(shop, name="g…@e…", account_type="UNKNOWN", reason="UNKNOWN_EMAIL", attempts=48)
    return hanna


def test_attempts_are_listed_with_person_result_and_reason(
    staff_console: StaffConsole, log: int, statements: Statements
) -> None:
    console = staff_console(MAY, Permission.MANAGE_USERS)
    with statements() as seen:
        page = console.open("/console/sign-ins/")
    assert len(seen) <= 6
    for words in (
        "Unknown email g…@e… Failed Unknown email, 48\N{MULTIPLICATION SIGN} Password",
        "Hanna Berg hanna@example.com Successful North ID",
        "Failed Incorrect password, 6\N{MULTIPLICATION SIGN} first: 3 min ago Password",
        "Retained for 90 days",
    ):
        assert words in page.text
    assert page.html.count(f'href="/console/customers/{log}"') == 2
    assert "flask sign-ins list --since 14d" in page.html


def test_chart_shows_successes_and_failures_by_reason(
    staff_console: StaffConsole, log: int
) -> None:
    console = staff_console(MAY)
    page = console.open("/console/sign-ins/")
    assert "Sign-ins by day 1 successful 6 incorrect password 48 other" in page.text
    assert (
        'aria-label="Sign-ins by day: 1 successful, 6 incorrect password, 48 other."' in page.html
    )
    assert ">1 Mar: 1 successful, 6 incorrect password, 48 other</span>" in page.html
    assert "blocked</span>" not in page.html
    for since, title, label in (
        ("24h", "Sign-ins by hour", "Sun 12:00"),
        ("14d", "Sign-ins by day", "1 Mar"),
        ("90d", "Sign-ins by week", "1 Mar"),
        ("nonsense", "Sign-ins by day", "1 Mar"),
    ):
        page = console.open(f"/console/sign-ins/?since={since}")
        assert title in page.text, since
        assert f'<th scope="row">{label}</th>' in page.html, since


def test_filters_apply_and_are_named_unless_they_are_invalid(
    staff_console: StaffConsole, log: int
) -> None:
    console = staff_console(MAY)
    page = console.open("/console/sign-ins/?result=FAILED&reason=INCORRECT_PASSWORD&q=hanna")
    assert "1 of 3 entries" in page.text
    assert "Reason: Incorrect password" in page.text
    assert "Unknown email, 48" not in page.text
    command = "list --since 14d --search hanna --result failed --reason incorrect-password"
    assert command in page.html
    nothing = console.open("/console/sign-ins/?method=APP_TOKEN")
    assert "No matching sign-in attempts" in nothing.text
    assert "3 entries" in console.open("/console/sign-ins/?result=nonsense").text
    page = console.open("/console/sign-ins/?since=abc&reason=x&result=FAILED")
    assert "flask sign-ins list --since 14d --result failed" in page.text


def test_who_manages_customers_sees_theirs(
    staff_console: StaffConsole, shop: Ports, log: int
) -> None:
    make_sign_in(shop, name="tom@example.com", account_type="STAFF", user_id=1)
    page = staff_console(Permission.MANAGE_USERS).open("/console/sign-ins/")
    assert "tom@example.com" not in page.text
    assert "2 entries" in page.text


def test_pages_that_the_reader_cannot_open_are_no_links(
    staff_console: StaffConsole, shop: Ports, log: int
) -> None:
    tom = make_staff(shop, "tom@example.com")
    make_sign_in(shop, name="tom@example.com", account_type="STAFF", user_id=tom)
    make_sign_in(shop, name="Ledgerly", account_type="APP", app_id=5, reason="INACTIVE")
    page = staff_console(MAY).open("/console/sign-ins/")
    assert f'href="/console/staff/{tom}"' in page.html
    assert f"/console/customers/{log}" not in page.html
    assert "/console/apps/5" not in page.html
    assert "Ledgerly app Failed App inactive" in page.text


def test_export_holds_every_matching_attempt(staff_console: StaffConsole, log: int) -> None:
    console = staff_console(MAY)
    answer = console.open("/console/sign-ins/export.csv?result=FAILED")
    unknown, incorrect = csv.DictReader(io.StringIO(answer.html))
    assert (unknown["name"], unknown["attempts"], unknown["reason"]) == (
        "g…@e…",
        "48",
        "UNKNOWN_EMAIL",
    )
    assert (incorrect["result"], incorrect["console"]) == ("FAILED", "no")
    assert "hanna@example.com" in console.open("/console/sign-ins/export.json").html


def test_empty_log_says_so(staff_console: StaffConsole, shop: Ports) -> None:
    page = staff_console(Permission.MANAGE_USERS).open("/console/sign-ins/")
    assert "No sign-in attempts yet" in page.text
    assert "No sign-in attempts in this period" in page.text


def test_refused_bearer_is_listed_with_the_reason_of_its_check(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_sign_in(
        shop,
        account_type="UNKNOWN",
        method="PROVIDER_TOKEN",
        reason="TOKEN_INVALID",
        provider="North ID",
        detail="The token's scope doesn't contain openid. {odd}<b>",
    )
    console = staff_console(MAY, Permission.MANAGE_USERS)
    page = console.open("/console/sign-ins/?method=PROVIDER_TOKEN")
    reason = "The token's scope doesn't contain openid. {odd}<b>"
    assert f"Failed Token invalid or revoked {reason} North ID, access token" in page.text
    exported = console.open("/console/sign-ins/export.csv").text
    assert "openid. {odd}" in exported
