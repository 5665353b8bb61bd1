"""Times of the console are in the person's own time zone."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from app.console.frame.formatting import clock_time, exact, relative, use_time_zone
from app.domain.accounts.users import time_zones
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import ShopUpdate
from app.ports import Ports
from app.services.shop.settings import show_settings, update_shop
from tests.builders.audit import trail
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

WINTER = datetime(2026, 3, 1, 23, 30, 5, tzinfo=UTC)
SUMMER = datetime(2026, 7, 1, 23, 30, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _utc_afterwards() -> Iterator[None]:
    yield
    use_time_zone(None)


@pytest.fixture
def console(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console()


@cases(
    ("zone", "winter", "summer"),
    [
        (None, "1 Mar 2026, 23:30:05 UTC", "1 Jul 2026, 23:30:05 UTC"),
        ("Europe/Berlin", "2 Mar 2026, 00:30:05 CET", "2 Jul 2026, 01:30:05 CEST"),
        ("Asia/Kolkata", "2 Mar 2026, 05:00:05 IST", "2 Jul 2026, 05:00:05 IST"),
        ("America/Sao_Paulo", "1 Mar 2026, 20:30:05 UTC-03:00", "1 Jul 2026, 20:30:05 UTC-03:00"),
        ("Asia/Kathmandu", "2 Mar 2026, 05:15:05 UTC+05:45", "2 Jul 2026, 05:15:05 UTC+05:45"),
        ("Nowhere/Else", "1 Mar 2026, 23:30:05 UTC", "1 Jul 2026, 23:30:05 UTC"),
    ],
)
def test_moment_names_its_time_zone(zone: str | None, winter: str, summer: str) -> None:
    use_time_zone(zone)
    assert (exact(WINTER), exact(SUMMER)) == (winter, summer)


def test_days_and_years_are_those_of_the_time_zone() -> None:
    use_time_zone("Europe/Berlin")
    assert clock_time(WINTER, WINTER - timedelta(hours=2)) == "tomorrow at 00:30 CET"
    assert clock_time(WINTER, WINTER + timedelta(minutes=1)) == "today at 00:30 CET"
    eve = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
    assert relative(eve, eve + timedelta(days=9)) == "1 Jan, 00:30 CET"


def test_person_chooses_a_time_zone_for_every_page(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(Permission.MANAGE_SETTINGS)
    other = staff_console(email="other@example.com")
    assert "12:00:00 UTC" in console.open("/console/").text
    saved = console.send(
        "/console/account/preferences", {"time_zone": " asia/tokyo "}, seen_at="/console/account/"
    )
    account = console.follow(saved)
    assert "Preferences saved." in account.text
    assert 'value="Asia/Tokyo"' in account.html.partition('name="time_zone"')[2][:400]
    assert "1 Mar 2026, 21:00:00 JST" in console.open("/console/").text
    assert "12:00:00 UTC" in other.open("/console/").text
    (change,) = trail(shop, "account.update")
    assert (change.before, change.after) == ({"time_zone": None}, {"time_zone": "Asia/Tokyo"})
    console.send("/console/account/preferences", {"time_zone": ""}, seen_at="/console/account/")
    assert "12:00:00 UTC" in console.open("/console/").text


@cases("name", ["Europe/Atlantis", "../etc/passwd", "x" * 300])
def test_unknown_time_zone_is_refused_at_its_field(console: ConsoleClient, name: str) -> None:
    refused = console.send(
        "/console/account/preferences", {"time_zone": name}, seen_at="/console/account/"
    )
    assert refused.status == 422
    assert "Choose a time zone from the list." in refused.text
    assert "12:00:00 UTC" in console.open("/console/").text


def test_entered_moments_and_days_are_in_the_time_zone(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(Permission.MANAGE_SETTINGS, Permission.MANAGE_STAFF)
    console.send(
        "/console/account/preferences", {"time_zone": " asia/tokyo "}, seen_at="/console/account/"
    )
    closing = "/console/access/?ask=storefront&open=false"
    assert "24-hour time in Asia/Tokyo." in console.open(closing).text
    console.send(
        "/console/access/storefront",
        {"open": "false", "opens_at": "2026-03-01 22:00"},
        seen_at=closing,
    )
    opens_at = show_settings(shop, OPERATOR).storefront_opens_at
    assert opens_at == datetime(2026, 3, 1, 13, tzinfo=UTC)
    assert "Opens today at 22:00 JST" in console.open("/console/").text
    assert 'value="2026-03-01 22:00"' in console.open(closing).html
    clock.pass_(hours=3)  # midnight in Tokyo
    update_shop(shop, OPERATOR, ShopUpdate(allow_storefront_traffic=True))
    console.sign_in("staff@example.com")
    found = console.open("/console/audit/?from=2026-03-02").text
    assert re.search(r"\b1 (of \d+ entries|entry)", found)


def test_zones_have_one_name_each_by_area() -> None:
    assert {"Europe/Berlin", "America/Argentina/Ushuaia", "Pacific/Auckland"} <= set(time_zones())
    assert not {"UTC", "CET", "US/Eastern", "Etc/GMT+1"} & set(time_zones())
    assert all(len(name) <= 64 for name in time_zones())
