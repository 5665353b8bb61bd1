"""Pages about what grows without bound, their tabs and questions: few statements, one Cancel."""

import re
from html import unescape

import pytest
from flask import Flask

from app.console.security.provider_editing import PRESETS
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.people import make_staff
from tests.builders.provider_records import make_provider
from tests.console.populated_shop import open_console
from tests.console.route_requests import routes_about_others
from tests.fixtures.statements import recorded_statements, selects

MOST = 8
ADDING = "/console/single-sign-on/new"
OWN = "/console/account/security/"
_TAB = re.compile(r'href="([^"]*\?(?:view|ask)=[a-z-]+)"')
_CANCEL = ">Cancel</a>"


@pytest.mark.first
def test_every_list_and_page_of_a_thing_takes_few_statements_and_has_one_cancel(
    console_app: Flask, populated_shop: Ports
) -> None:
    make_staff(populated_shop, "boss@example.com", *Permission)
    for place in range(1, 9):
        slug = "keycloak" if place == 1 else f"keycloak-{place}"
        make_provider(populated_shop, slug=slug, issuer=f"https://{slug}.example")
    console = open_console(console_app, populated_shop, "boss@example.com")
    pages = {
        route.address
        for route in routes_about_others(console_app)
        if route.method == "GET" and route.endpoint.endswith((".index", ".show", ".new", ".edit"))
    }
    assert {"/console/", "/console/customers/", "/console/audit/", "/console/sign-ins/"} <= pages
    assert len(pages) > 25
    shown = {page: console.open(page).html for page in pages}
    linked = {unescape(found) for page in shown.values() for found in _TAB.findall(page)}
    views = {address for address in linked if address.partition("?")[0] in pages}
    tabs = {address for address in views if "?view=" in address}
    assert "/console/apps/1?view=activity" in tabs
    assert len(views - tabs) > 5  # pages with a question
    shown |= {address: console.open(address).html for address in views - pages}
    cancels = {address: page.count(_CANCEL) for address, page in shown.items()}
    assert {address: count for address, count in cancels.items() if count > 1} == {}
    assert max(cancels.values()) == 1
    found = {}
    presets = [f"{ADDING}?preset={name}" for name in PRESETS]
    for address in [*pages, *tabs, OWN, *presets, *(f"{address}?q=ann" for address in pages)]:
        if address.partition("?")[0] not in pages:
            console.open(address)  # what a process reads once is read before
        with recorded_statements() as statements:
            console.open(address)
        found[address] = len(selects(statements))
    assert {address: count for address, count in found.items() if count > MOST} == {}
    assert max(found.values()) > 1
