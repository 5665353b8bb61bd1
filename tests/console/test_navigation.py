"""Navigation, Home and search lead only to pages that the person can open, and to all of those."""

import html
import re

import pytest
from flask import Flask, url_for

from app.console.frame.navigation import all_places, other_places
from app.domain.authorization.permissions import Permission
from tests.console.conftest import StaffConsole
from tests.console.test_route_permissions import EACH, OPENED_BY

EVERYONE = {"/console/", "/console/apps/", "/console/dry-run/", "/console/inspector/"}


def links(page: str) -> set[str]:
    """Return the pages of the console that a part of a page links to."""
    found = re.findall(r'<a[^>]*href="([^"#]*)', page)
    return {html.unescape(one) for one in found if one.startswith("/console/")}


def part(page: str, start: str, end: str) -> str:
    return page[page.index(start) :].partition(end)[0]


KINDS: tuple[tuple[Permission, ...], ...] = (
    (),
    *((permission,) for permission in EACH),
    tuple(permission for permission in Permission if permission not in EACH),
)
"""What people hold: nothing, what opens pages one by one, and everything else at once."""


@pytest.mark.first
def test_navigation_and_home_link_to_exactly_the_pages_that_open(
    app: Flask, staff_console: StaffConsole
) -> None:
    """``test_route_permissions`` shows what opens which page."""
    with app.test_request_context():
        listed = {url_for(place.endpoint): OPENED_BY[place.endpoint] for place in all_places()}
    for number, held in enumerate(KINDS):
        console = staff_console(*held, email=f"{number}@example.com")
        page = console.open("/console/").html
        opening = {path for path, by in listed.items() if by == EACH or {*by} & {*held}}
        assert links(part(page, '<nav class="lk-nav"', "</nav>")) == opening, held
        assert opening >= EVERYONE, held
        main = links(part(page, "<main", "</main>")) - opening
        assert [path for path in main if console.open(path).status != 200] == [], held


def test_actions_are_for_those_who_can_take_them(staff_console: StaffConsole) -> None:
    few = staff_console(Permission.MANAGE_ORDERS)
    many = staff_console(Permission.MANAGE_APPS, email="apps@example.com")
    assert "Create app" not in few.open("/console/").text
    assert "Create app" in many.open("/console/").text
    assert "Change password login" not in many.open("/console/").text
    for action, label in (("invite", "Invite staff member"), ("new", "Create group")):
        assert label not in few.open(f"/console/search/?q={action}").text
    staff = staff_console(Permission.MANAGE_STAFF, email="boss@example.com")
    assert "Invite staff member" in staff.open("/console/search/?q=invite").text


def test_search_offers_only_pages_that_open(app: Flask, staff_console: StaffConsole) -> None:
    console = staff_console(Permission.MANAGE_USERS)
    with app.test_request_context():
        others = {url_for(place.endpoint) for place in other_places()}
    for word in ("add", "new", "groups", "who", "own", "keys", "install"):
        found = links(console.open(f"/console/search/?q={word}").html.partition("data-results")[2])
        assert [path for path in found & others if console.open(path).status != 200] == []
