"""Saved filters above the lists of the console."""

import html
import re

import pytest
from flask import url_for
from sqlalchemy import update

from app import models
from app.console.frame.navigation import list_endpoint
from app.console.frame.saved_filters import EDIT, SAVE, filter_query, make_filter_chips
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.console.saved_filters import SavedFilter
from tests.builders.people import make_user
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient, Page

LISTS = (
    *("apps", "webhooks", "deliveries", "staff", "groups", "customers"),
    *("mails", "sign-ins", "single-sign-on", "blocked-ips", "audit"),
)
LIST = "/console/customers/"
SAVED = "/console/saved-filters/customers"
FAILED = SavedFilter(3, "Failed", "status=failed&q=a")
MAY = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
    Permission.MANAGE_PLUGINS,
)


def chips(page: Page) -> list[tuple[str, str, bool]]:
    """The name, URL and currency of each saved filter, and of what saves or edits one."""
    nav = r'<nav aria-label="Saved filters">(.*?)</nav>'
    found = re.search(nav, page.html, re.DOTALL)
    offer = re.search(r"<a [^>]*ask=save-filter[^>]*>.*?</a>", page.html, re.DOTALL)
    part = found[1] if found else offer[0] if offer else ""
    links = re.findall(r"<a ([^>]*)>(.*?)</a>", part, re.DOTALL)
    return [
        (
            html.unescape(name.strip()),
            html.unescape(re.search(r'href="([^"]*)"', attributes)[1]),  # type: ignore[index]
            "aria-current" in attributes,
        )
        for attributes, name in links
    ]


def test_nothing_is_shown_without_filters() -> None:
    assert make_filter_chips([], "audit", "/audit/", {}) is None
    assert make_filter_chips([], "audit", "/audit/", {"after": "x", "q": ""}) is None


def test_filter_of_the_url_can_be_saved() -> None:
    values = {"status": "failed", "after": "cursor", "select": "all", "q": ""}
    found = make_filter_chips([], "deliveries", "/d/", values)
    assert found is not None
    assert (found.chips, found.is_all) == ((), False)
    assert (found.ask, found.ask_url) == ("Save filter …", f"/d/?status=failed&ask={SAVE}")
    assert found.dialog is None
    asked = make_filter_chips([], "deliveries", "/d/", values | {"ask": SAVE})
    assert asked is not None
    assert asked.dialog is not None
    assert (asked.dialog.title, asked.dialog.query) == ("Save filter", "status=failed")
    assert asked.dialog.back == "/d/?status=failed"


def test_saved_filter_is_current_in_whatever_order_its_values_are() -> None:
    found = make_filter_chips([FAILED], "deliveries", "/d/", {"q": "a", "status": "failed"})
    assert found is not None
    (chip,) = found.chips
    assert (chip.label, chip.url, chip.is_current) == ("Failed", "/d/?status=failed&q=a", True)
    assert found.ask == "Edit filter …"
    edited = make_filter_chips(
        [FAILED], "deliveries", "/d/", {"q": "a", "status": "failed", "ask": EDIT}
    )
    assert edited is not None
    assert edited.dialog is not None
    assert (edited.dialog.name, edited.dialog.is_saved) == ("Failed", True)


def test_list_without_a_filter_is_all() -> None:
    found = make_filter_chips([FAILED], "deliveries", "/d/", {"ask": SAVE})
    assert found is not None
    assert (found.is_all, found.ask_url, found.dialog) == (True, "", None)


def test_query_has_no_state_of_the_page() -> None:
    values = {"q": "a&b", "sort": "email", "after": "x", "before": "y", "ask": "delete"}
    assert filter_query(values) == "q=a%26b&sort=email"


def test_filter_is_saved_renamed_and_deleted(staff_console: StaffConsole, shop: Ports) -> None:
    make_user(shop, "clara@example.com")
    console = staff_console(*MAY)
    assert chips(console.open(LIST)) == []
    (offer,) = chips(console.open(f"{LIST}?q=a%26b&status=active&after=x"))
    assert offer == ("Save filter …", f"{LIST}?q=a%26b&status=active&ask=save-filter", False)
    assert "Only you see this filter." in console.open(offer[1]).text
    saved = console.send(
        f"{SAVED}/save", {"name": "<b>Mine", "query": "q=a%26b&status=active"}, seen_at=LIST
    )
    page = console.follow(saved)
    assert "Saved the filter &lt;b&gt;Mine." in page.html
    assert chips(page) == [
        ("All", LIST, False),
        ("<b>Mine", f"{LIST}?q=a%26b&status=active", True),
        ("Edit filter …", f"{LIST}?q=a%26b&status=active&ask=edit-filter", False),
    ]
    dialog = console.open(f"{LIST}?status=active&q=a%26b&ask=edit-filter")
    key = re.search(rf"{SAVED}/(\d+)/rename", dialog.html)
    assert key is not None
    query = {"query": "q=a%26b&status=active"}
    renamed = console.send(f"{SAVED}/{key[1]}/rename", {"name": "Active", **query}, seen_at=LIST)
    assert chips(console.follow(renamed))[1][0] == "Active"
    deleted = console.follow(console.send(f"{SAVED}/{key[1]}/delete", query, seen_at=LIST))
    assert "Filter deleted." in deleted.text
    assert [name for name, _, _ in chips(deleted)] == ["Save filter …"]


def test_refused_name_is_asked_for_again(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(*MAY)
    form = {"name": "Active", "query": "status=active"}
    console.send(f"{SAVED}/save", form, seen_at=LIST)
    form["query"] = "status=inactive"
    again = console.send(f"{SAVED}/save", form, seen_at=LIST)
    assert again.leads_to == f"{LIST}?status=inactive&ask=save-filter"
    page = console.follow(again)
    assert "You already have a filter with this name." in page.text
    assert "Only you see this filter." in page.text
    assert console.send("/console/saved-filters/nonsense/save", form, seen_at=LIST).status == 404


def test_person_reads_in_their_language_what_became_of_a_filter(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    with shop.database.transaction() as session:
        session.execute(update(models.User).values(language_code="DE"))
    saved, form = "/console/saved-filters/audit/save", {"name": "Heute", "query": "since=24h"}
    page = console.follow(console.send(saved, form, seen_at="/console/audit/"))
    assert "Filter Heute gespeichert." in page.text
    page = console.follow(console.send(saved, form, seen_at="/console/audit/"))
    assert "Sie haben bereits einen Filter mit diesem Namen." in page.text


@pytest.mark.first
def test_every_list_shows_its_saved_filters_without_a_further_statement(
    staff_console: StaffConsole, statements: Statements
) -> None:
    console = staff_console(*MAY)
    others = staff_console(*MAY, email="other@example.com")
    for list_name in LISTS:
        path = path_of(console, list_name)
        assert chips(others.open(path)) == [], list_name
        with statements() as before:
            console.open(path)
        save(console, list_name)
        with statements() as after:
            page = console.open(path)
        assert chips(page) == [("All", path, True), ("Mine", f"{path}?q=x", False)], list_name
        assert len(after) == len(before), list_name
        assert chips(others.open(path)) == [], list_name


def path_of(console: ConsoleClient, list_name: str) -> str:
    with console.client.application.test_request_context():
        return url_for(list_endpoint(list_name) or "")


def save(console: ConsoleClient, list_name: str) -> None:
    form = {"name": "Mine", "query": "q=x"}
    console.send(f"/console/saved-filters/{list_name}/save", form, seen_at="/console/")
