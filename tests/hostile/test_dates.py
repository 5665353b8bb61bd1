"""Dates at the ends of the calendar, which not every time zone can show."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from sqlalchemy import update

from app import models
from app.adapters.mail.email_templates import JinjaEmailTemplates
from app.console.frame.formatting import clock_element, day, exact, time_element, use_time_zone
from app.domain.authorization.actor import OPERATOR
from app.domain.mails.mail import Mail, MailKind
from app.models.record import UtcDateTime, complete_metadata
from app.ports import Ports
from app.services.shop.settings import show_settings
from tests.builders.people import make_user, sign_in
from tests.builders.shop import configure_shop, shop_settings
from tests.commands.shell import run
from tests.console.populated_shop import ADMIN, open_console, populate
from tests.console.route_requests import ACTIVITY_TABLES, all_routes
from tests.fixtures.cases import cases
from tests.fixtures.kept_application import AppOn
from tests.fixtures.one_of_each import InTurn
from tests.graphql.shop_client import ApiClient

LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
FIRST = datetime(1, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
EAST, WEST = "Pacific/Kiritimati", "America/Los_Angeles"
NOT_SHOWN = {
    *("failing_since", "second_factor_from", "tokens_valid_after"),
    *("next_attempt_at", "lease_until", "due_at"),
}
"""What decides, rather than is shown, or never comes from outside."""

OWN_DATES = ("deliveries", "delivery_attempts", "signing_keys")
"""Tables whose dates never come from outside."""


@pytest.fixture(autouse=True)
def _utc_afterwards() -> Iterator[None]:
    yield
    use_time_zone(None)


@cases(("moment", "zone"), product([FIRST, LAST], [EAST, WEST, "Europe/Berlin"]))
def test_stored_date_is_shown_as_near_as_can_be(moment: datetime, zone: str) -> None:
    use_time_zone(zone)
    year = "0001" if moment is FIRST else "9999"
    for write in (
        exact,
        day,
        lambda at: time_element(at, FIRST),
        lambda at: clock_element(at, LAST),
    ):
        assert year in write(moment)


@pytest.mark.first
def test_no_page_fails_on_a_stored_date(ports: Ports, app_on: AppOn, in_turn: InTurn) -> None:
    populate(ports)
    application = app_on(ports)
    console = open_console(application, ports, ADMIN)
    routes = [route for route in all_routes(application) if route.method == "GET"]
    for moment, zone in ((LAST, EAST), (FIRST, WEST)):
        store_dates(ports, moment, zone)
        for route in in_turn(routes, len(routes) // 2):
            assert console.open(route.address).status < 500, (zone, route.address)


def store_dates(ports: Ports, moment: datetime, zone: str) -> None:
    with ports.database.transaction() as session:
        for table in complete_metadata().tables.values():
            dates: dict[str, Any] = {
                column.name: moment
                for column in table.columns
                if isinstance(column.type, UtcDateTime) and column.name not in NOT_SHOWN
            }
            if dates and table.name not in (*ACTIVITY_TABLES, *OWN_DATES):
                session.execute(update(table).values(dates))
        session.execute(update(models.User).values(time_zone=zone))


@cases(("moment", "zone"), [(LAST, EAST), (FIRST, WEST)])
def test_email_says_a_stored_date(moment: datetime, zone: str) -> None:
    values = {
        "when": "",
        "address": "",
        "device": "",
        "not_me": "",
        "at": moment.isoformat(),
        "time_zone": zone,
    }
    mail = Mail(MailKind.PASSWORD_CHANGED, "ann@example.com", values, "DE")
    assert str(moment.year) in JinjaEmailTemplates().render(mail, shop_settings()).text


OPENS_AT = """mutation ($at: DateTime) {
  shopSettingsUpdate(input: {storefrontOpensAt: $at}) {
    errors { field code message } shop { storefrontOpensAt }
  }
}"""
UNSHOWABLE = [
    *("9999-12-31T23:59:00+00:00", "0001-01-01T00:00:00+00:00"),
    *("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "9999-12-31T00:00:00"),
]


def test_date_is_refused_by_the_api(ports: Ports) -> None:
    admin = make_user(ports, ADMIN, is_superuser=True)
    token = sign_in(ports, admin).access
    configure_shop(ports, allow_storefront_traffic=False)
    api = ApiClient(ports)
    for written in UNSHOWABLE:
        answer = api.post({"query": OPENS_AT, "variables": {"at": written}}, token).json
        [error] = answer["data"]["shopSettingsUpdate"]["errors"]
        assert (error["field"], error["code"]) == ("storefrontOpensAt", "INVALID"), written
        assert error["message"] == "Enter a date from 0001-01-02 to 9999-12-30."
    usable = {"query": OPENS_AT, "variables": {"at": "9999-12-30T10:00:00+00:00"}}
    changed = api.post(usable, token).json["data"]["shopSettingsUpdate"]
    assert changed["errors"] == []
    assert changed["shop"]["storefrontOpensAt"] == "9999-12-30T10:00:00+00:00"


def test_date_is_refused_by_commands(ports: Ports) -> None:
    configure_shop(ports, allow_storefront_traffic=False)
    for written in UNSHOWABLE:
        result = run(ports, "shop", "set", "storefront-opens-at", written)
        assert result.exit_code == 2, written
        assert "Enter a date from 0001-01-02 to 9999-12-30." in result.stderr
    assert show_settings(ports, OPERATOR).storefront_opens_at is None
    assert run(ports, "shop", "set", "storefront-opens-at", "9999-12-30T23:59").exit_code == 0


def test_date_is_refused_by_forms(ports: Ports, app_on: AppOn) -> None:
    make_user(ports, ADMIN, is_superuser=True)
    console = open_console(app_on(ports), ports, ADMIN)
    page = "/console/access/?ask=storefront&open=false"
    for written in ("9999-12-31 23:59", "0001-01-01 00:00"):
        closing = {"open": "false", "note": "", "opens_at": written}
        refused = console.send("/console/access/storefront", closing, seen_at=page)
        assert refused.status == 422, written
        assert "Enter a date from 0001-01-02 to 9999-12-30." in refused.text
    assert show_settings(ports, OPERATOR).storefront_opens_at is None


def test_lists_can_be_narrowed_to_all_of_time(ports: Ports) -> None:
    admin = make_user(ports, ADMIN, is_superuser=True)
    token = sign_in(ports, admin).access
    query = """query ($moments: DateTimeRangeInput, $days: DateRangeInput) {
      orders(first: 5, filter: {updatedAt: $moments, created: $days}) { totalCount }
      signInEvents(first: 5, filter: {at: $moments}) { totalCount }
    }"""
    ranges = {
        "moments": {"gte": "0001-01-01T00:00:00+14:00", "lte": "9999-12-31T23:59:59-14:00"},
        "days": {"gte": "0001-01-01", "lte": "9999-12-31"},
    }
    answer = ApiClient(ports).post({"query": query, "variables": ranges}, token).json
    assert "errors" not in answer
