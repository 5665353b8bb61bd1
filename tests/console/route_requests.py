"""The ways through the console: every route by each of its methods, and how one takes them."""

from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus

from flask import Flask
from werkzeug.test import TestResponse

from app.models.record import complete_metadata
from app.ports import Ports
from tests.browser.pages import address_of
from tests.console.staff_client import ConsoleClient

KEYS = {"customers": 2, "oauth_clients": 2}
"""Of the page groups whose first row has another key than 1."""

OWN_GROUPS = (
    "account",
    "device",
    "creations",
    "not_me",
    "passkeys",
    "passwords",
    "preferences",
    "search",
    "second_factor_rule",
    "second_factors",
    "sign_in",
    "sign_in_code",
)
"""Pages about oneself, and the search, which finds what one may see."""

ACTIVITY_TABLES = (
    "form_answers",
    "form_submissions",
    "oidc_states",
    "second_factor_challenges",
    "sessions",
    "throttle_addresses",
    "throttle_users",
)
"""What signing in, trying to, and sending a form leave behind."""


@dataclass(frozen=True, slots=True)
class Route:
    """A route by one of its methods, at an address that it answers."""

    endpoint: str
    method: str
    address: str


def all_routes(console_app: Flask) -> list[Route]:
    """All of them; the one that ends the session comes last."""
    found = list(_routes(console_app))
    assert len(found) > 60
    return sorted(found, key=lambda route: (route.endpoint.endswith(".leave"), route.method))


def routes_about_others(console_app: Flask) -> list[Route]:
    """All but those that are about whoever takes them."""
    return [
        route
        for route in all_routes(console_app)
        if route.endpoint.split(".")[1] not in OWN_GROUPS
    ]


def _routes(console_app: Flask) -> Iterator[Route]:
    for rule in console_app.url_map.iter_rules():
        if rule.rule.startswith("/console/"):
            for method in {"GET", "POST"} & set(rule.methods or ()):
                yield Route(rule.endpoint, method, address_of(console_app, rule, KEYS))


def request_route(console: ConsoleClient, route: Route) -> TestResponse:
    """Take a way; an empty form carries a valid token."""
    if route.method == "GET":
        return console.client.get(route.address)
    answer = console.client.post(route.address, data={"csrf_token": console.token()})
    if answer.status_code != HTTPStatus.BAD_REQUEST:
        return answer
    # A route before this one ended the session, and the token with it.
    return console.client.post(route.address, data={"csrf_token": console.token(anew=True)})


def records(shop: Ports) -> dict[str, list[tuple[object, ...]]]:
    """All that the shop has on record."""
    with shop.database.reading() as session:
        connection = session.connection()
        return {
            name: [tuple(row) for row in connection.exec_driver_sql(f'SELECT * FROM "{name}"')]  # noqa: S608
            for name in complete_metadata().tables
            if name not in ACTIVITY_TABLES
        }
