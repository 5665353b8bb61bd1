"""The ways through the console: every route by each of its methods, and how one takes them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from flask import Flask
from werkzeug.test import TestResponse

from app.models.record import complete_metadata
from app.ports import Ports
from tests.browser.pages import address_of
from tests.console.staff_client import Desk

KEYS = {"customers": 2}
"""Of the page groups whose first row has another key than 1."""

OWN_GROUPS = ("account", "passwords", "preferences", "search", "sign_in")
"""Pages about oneself, and the search, which finds what one may see."""

TRACES = ("sessions", "throttle_addresses", "throttle_users", "oidc_states")
"""What signing in, and trying to, leaves behind."""


@dataclass(frozen=True, slots=True)
class Way:
    """A route by one of its methods, at an address that it answers."""

    endpoint: str
    method: str
    address: str


def every_way(console: Flask) -> list[Way]:
    """All of them; the one that ends the session comes last."""
    found = list(_ways(console))
    assert len(found) > 60
    return sorted(found, key=lambda way: (way.endpoint.endswith(".leave"), way.method))


def others_ways(console: Flask) -> list[Way]:
    """All but those that are about whoever takes them."""
    return [way for way in every_way(console) if way.endpoint.split(".")[1] not in OWN_GROUPS]


def _ways(console: Flask) -> Iterator[Way]:
    for rule in console.url_map.iter_rules():
        if rule.rule.startswith("/console/"):
            for method in {"GET", "POST"} & set(rule.methods or ()):
                yield Way(rule.endpoint, method, address_of(console, rule, KEYS))


def go(desk: Desk, way: Way) -> TestResponse:
    """Take a way; an empty form carries a valid token."""
    shown = desk.open("/console/sign-in")
    if shown.status == 303:
        shown = desk.open("/console/keyboard")
    found = re.search(r'name="csrf_token" value="([^"]+)"', shown.html)
    token = {} if found is None else {"csrf_token": found[1]}
    return desk.client.open(way.address, method=way.method, data=token)


def records(shop: Ports) -> dict[str, list[tuple[object, ...]]]:
    """All that the shop has on record."""
    with shop.database.reading() as session:
        return {
            table.name: [tuple(row) for row in session.execute(table.select())]
            for table in complete_metadata().sorted_tables
            if table.name not in TRACES
        }
