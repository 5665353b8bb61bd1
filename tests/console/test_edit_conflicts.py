"""Two tabs that edit the same thing: what each changed stays, and conflicts are chosen from."""

import html
import re
from typing import Any

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.webhooks.changes import WebhookInput, update_webhook
from app.services.webhooks.lists import show_webhook
from tests.builders.apps import app_as_stored, make_app
from tests.builders.people import make_group, make_staff, make_user
from tests.builders.webhooks import make_webhook
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient, Page, loaded_of

ELSEWHERE = "/console/keyboard"
TARGET = "https://labels.example.com/hooks"
ORDERS, USERS = Permission.MANAGE_ORDERS, Permission.MANAGE_USERS
_INPUT = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')


class Tab:
    """A page that is open, with a form that is sent as it was then."""

    def __init__(self, console: ConsoleClient, path: str, shown_at: str = "") -> None:
        self._console = console
        self._path = path
        self._loaded = loaded_of(console.open(shown_at or path).html, path, {})

    def send(self, **values: Any) -> Page:
        """Send the form."""
        return self._console.send(self._path, {**self._loaded, **values}, seen_at=ELSEWHERE)


def choose(console: ConsoleClient, conflict: Page, path: str, **choices: str) -> Page:
    """Send the form of the page of conflicts."""
    main = conflict.html[conflict.html.index('id="main"') :]
    data: dict[str, list[str]] = {}
    for name, value in _INPUT.findall(main):
        data.setdefault(html.unescape(name), []).append(html.unescape(value))
    del data["csrf_token"]
    named = {name.replace("_", "-", 1): value for name, value in choices.items()}
    return console.send(path, {**data, **named}, seen_at=ELSEWHERE)


@pytest.fixture
def hook(shop: Ports) -> int:
    app, _ = make_app(shop, "Labels", ORDERS)
    return make_webhook(
        shop,
        app,
        EventType.ORDER_PAID,
        EventType.ORDER_CREATED,
        name="Print label",
        target_url=TARGET,
        custom_headers={"X-Shop": "harbour"},
    )


def edited(**values: Any) -> dict[str, Any]:
    """Return the whole form of the webhook with some other values."""
    return {
        "name": "Print label",
        "target_url": TARGET,
        "custom_headers": "X-Shop: harbour",
        "custom_headers_kept": "",
        "query": "",
        "events": ["ORDER_PAID", "ORDER_CREATED"],
        "is_active": "y",
        **values,
    }


def stored(shop: Ports, hook: int) -> dict[str, object]:
    found = show_webhook(shop, OPERATOR, hook)
    assert found is not None
    events = {event.value for event in found.events}
    headers = dict(found.reveal_headers())
    return {"name": found.name, "url": found.target_url, "events": events, "headers": headers}


def test_permission_that_another_tab_removed_stays_removed(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app, _ = make_app(shop, "Labels", ORDERS)
    console = staff_console(*ALL_PERMISSIONS)
    page, path = f"/console/apps/{app}?view=permissions", f"/console/apps/{app}/permissions"
    stale, other = Tab(console, path, page), Tab(console, path, page)
    other.send(permissions=[])
    saved = stale.send(permissions=["MANAGE_ORDERS", "MANAGE_USERS"])
    assert saved.status == 303
    assert app_as_stored(shop, app).permissions == {USERS}


def test_fields_that_a_stale_tab_left_alone_keep_what_was_saved(
    staff_console: StaffConsole, shop: Ports, hook: int
) -> None:
    path = f"/console/webhooks/{hook}/edit"
    console = staff_console(*ALL_PERMISSIONS)
    stale, other = Tab(console, path), Tab(console, path)
    new = edited(name="Label printer", custom_headers="X-Shop: bay", events=["ORDER_PAID"])
    assert other.send(**new).status == 303
    events = ["ORDER_PAID", "ORDER_CREATED", "ORDER_CANCELLED"]
    assert stale.send(**edited(target_url=f"{TARGET}/2", events=events)).status == 303
    assert stored(shop, hook) == {
        "name": "Label printer",
        "url": f"{TARGET}/2",
        "events": {"ORDER_PAID", "ORDER_CANCELLED"},
        "headers": {"X-Shop": "bay"},
    }


def test_conflict_saves_nothing_and_shows_both_values(
    staff_console: StaffConsole, shop: Ports, hook: int
) -> None:
    path = f"/console/webhooks/{hook}/edit"
    ada, tom = (
        staff_console(*ALL_PERMISSIONS, email=f"{name}@example.com") for name in ("ada", "tom")
    )
    stale, other = Tab(ada, path), Tab(tom, path)
    other.send(**edited(name="Label printer", events=["ORDER_PAID"]))
    before = stored(shop, hook)
    mine = edited(
        name="Berlin", target_url=f"{TARGET}/2", custom_headers="X-Shop: spree", events=[]
    )
    conflict = stale.send(**mine)
    assert conflict.status == 409
    assert stored(shop, hook) == before
    assert "Your changes to Label printer aren't saved yet" in conflict.text
    assert "tom@example.com changed Label printer now , after you opened it today" in conflict.text
    assert "Name was Print label Berlin Label printer" in conflict.text
    assert "Endpoint URL: https://labels.example.com/hooks/2" in conflict.text
    assert "Events: Order created removed" in conflict.text
    assert "Custom headers: changed" in conflict.text
    assert "spree" not in conflict.html
    assert choose(ada, conflict, path, choice_name="yours").status == 303
    assert stored(shop, hook) == {
        "name": "Berlin",
        "url": f"{TARGET}/2",
        "events": set(),
        "headers": {"X-Shop": "spree"},
    }


def test_saved_version_can_be_chosen_and_editing_continued(
    staff_console: StaffConsole, shop: Ports, hook: int
) -> None:
    path = f"/console/webhooks/{hook}/edit"
    console = staff_console(*ALL_PERMISSIONS)
    stale, other = Tab(console, path), Tab(console, path)
    other.send(**edited(name="Label printer", custom_headers="X-Shop: bay"))
    mine = edited(name="Berlin", target_url=f"{TARGET}/2")
    conflict = stale.send(**mine)
    assert "You changed Label printer in another window now" in conflict.text
    form = choose(console, conflict, path, choice_name="yours", back="edit")
    assert 'value="Berlin"' in form.html
    assert f'value="{TARGET}/2"' in form.html
    assert "X-Shop: bay" in form.text
    assert stored(shop, hook)["url"] == TARGET
    assert choose(console, conflict, path, choice_name="saved").status == 303
    assert stored(shop, hook) == {
        "name": "Label printer",
        "url": f"{TARGET}/2",
        "events": {"ORDER_PAID", "ORDER_CREATED"},
        "headers": {"X-Shop": "bay"},
    }


def test_choice_is_asked_again_if_the_value_changes_once_more(
    staff_console: StaffConsole, shop: Ports, hook: int
) -> None:
    path = f"/console/webhooks/{hook}/edit"
    console = staff_console(*ALL_PERMISSIONS)
    stale, second, third = (Tab(console, path) for _ in range(3))
    second.send(**edited(name="Label printer"))
    conflict = stale.send(**edited(name="Berlin"))
    assert third.send(**edited(name="Hamburg")).status == 409
    update_webhook(shop, OPERATOR, to_global_id("Webhook", hook), "", WebhookInput(name="Bremen"))
    again = choose(console, conflict, path, choice_name="yours")
    assert again.status == 409
    assert "Name was Label printer Berlin Bremen" in again.text


def test_events_and_a_query_that_decides_about_them_are_in_conflict(
    staff_console: StaffConsole, shop: Ports, hook: int
) -> None:
    path = f"/console/webhooks/{hook}/edit"
    console = staff_console(*ALL_PERMISSIONS)
    stale, other = Tab(console, path), Tab(console, path)
    query = "subscription { event { ... on OrderFulfilled { order { id } } } }"
    assert other.send(**edited(query=query)).status == 303
    conflict = stale.send(**edited(events=["ORDER_PAID"]))
    assert conflict.status == 409
    assert stored(shop, hook)["events"] == {"ORDER_FULFILLED"}
    assert "Events was" in conflict.text
    assert "Subscription query was" in conflict.text


def test_form_that_does_not_say_what_it_showed_overwrites_nothing(
    staff_console: StaffConsole, shop: Ports
) -> None:
    group = make_group(shop, "Support", ORDERS)
    console = staff_console(*ALL_PERMISSIONS)
    path = f"/console/staff/groups/{group}/save"
    for loaded in (
        "",
        "{}",
        "[1]",
        '{"values": 3, "at": 7}',
        "[" * 100_000,
        '{"values": {"name": []}}',
    ):
        data = {"name": "Help", "permissions": [], "loaded": loaded}
        conflict = console.send(path, data, seen_at=ELSEWHERE)
        assert conflict.status == 409
        assert "This form doesn't say what it showed" in conflict.text
    same = {"name": "Support", "permissions": ["MANAGE_ORDERS"], "loaded": ""}
    assert console.send(path, same, seen_at=ELSEWHERE).status == 303


def test_groups_of_a_person_are_added_and_removed(
    staff_console: StaffConsole, shop: Ports
) -> None:
    ids = [to_global_id("Group", make_group(shop, name, ORDERS)) for name in ("A", "B", "C")]
    key = make_staff(shop, "tom@example.com")
    console = staff_console(*ALL_PERMISSIONS)
    page = f"/console/staff/{key}?view=permissions"
    path = f"/console/staff/{key}/groups"
    Tab(console, path, page).send(groups=[ids[0]])
    stale, other = Tab(console, path, page), Tab(console, path, page)
    other.send(groups=[ids[1]])
    done = console.follow(stale.send(groups=[ids[0], ids[2]]))
    assert "Groups of tom@example.com: B and C." in done.text


def test_details_of_a_person_are_merged(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop, "ada@example.com", first_name="Ada", last_name="Lovelace")
    console = staff_console(*ALL_PERMISSIONS)
    page, path = f"/console/customers/{key}?edit=details", f"/console/customers/{key}/details"
    stale, other = Tab(console, path, page), Tab(console, path, page)
    form = {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"}
    other.send(**{**form, "note": "Calls on Mondays"})
    assert stale.send(**{**form, "last_name": "King", "note": ""}).status == 303
    shown = console.open(page).html
    assert "Calls on Mondays" in shown
    assert 'value="King"' in shown


def test_form_that_says_something_odd_of_what_it_showed_is_answered(
    staff_console: StaffConsole, hook: int
) -> None:
    path = f"/console/webhooks/{hook}/edit"
    console = staff_console(*ALL_PERMISSIONS)
    deep, wide = "[" * 900 + "]" * 900, "9" * 5000
    names = ('"\\ud800"', '["\\ud800", {"a": [1]}]', '"\\u0000"', "1e999", wide, deep)
    odd = [
        *(f'{{"at": "2026-11-01T00:00:00Z", "values": {{"name": {name}}}}}' for name in names),
        "",
        "{",
        "null",
        '{"at": "0001-01-01T00:00:00+14:00", "values": []}',
        '{"at": "9999-12-31T23:59:59-14:00", "values": {"name": {"digest": "\\ud800"}}}',
        f'{{"at": 3, "values": {{"events": {deep}, "query": [null], "is_active": "x"}}}}',
    ]
    for loaded in odd:
        answer = console.send(path, edited(name="Mine", loaded=loaded), seen_at=ELSEWHERE)
        assert answer.status == 409, loaded
