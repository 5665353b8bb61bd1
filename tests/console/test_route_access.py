"""Every route of the console, every kind of caller: nobody gets further than they may."""

from urllib.parse import urlencode

import pytest
from flask import Flask
from sqlalchemy import select, update

from app import models
from app.console.overview.pages import OPEN, WORTHLESS_TOO
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from tests.builders.people import sessions_of, sign_in
from tests.builders.shop import set_mode
from tests.console.populated_shop import ADMIN, CUSTOMER, STAFF, open_console
from tests.console.route_requests import (
    OWN_GROUPS,
    all_routes,
    records,
    request_route,
    routes_about_others,
)
from tests.console.staff_client import ConsoleClient

pytestmark = pytest.mark.first

FOR_ADMINS = (200, 301, 303, 404, 422)

LOOKED_AT = {
    "console.app_installation.index",
    "console.app_tokens.make",
    "console.apps.connect",
    "console.apps.export",
    "console.apps.index",
    "console.apps.show",
    "console.dry_run.index",
    "console.events.index",
    "console.home.index",
    "console.inspector.index",
    "console.webhook_editing.check",
}
"""What staff may look at who hold no permission; forms there say what is missing."""

MARK = '"><img src=x onerror=alert(1)>'
MARKED: dict[type[models.Record], tuple[str, ...]] = {
    models.App: ("name", "about", "author", "version", "app_url", "support_url"),
    models.Group: ("name",),
    models.IdentityProvider: ("name",),
    models.Shop: ("name",),
    models.Webhook: ("name", "query", "target_url"),
    models.Delivery: ("payload", "given_up"),
    models.DeliveryAttempt: ("response",),
}
QUERY_NAMES = (
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
    "scope",
    "name",
)
"""What pages read from their address."""
STRICT = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
SANDBOXED = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
"""The policy of an email that a preview shows in a frame."""


def make_admin(console_app: Flask, shop: Ports, origin: SessionOrigin) -> ConsoleClient:
    """A desk with somebody who may do everything, and came in that way."""
    console = open_console(console_app, shop, ADMIN)
    with shop.database.transaction() as session:
        session.execute(update(models.Session).values(origin=origin.value))
    return console


def test_every_page_needs_a_session(console_app: Flask, populated_shop: Ports) -> None:
    console = open_console(console_app, populated_shop)
    before = records(populated_shop)
    for route in all_routes(console_app):
        answer = request_route(console, route)
        if route.endpoint in OPEN:
            assert answer.status_code < 500, route
        else:
            assert answer.status_code == 303, route
            assert answer.headers["Location"].startswith("/console/sign-in"), route
    assert records(populated_shop) == before


def test_customers_get_no_cookie_and_none_would_let_them_in(
    console_app: Flask, populated_shop: Ports
) -> None:
    assert open_console(console_app, populated_shop).sign_in(CUSTOMER).status == 422
    console = open_console(console_app, populated_shop, ADMIN)
    customer = _key_of(populated_shop, CUSTOMER)
    sign_in(populated_shop, customer)
    with console.client.session_transaction("/console/") as kept:
        kept["user"], kept["_user_id"] = customer, sessions_of(populated_shop, customer)[0].token
    for route in all_routes(console_app):
        if route.endpoint not in OPEN:
            assert request_route(console, route).status_code == 303, route


def test_staff_without_permissions_change_nothing_and_see_little(
    console_app: Flask, populated_shop: Ports
) -> None:
    console = open_console(console_app, populated_shop, STAFF)
    before = records(populated_shop)
    statuses = {
        route: request_route(console, route).status_code
        for route in routes_about_others(console_app)
    }
    assert {route: status for route, status in statuses.items() if status >= 500} == {}
    assert {route.endpoint for route, status in statuses.items() if status == 200} == LOOKED_AT
    assert records(populated_shop) == before
    page = console.open("/console/deliveries/")
    assert page.status == 403
    assert "MANAGE_APPS" in page.text


def test_invalid_session_opens_no_page(console_app: Flask, populated_shop: Ports) -> None:
    console = open_console(console_app, populated_shop, ADMIN)
    set_mode(populated_shop, PasswordLoginMode.CUSTOMERS_ONLY)
    before = records(populated_shop)
    for route in all_routes(console_app)[:-1]:
        answer = request_route(console, route)
        if route.endpoint in WORTHLESS_TOO:
            assert answer.status_code < 500, route
        else:
            assert answer.status_code == 403, route
    assert records(populated_shop) == before


@pytest.mark.one_of("origin")
@pytest.mark.parametrize("origin", list(SessionOrigin)[:2])
def test_no_route_fails_for_a_superuser(
    console_app: Flask, populated_shop: Ports, origin: SessionOrigin
) -> None:
    """Send all forms; ``test_no_page_renders_input_as_markup`` opens the pages."""
    console = make_admin(console_app, populated_shop, origin)
    for route in all_routes(console_app):
        if route.method == "GET":
            continue
        answer = request_route(console, route)
        if answer.status_code == 409:
            # An empty form doesn't say what it showed: take what is stored as seen.
            answer = console.send(route.address, seen_at="/console/keyboard").response
        assert answer.status_code in FOR_ADMINS, route
        if answer.headers.get("Location", "").startswith("/console/sign-in"):
            assert route.endpoint.split(".")[1] in OWN_GROUPS, route
            console = make_admin(console_app, populated_shop, origin)


@pytest.mark.parametrize("email", ["", ADMIN])
def test_no_form_is_taken_without_its_token(
    console_app: Flask, populated_shop: Ports, email: str
) -> None:
    console = open_console(console_app, populated_shop, email)
    before = records(populated_shop)
    for route in all_routes(console_app):
        if route.method == "POST":
            answer = console.client.post(route.address, data={"csrf_token": "made up"})
            refused = 400 if email or route.endpoint in OPEN else 303
            assert answer.status_code == refused, route
    assert records(populated_shop) == before


@pytest.mark.one_of("origin")
@pytest.mark.parametrize("origin", list(SessionOrigin)[:2])
def test_no_page_renders_input_as_markup(
    console_app: Flask, populated_shop: Ports, origin: SessionOrigin
) -> None:
    _mark_all_texts(populated_shop)
    console = make_admin(console_app, populated_shop, origin)
    query = urlencode(dict.fromkeys(QUERY_NAMES, MARK))
    seen = 0
    for route in all_routes(console_app):
        if route.method == "GET":
            for address in (route.address, f"{route.address}?{query}"):
                answer = console.client.get(address)
                assert answer.status_code in FOR_ADMINS, address
                if answer.headers.get("Location", "").startswith("/console/sign-in"):
                    assert route.endpoint.split(".")[1] in OWN_GROUPS, address
                page = answer.get_data(as_text=True)
                seen += "onerror" in page
                if answer.mimetype == "text/html":
                    assert "<img src=x" not in page, address
                    policy = answer.headers["Content-Security-Policy"]
                    is_framed = route.endpoint.endswith(".framed")
                    assert policy.startswith(SANDBOXED if is_framed else STRICT), address
    assert seen > 40


def _mark_all_texts(shop: Ports) -> None:
    """Put markup into every text that people or machines can bring in."""
    with shop.database.transaction() as session:
        for table, columns in MARKED.items():
            session.execute(update(table).values(dict.fromkeys(columns, MARK)))
        session.execute(update(models.User).values(first_name=MARK, last_name=MARK))


def _key_of(shop: Ports, email: str) -> int:
    with shop.database.reading() as session:
        return session.scalars(select(models.User.id).where(models.User.email == email)).one()
