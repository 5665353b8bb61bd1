"""Forms that create something: sent twice they create it once, and a secret is shown once."""

import html
import re

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.apps.app_lists import list_apps
from app.services.submissions import LIFETIME
from tests.builders.people import actor_of, make_staff
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient, Page
from tests.fixtures.cases import cases

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_ORDERS)
FORM = "/console/apps/connect"
_SECRET = re.compile(r'value="(lkapp_[^"]+)"')


@pytest.fixture
def console(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console(*MAY)


def hidden_fields(page: Page) -> dict[str, str]:
    found = re.findall(r'<input[^>]*name="(csrf_token|submission)"[^>]*value="([^"]+)"', page.html)
    return {name: html.unescape(value) for name, value in found}


def apps_in(shop: Ports) -> list[str]:
    viewer = actor_of(shop, make_staff(shop, "viewer@example.com"))
    return [app.name for app in list_apps(shop, viewer, PageRequest(10)).items]


def test_form_sent_three_times_creates_one_app(console: ConsoleClient, shop: Ports) -> None:
    form = {**hidden_fields(console.open(FORM)), "name": "Labels"}
    answers = [Page(console.client.post(FORM, data=form)) for _ in range(3)]
    assert [answer.status for answer in answers] == [303, 303, 303]
    assert apps_in(shop) == ["Labels"]
    again = console.follow(answers[2])
    assert again.leads_to == answers[0].leads_to
    assert _SECRET.search(console.follow(again).html)


def test_secret_is_shown_once_on_the_apps_own_page(console: ConsoleClient) -> None:
    created = console.send(FORM, {"name": "Labels"})
    assert created.leads_to.startswith("/console/apps/1?")
    first = console.follow(created)
    assert first.response.headers["Cache-Control"] == "no-store"
    assert _SECRET.search(first.html)
    reloaded = console.follow(created)
    assert not _SECRET.search(reloaded.html)
    assert "This token was shown before" in reloaded.text


def test_secret_is_not_shown_to_another_session(
    console: ConsoleClient, staff_console: StaffConsole
) -> None:
    created = console.send(FORM, {"name": "Labels"})
    other = staff_console(*MAY, email="other@example.com")
    assert not _SECRET.search(other.follow(created).html)
    assert _SECRET.search(console.follow(created).html)


def test_refused_form_can_be_corrected_and_sent_again(console: ConsoleClient, shop: Ports) -> None:
    console.send(FORM, {"name": "Labels", "identifier": "com.example"})
    form = {**hidden_fields(console.open(FORM)), "name": "Till", "identifier": "com.example"}
    refused = Page(console.client.post(FORM, data=form))
    assert refused.status == 422
    assert hidden_fields(refused)["submission"] == form["submission"]
    corrected = Page(console.client.post(FORM, data={**form, "identifier": "com.example.till"}))
    assert corrected.status == 303
    assert sorted(apps_in(shop)) == ["Labels", "Till"]


def test_form_sent_while_the_first_is_running_waits(console: ConsoleClient, shop: Ports) -> None:
    form = {**hidden_fields(console.open(FORM)), "name": "Labels"}
    with shop.database.transaction() as session:
        session_id = session.scalars(select(models.Session.id)).one()
        expires_at = shop.clock.now() + LIFETIME
        running = models.FormSubmission(
            key=form["submission"], session_id=session_id, expires_at=expires_at
        )
        session.add(running)
    second = Page(console.client.post(FORM, data=form))
    waiting = console.follow(second)
    assert waiting.status == 200
    assert waiting.response.headers["Refresh"] == "1"
    assert apps_in(shop) == []


def test_invalid_key_counts_as_a_new_form(console: ConsoleClient, shop: Ports) -> None:
    keys = ("", "short", "k" * 33, "k" * 31 + "\0")
    hidden = hidden_fields(console.open(FORM))
    for key in keys:
        form = {**hidden, "name": f"Labels {len(key)}", "submission": key}
        for _ in range(2):
            assert console.client.post(FORM, data=form).status_code == 303
    assert sorted(apps_in(shop)) == sorted(f"Labels {len(key)}" for key in (*keys, *keys))


@cases("key", ["short", "k" * 32])
def test_unknown_submission_says_what_to_check(console: ConsoleClient, key: str) -> None:
    shown = console.follow(console.open(f"/console/created/{key}"))
    assert "This form expired or was interrupted." in shown.text


def test_token_is_created_and_rotated_once(console: ConsoleClient) -> None:
    console.send(FORM, {"name": "Labels"})
    new = "/console/apps/1/tokens/new"
    form = {**hidden_fields(console.open(new)), "name": "Till", "life": "30"}
    for _ in range(2):
        assert console.client.post(new, data=form).status_code == 303
    question = console.open("/console/apps/1?ask=rotate&token=2")
    form = {**hidden_fields(question), "overlap": "24"}
    answers = [
        Page(console.client.post("/console/apps/1/tokens/2/rotate", data=form)) for _ in range(2)
    ]
    assert [answer.status for answer in answers] == [303, 303]
    assert console.open("/console/apps/1?view=tokens").html.count("ask=revoke") == 3
    assert "Token “Till” created" in console.follow(answers[0]).text
