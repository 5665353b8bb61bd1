"""Navigation, Home and search lead only to pages that the person can open, and to all of those."""

import html
import re

import pytest
from flask import Flask, url_for

from app.console.frame.navigation import all_places, other_places
from app.domain.authorization.permissions import Permission
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient

EVERYONE = {"/console/", "/console/apps/", "/console/dry-run/", "/console/inspector/"}


def links(page: str) -> set[str]:
    """Return the pages of the console that a part of a page links to."""
    found = re.findall(r'<a[^>]*href="([^"#]*)', page)
    return {html.unescape(one) for one in found if one.startswith("/console/")}


def navigation(console: ConsoleClient) -> set[str]:
    page = console.open("/console/").html
    return links(page[page.index('<nav class="lk-nav"') :].partition("</nav>")[0])


def paths(app: Flask) -> tuple[set[str], set[str]]:
    """Return the paths of the side column's pages, and of those that only search finds."""
    with app.test_request_context():
        listed, others = (
            {url_for(place.endpoint) for place in places}
            for places in (all_places(), other_places())
        )
    return listed, others


@pytest.mark.first
@pytest.mark.parametrize("permission", [None, *Permission])
def test_navigation_lists_exactly_the_pages_that_open(
    app: Flask, staff_console: StaffConsole, permission: Permission | None
) -> None:
    console = staff_console(*([permission] if permission else []))
    listed, _ = paths(app)
    opening = {path for path in listed if console.open(path).status == 200}
    assert navigation(console) == opening
    assert opening >= EVERYONE


@pytest.mark.parametrize("permission", [None, *Permission])
def test_home_links_only_to_pages_that_open(
    staff_console: StaffConsole, permission: Permission | None
) -> None:
    console = staff_console(*([permission] if permission else []))
    page = console.open("/console/").html
    main = links(page[page.index("<main") :].partition("</main>")[0])
    assert [path for path in main if console.open(path).status != 200] == []


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
    _, others = paths(app)
    for word in ("add", "new", "groups", "who", "own", "keys", "install"):
        found = links(console.open(f"/console/search/?q={word}").html.partition("data-results")[2])
        assert [path for path in found & others if console.open(path).status != 200] == []
