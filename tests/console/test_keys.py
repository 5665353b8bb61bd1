"""The signing keys at the console: shown, rotated and withdrawn."""

import re

from app.domain.authorization.permissions import Permission
from tests.builders.people import PASSWORD
from tests.console.conftest import StaffConsole, Statements
from tests.fakes.clock import FakeClock

MAY = Permission.MANAGE_SETTINGS
ASK = "/console/keys/?ask=rotate"


def test_page_needs_manage_settings(staff_console: StaffConsole) -> None:
    assert staff_console(Permission.MANAGE_APPS).open("/console/keys/").status == 403


def test_ring_is_shown_with_what_verifies(
    staff_console: StaffConsole, statements: Statements
) -> None:
    console = staff_console(MAY)
    console.open("/console/keys/")
    with statements() as seen:
        page = console.open("/console/keys/")
    assert "Next" in page.text
    assert "Active" in page.text
    assert "http://localhost/.well-known/jwks.json" in page.html
    assert len(seen) <= 6


def test_key_rotation_needs_confirmation_and_keeps_sessions(
    staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console(MAY)
    signing_in = "mutation ($password: String) { tokenCreate(%s) { token } }"
    arguments = 'email: "staff@example.com", password: $password'
    body = {"query": signing_in % arguments, "variables": {"password": PASSWORD}}
    made = console.client.post("/graphql/", json=body).json
    assert made is not None
    token = made["data"]["tokenCreate"]["token"]
    clock.pass_(minutes=4)
    page = console.open(ASK)
    assert "You can rotate the key in 1 min" in page.text
    assert "Rotate the signing key?" not in page.text
    assert 'href="/console/keys/?ask=rotate"' not in page.html
    early = console.follow(console.send("/console/keys/rotate", seen_at=ASK))
    assert "was rotated" not in early.text
    clock.pass_(minutes=2)
    question = console.open(ASK).text
    assert "valid until they expire, 31 Mar 2026, 12:06:00 UTC at the latest" in question
    query = "{ me { email } }"
    headers = {"Authorization": f"Bearer {token}"}
    confirmed = {"proof_password": PASSWORD}
    done = console.follow(console.send("/console/keys/rotate", confirmed, seen_at=ASK))
    assert "The signing key was rotated. New tokens use" in done.text
    assert "Retired" in done.text
    clock.pass_(minutes=-2)
    assert console.client.post("/graphql/", json={"query": query}, headers=headers).json == {
        "data": {"me": {"email": "staff@example.com"}}
    }


def test_leaked_key_is_withdrawn_after_a_count_of_the_sessions_that_end(
    staff_console: StaffConsole,
) -> None:
    console = staff_console(MAY)
    page = console.open("/console/keys/")
    active = re.findall(r"ask=withdraw&amp;kid=([\w-]{43})", page.html)[1]
    ask = f"/console/keys/?ask=withdraw&kid={active}"
    question = console.open(ask).text
    assert "Withdraw the signing key" in question
    assert "No sessions end" in question
    assert "can keep the old key set for 5 minutes" in question
    done = console.follow(console.send("/console/keys/withdraw", {"kid": active}, seen_at=ask))
    assert "was withdrawn. 0 sessions ended." in done.text
    assert "Withdrawn" in done.text
    assert f"kid={active}" not in done.html
    again = console.open(ask).text
    assert "is withdrawn already" in again
    assert "Withdraw the signing key" not in again
