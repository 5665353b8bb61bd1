"""Pages about what grows without bound, and their tabs: few statements, however much there is."""

import re
from html import unescape

from flask import Flask

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.people import make_staff
from tests.console.populated_shop import open_console
from tests.console.route_requests import routes_about_others
from tests.fixtures.statements import recorded_statements, selects

MOST = 8
OWN = "/console/account/security/"
_TAB = re.compile(r'href="([^"]*\?view=[a-z-]+)"')


def test_every_list_and_page_of_a_thing_takes_few_statements(
    console_app: Flask, populated_shop: Ports
) -> None:
    make_staff(populated_shop, "boss@example.com", *Permission)
    console = open_console(console_app, populated_shop, "boss@example.com")
    pages = {
        route.address
        for route in routes_about_others(console_app)
        if route.method == "GET" and route.endpoint.endswith((".index", ".show"))
    }
    assert {"/console/", "/console/customers/", "/console/audit/", "/console/sign-ins/"} <= pages
    assert len(pages) > 25
    tabs = {
        unescape(address)
        for page in pages
        for address in _TAB.findall(console.open(page).html)
        if unescape(address).partition("?")[0] in pages
    }
    assert "/console/apps/1?view=activity" in tabs
    found = {}
    for address in [*pages, *tabs, OWN, *(f"{address}?q=ann" for address in pages)]:
        console.open(address)  # what a process reads once is read before
        with recorded_statements() as statements:
            console.open(address)
        found[address] = len(selects(statements))
    assert {address: count for address, count in found.items() if count > MOST} == {}
    assert max(found.values()) > 1
