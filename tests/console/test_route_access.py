"""Every route of the console, every kind of caller: nobody gets further than they may."""

from urllib.parse import urlencode

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.console.view import OPEN, WORTHLESS_TOO
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from app.models import (
    AppRecord,
    DeliveryAttemptRecord,
    DeliveryRecord,
    GroupRecord,
    IdentityProviderRecord,
    Record,
    SessionRecord,
    ShopRecord,
    UserRecord,
    WebhookRecord,
)
from app.ports import Ports
from tests.builders.people import sessions_of, sign_in
from tests.builders.shop import set_mode
from tests.console.populated_shop import ADMIN, CUSTOMER, STAFF, at_the_desk
from tests.console.route_requests import OWN_GROUPS, every_way, go, others_ways, records
from tests.console.staff_client import Desk

FOR_ADMINS = (200, 303, 404, 422)

LOOKED_AT = {
    "console.app_installation.index",
    "console.app_tokens.make",
    "console.apps.connect",
    "console.apps.index",
    "console.apps.show",
    "console.dry_run.index",
    "console.dry_run.run",
    "console.home.index",
    "console.inspector.index",
    "console.webhook_editing.check",
}
"""What staff may look at who hold no permission; forms there say what is missing."""

MARK = '"><img src=x onerror=alert(1)>'
MARKED: dict[type[Record], tuple[str, ...]] = {
    AppRecord: ("name", "about", "author", "version", "app_url", "support_url"),
    GroupRecord: ("name",),
    IdentityProviderRecord: ("name",),
    ShopRecord: ("name",),
    WebhookRecord: ("name", "query", "target_url"),
    DeliveryRecord: ("payload", "given_up"),
    DeliveryAttemptRecord: ("response",),
}
ASKED = (
    "q",
    "ask",
    "status",
    "event",
    "kind",
    "sort",
    "group",
    "by",
    "webhook",
    "object",
    "code",
    "from",
    "to",
    "query",
    "app",
    "url",
    "next",
    "address",
    "who",
    "action",
    "token",
    "after",
    "why",
)
"""What pages read from their address."""
STRICT = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "


def an_admin(console: Flask, shop: Ports, origin: SessionOrigin) -> Desk:
    """A desk with somebody who may do everything, and came in that way."""
    desk = at_the_desk(console, shop, ADMIN)
    with shop.database.transaction() as session:
        session.execute(update(SessionRecord).values(origin=origin.value))
    return desk


def test_every_page_needs_a_session(console: Flask, lived_in: Ports) -> None:
    desk = at_the_desk(console, lived_in)
    before = records(lived_in)
    for way in every_way(console):
        answer = go(desk, way)
        if way.endpoint in OPEN:
            assert answer.status_code < 500, way
        else:
            assert answer.status_code == 303, way
            assert answer.headers["Location"].startswith("/console/sign-in"), way
    assert records(lived_in) == before


def test_customers_get_no_cookie_and_none_would_let_them_in(
    console: Flask, lived_in: Ports
) -> None:
    assert at_the_desk(console, lived_in).sign_in(CUSTOMER).status == 422
    desk = at_the_desk(console, lived_in, ADMIN)
    customer = _key_of(lived_in, CUSTOMER)
    sign_in(lived_in, customer)
    with desk.client.session_transaction("/console/") as kept:
        kept["user"], kept["_user_id"] = customer, sessions_of(lived_in, customer)[0].token
    for way in every_way(console):
        if way.endpoint not in OPEN:
            assert go(desk, way).status_code == 303, way


def test_staff_without_permissions_change_nothing(console: Flask, lived_in: Ports) -> None:
    desk = at_the_desk(console, lived_in, STAFF)
    before = records(lived_in)
    for way in others_ways(console):
        assert go(desk, way).status_code < 500, way
    assert records(lived_in) == before


def test_staff_without_permissions_see_little_and_why(console: Flask, lived_in: Ports) -> None:
    desk = at_the_desk(console, lived_in, STAFF)
    let_in = {way.endpoint for way in others_ways(console) if go(desk, way).status_code == 200}
    assert let_in == LOOKED_AT
    told = at_the_desk(console, lived_in, STAFF).open("/console/deliveries/")
    assert told.status == 403
    assert "MANAGE_APPS" in told.text


def test_invalid_session_opens_no_page(console: Flask, lived_in: Ports) -> None:
    desk = at_the_desk(console, lived_in, ADMIN)
    set_mode(lived_in, PasswordLoginMode.CUSTOMERS_ONLY)
    before = records(lived_in)
    for way in every_way(console)[:-1]:
        answer = go(desk, way)
        if way.endpoint in WORTHLESS_TOO:
            assert answer.status_code < 500, way
        else:
            assert answer.status_code == 403, way
    assert records(lived_in) == before


@pytest.mark.parametrize("origin", list(SessionOrigin)[:2])
def test_no_route_fails_for_a_superuser(
    console: Flask, lived_in: Ports, origin: SessionOrigin
) -> None:
    desk = an_admin(console, lived_in, origin)
    for way in every_way(console):
        answer = go(desk, way)
        assert answer.status_code in FOR_ADMINS, way
        if answer.headers.get("Location", "").startswith("/console/sign-in"):
            assert way.endpoint.split(".")[1] in OWN_GROUPS, way
            desk = an_admin(console, lived_in, origin)


@pytest.mark.parametrize("email", ["", STAFF, ADMIN])
def test_no_form_is_taken_without_its_token(console: Flask, lived_in: Ports, email: str) -> None:
    desk = at_the_desk(console, lived_in, email)
    before = records(lived_in)
    for way in every_way(console):
        if way.method == "POST":
            answer = desk.client.post(way.address, data={"csrf_token": "made up"})
            refused = 400 if email or way.endpoint in OPEN else 303
            assert answer.status_code == refused, way
    assert records(lived_in) == before


def test_no_page_renders_input_as_markup(console: Flask, lived_in: Ports) -> None:
    _mark_everything(lived_in)
    desk = at_the_desk(console, lived_in, ADMIN)
    asked = urlencode(dict.fromkeys(ASKED, MARK))
    seen = 0
    for way in every_way(console):
        if way.method == "GET":
            for address in (way.address, f"{way.address}?{asked}"):
                answer = desk.client.get(address)
                page = answer.get_data(as_text=True)
                seen += "onerror" in page
                if answer.mimetype == "text/html":
                    assert "<img src=x" not in page, address
                    assert answer.headers["Content-Security-Policy"].startswith(STRICT), address
    assert seen > 40


def _mark_everything(shop: Ports) -> None:
    """Put markup into every text that people or machines can bring in."""
    with shop.database.transaction() as session:
        for table, columns in MARKED.items():
            session.execute(update(table).values(dict.fromkeys(columns, MARK)))
        session.execute(update(UserRecord).values(first_name=MARK, last_name=MARK))


def _key_of(shop: Ports, email: str) -> int:
    with shop.database.reading() as session:
        return session.scalars(select(UserRecord.id).where(UserRecord.email == email)).one()
