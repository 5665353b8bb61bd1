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
    opened = [route for route in routes_about_others(console_app) if route.method == "GET"]
    lists = {route.address for route in opened if route.endpoint.endswith(".index")}
    others = {
        route.address for route in opened if route.endpoint.endswith((".show", ".new", ".edit"))
    }
    pages = lists | others
    assert {"/console/", "/console/customers/", "/console/audit/", "/console/sign-ins/"} <= pages
    assert len(pages) > 25
    console.open("/console/")  # what a process reads once is read before
    shown, found = {}, {}

    def look_at(address: str) -> None:
        with recorded_statements() as statements:
            shown[address] = console.open(address).html
        found[address] = len(selects(statements))

    for page in pages:
        look_at(page)
    linked = {unescape(each) for page in shown.values() for each in _TAB.findall(page)}
    views = {address for address in linked if address.partition("?")[0] in pages}
    tabs = {address for address in views if "?view=" in address}
    assert "/console/apps/1?view=activity" in tabs
    assert len(views - tabs) > 5  # pages with a question
    presets = [f"{ADDING}?preset={name}" for name in PRESETS]
    for address in [*views - pages, OWN, *presets, *(f"{list_page}?q=ann" for list_page in lists)]:
        look_at(address)
    cancels = {address: page.count(_CANCEL) for address, page in shown.items()}
    assert {address: count for address, count in cancels.items() if count > 1} == {}
    assert max(cancels.values()) == 1
    assert {address: count for address, count in found.items() if count > MOST} == {}
    assert max(found.values()) > 1
