"""Blocked IPs at the console: listed with their reasons, and unblocked."""

from dataclasses import replace
from pathlib import Path

import pytest

from app import models
from app.adapters.queue.throttle_redis import connect_redis_throttle
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.console.security import throttle
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.web.installation import install, installation_of
from tests.builders.people import make_staff, make_user
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient

MAY = Permission.MANAGE_STAFF
PAGE = "/console/throttle/"
GUESSER = "203.0.113.7"
ASK = f"{PAGE}?ask=unblock&address={GUESSER}"


def fail(shop: Ports, address: str = GUESSER, user_id: int | None = None, times: int = 3) -> None:
    for _ in range(times):
        shop.throttle.fail(address, "", user_id, shop.clock.timestamp())


def test_page_needs_manage_staff(staff_console: StaffConsole) -> None:
    page = staff_console(Permission.MANAGE_APPS).open(PAGE)
    assert page.status == 403
    assert "MANAGE_STAFF" in page.text


def test_empty_list_explains_how_ips_are_blocked(staff_console: StaffConsole) -> None:
    page = staff_console(MAY).open(PAGE)
    assert "No blocked IPs" in page.text
    assert "Each further failure doubles the time" in page.text


def test_block_reason_is_shown_and_escaped(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    nasty = "<script>alert(1)</script>@example.com"
    fail(shop, user_id=make_user(shop, nasty))
    fail(shop, times=2)
    page = console.open(PAGE)
    assert GUESSER in page.text
    assert "5 failed sign-ins" in page.text
    assert f"3 incorrect passwords Accounts: {nasty} (3)" in page.text
    assert "2 attempts with unknown emails" in page.text
    assert "<script>alert(1)" not in page.html


def test_list_is_narrowed_and_sorted_by_its_address(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    fail(shop, user_id=make_user(shop), times=6)
    fail(shop, "2001:db8::7", times=9)
    everything = console.open(PAGE).text
    assert everything.index(GUESSER) < everything.index("2001:db8::7")
    by_failures = console.open(f"{PAGE}?sort=failures").text
    assert by_failures.index("2001:db8::7") < by_failures.index(GUESSER)
    assert GUESSER not in console.open(f"{PAGE}?q=2001").text
    narrowed = console.open(f"{PAGE}?why=accounts")
    assert "2001:db8::7" not in narrowed.text
    assert "1 blocked IP" in narrowed.text
    assert "longest block" not in narrowed.text
    assert "No matching IP addresses" in console.open(f"{PAGE}?q=10.9").text


def test_past_the_longest_waits_an_address_is_found_by_itself(
    staff_console: StaffConsole, shop: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "LISTED", 1)
    console = staff_console(MAY)
    fail(shop, user_id=make_user(shop), times=6)
    fail(shop, "2001:db8::7", user_id=2, times=2)
    longest = console.open(PAGE).text
    assert "2001:db8::7" not in longest
    assert "Only the longest block is listed" in longest
    found = console.open(f"{PAGE}?q=2001:DB8:0::7").text
    assert "2001:db8::7" in found
    assert "2 incorrect passwords" in found
    question = console.open(f"{PAGE}?ask=unblock&address=2001:db8::7").text
    assert "after 2 failed sign-ins" in question
    assert "No matching IP addresses" in console.open(f"{PAGE}?q=203.0.113.99").text


def test_address_is_let_go_after_a_question(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    fail(shop, user_id=make_user(shop), times=12)
    question = console.open(ASK)
    assert f"Unblock {GUESSER}?" in question.text
    assert "So far: 12 incorrect passwords . Accounts: customer@example.com (12)" in question.text
    done = console.follow(console.send(f"{PAGE}unblock", {"address": GUESSER}, seen_at=ASK))
    assert f"Unblocked {GUESSER}" in done.text
    assert "No blocked IPs" in done.text
    assert shop.throttle.find(GUESSER, shop.clock.timestamp()) is None


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("198.51.100.1", "This IP address has no failed sign-ins"),
        ("x<b>", "Enter a valid IP address"),
    ],
)
def test_failed_unblock_is_reported(
    staff_console: StaffConsole, address: str, message: str
) -> None:
    console = staff_console(MAY)
    done = console.follow(console.send(f"{PAGE}unblock", {"address": address}, seen_at=PAGE))
    assert message in done.text


def test_machines_that_forward_without_being_trusted_are_warned_of(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    assert "TRUSTED_PROXIES" in console.open(PAGE).text
    with shop.database.transaction() as session:
        seen = shop.clock.now()
        session.add(models.Forwarding(peer="10.1.2.3", requests=40, last_seen_at=seen))
    page = console.open(PAGE).text
    assert "1 server that isn't a trusted proxy forwards requests" in page
    assert "10.1.2.3 : 40 requests this week, last now" in page


def test_the_page_costs_six_statements_at_most(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    console = staff_console(MAY)
    fail(shop, user_id=make_user(shop))
    with statements() as seen:
        console.open(PAGE)
    assert len(seen) <= 6


@pytest.fixture
def silent(shop: Ports, tmp_path: Path) -> ConsoleClient:
    """A desk of a shop whose store of login attempts stopped answering after signing in."""
    make_staff(shop, "staff@example.com", MAY)
    console = ConsoleClient(create_app(shop, Settings()).test_client(), shop)
    assert console.sign_in("staff@example.com").status == 303
    throttle = connect_redis_throttle(f"unix://{tmp_path}/nobody.sock")
    app = console.client.application
    install(app, replace(installation_of(app), ports=replace(shop, throttle=throttle)))
    return console


def test_unavailable_throttle_store_is_reported(silent: ConsoleClient) -> None:
    page = silent.open(PAGE)
    assert page.status == 200
    assert "The store of sign-in attempts isn't responding" in page.text
    assert f"Unblock {GUESSER}?" not in silent.open(ASK).text
    done = silent.follow(silent.send(f"{PAGE}unblock", {"address": GUESSER}, seen_at=PAGE))
    assert "no IP address can be unblocked" in done.text
