"""The editor of email templates: checked, previewed, saved with versions, and the default."""

import html
import re
from pathlib import Path

import pytest
from sqlalchemy import update

from app import models
from app.adapters.mail.own_templates import JinjaOwnTemplates
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.own_templates import OwnTemplate
from app.ports import Ports
from app.services.mails.mail_templates import list_templates, render_mail, save_template
from tests.builders.audit import trail
from tests.builders.mail_templates import samples
from tests.builders.mails import make_mail, make_waiting_mail
from tests.builders.people import change_user, make_staff, make_user
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient, Page, loaded_of
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

MANAGER = Permission.MANAGE_SETTINGS
LIST = "/console/emails/templates/"
EDITOR = f"{LIST}password_reset"
KIND = MailKind.PASSWORD_RESET
SOURCES = {
    "subject": "Neues Passwort",
    "html": '<p>Hallo {{ recipient }},\r\n<a href="{{ link }}">weiter</a></p>',
    "text": "Hallo\r\n\r\n{{ link }}\r\n",
}
TEMPLATE = OwnTemplate(*(source.replace("\r\n", "\n") for source in SOURCES.values()))
MAIL = Mail(KIND, "ann@example.com", samples(KIND))
FRAME = re.compile(r'<iframe[^>]*\ssrc="([^"]*)"')
FAULT = "html, line 1: There is no value gone in this email."


@pytest.fixture
def console(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console(MANAGER)


def send(console: ConsoleClient, act: str, **more: str) -> Page:
    values = {**SOURCES, "language": "", **more}
    return console.send(f"{EDITOR}/{act}", values, seen_at=EDITOR)


def spoil(shop: Ports) -> None:
    save_template(shop, OPERATOR, KIND, "", TEMPLATE, based_on=0)
    with shop.database.transaction() as session:
        session.execute(update(models.MailTemplate).values(html="{{ gone }}"))
    render_mail(shop, MAIL)


def test_every_email_is_listed_with_its_template(console: ConsoleClient, shop: Ports) -> None:
    page = console.open(LIST)
    assert page.text.count("Default") == len(MailKind)
    save_template(shop, OPERATOR, KIND, "DE", TEMPLATE, based_on=0)
    assert "Custom Deutsch" in console.open(LIST).text


@pytest.mark.first
def test_editor_begins_with_the_default_and_documents_the_values(console: ConsoleClient) -> None:
    for kind in MailKind:
        page = console.open(f"{LIST}{kind.value}?language=DE")
        assert page.status == 200, kind
        for shown in ("{{ recipient }}", "Update preview", "Save template", "No versions yet"):
            assert shown in page.text, kind
        [frame] = FRAME.findall(page.html)
        assert console.open(html.unescape(frame)).status == 200, kind


def test_preview_shows_the_email_before_it_is_saved(console: ConsoleClient, shop: Ports) -> None:
    answer = send(console, "preview")
    assert answer.status == 303
    page = console.follow(answer)
    assert "Subject line Neues Passwort" in page.text
    assert "Save template" in page.text
    assert "/?token=sample-" in page.text
    policy = page.response.headers["Content-Security-Policy"]
    assert "frame-src 'self'" in policy
    assert list_templates(shop, OPERATOR) == ()


def test_preview_is_shown_as_a_customer_gets_it(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    hanna = make_user(shop, "hanna@mail.example", first_name="Hanna", last_name="Berg")
    change_user(shop, hanna, language_code="DE_AT")
    change_user(shop, make_user(shop, "hannes@mail.example"), language_code="FR")
    make_staff(shop, "hannah@shop.example")
    console = staff_console(MANAGER, Permission.MANAGE_USERS)

    def preview(**values: str) -> str:
        answer = send(console, "preview", language="DE", **values)
        with statements() as seen:
            page = console.follow(answer)
        assert len(seen) <= 8, seen
        [frame] = FRAME.findall(page.html)
        return f"{page.text} {console.open(html.unescape(frame)).text}"

    shown = preview(customer="hanna")
    assert "To Hanna Berg <hanna@mail.example>" in shown
    assert "Hallo hanna@mail.example" in shown
    assert "Readers of" not in shown.partition("Preview as another customer")[2]
    assert "To Hanna Berg <hanna@mail.example>" in preview(customer="Berg Han")
    several = preview(customer="hann")
    assert "Other matching customers: " in several
    assert "shop.example" not in several  # a colleague is no customer
    chosen = preview(customer="hann", chosen_customer="HANNES@mail.example")
    assert "Hallo hannes@mail.example" in chosen
    assert "Readers of Français get the default email in their language." in chosen
    nobody = preview(customer="nobody")
    assert "No customer matches “nobody”. The email is shown to you." in nobody
    assert "Hallo staff@example.com" in nobody
    # The test still goes to the person who sends it.
    assert (
        "Test sent to staff@example.com."
        in console.follow(send(console, "test", customer="hanna")).text
    )
    assert "Preview as another customer" not in console.open(f"{LIST}staff_invitation").text


def test_preview_finds_no_customer_for_those_who_cannot_see_them(
    console: ConsoleClient, shop: Ports
) -> None:
    make_user(shop, "hanna@mail.example", first_name="Hanna")
    page = console.follow(send(console, "preview", customer="hanna"))
    assert "Preview as another customer" not in page.text
    assert "Hanna" not in page.text
    assert "mail.example" not in page.text
    [frame] = FRAME.findall(page.html)
    assert "Hallo staff@example.com" in console.open(html.unescape(frame)).text


def test_list_says_when_each_email_was_last_sent(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    make_mail(shop)
    make_mail(shop, kind="staff_invitation", sent_at=None, last_error="Rejected with 550.")
    make_waiting_mail(shop, kind="email_changed")
    console = staff_console(MANAGER, Permission.MANAGE_STAFF)
    with statements() as seen:
        page = console.open(LIST)
    assert len(seen) <= 8, seen
    assert "Last sent" in page.text
    assert "/console/emails/log/?kind=password_reset" in page.html
    assert page.text.count("Failed") == 1
    assert page.text.count("Queued") == 1
    assert "Last sent" not in staff_console(MANAGER, email="settings@example.com").open(LIST).text


def test_framed_email_can_load_and_run_nothing(console: ConsoleClient) -> None:
    key = send(console, "preview").leads_to.partition("entered=")[2]
    framed = console.open(f"{EDITOR}/html?entered={key}")
    assert framed.status == 200
    assert "Hallo staff@example.com" in framed.text
    headers = framed.response.headers
    assert headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'; ")
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "SAMEORIGIN"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert console.open(f"{EDITOR}/html?entered=unknown").status == 404
    begun = console.open(f"{EDITOR}/html?language=DE")
    assert "Setzen Sie Ihr Passwort" in begun.text
    assert begun.response.headers["Content-Security-Policy"].startswith("sandbox; ")
    for unknown in ("language=XX", "version=7", "version=x"):
        assert console.open(f"{EDITOR}/html?{unknown}").status == 404


def test_test_of_the_edited_email_is_sent_and_nothing_saved(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MANAGER, email="hannah@example.com")
    answer = send(console, "test")
    assert answer.status == 303
    page = console.follow(answer)
    assert "Test sent to hannah@example.com." in page.text
    assert "Save template" in page.text
    assert 'value="Neues Passwort"' in page.html
    assert list_templates(shop, OPERATOR) == ()
    [entry] = trail(shop, "mail.test")
    assert entry.after == {"kind": KIND.value, "language": "", "template": "edited"}


def test_test_of_a_bad_template_is_refused_with_its_line(
    console: ConsoleClient, shop: Ports
) -> None:
    page = send(console, "test", html="<p>\r\n{{ gone }}</p>")
    assert page.status == 422
    assert "Line 2: There is no value gone in this email." in page.text
    assert trail(shop, "mail.test") == []


def test_tests_of_templates_are_limited(console: ConsoleClient) -> None:
    statuses = [send(console, "test").status for _ in range(11)]
    assert statuses == [303] * 10 + [429]


def test_saved_template_is_sent_and_listed_as_a_version(
    console: ConsoleClient, shop: Ports
) -> None:
    page = console.follow(send(console, "save"))
    assert "Saved version 1 of “Password reset”. New emails use it." in page.text
    assert "Version 1 In use" in page.text
    assert render_mail(shop, MAIL).subject == "Neues Passwort"
    assert send(console, "save", subject="Zwei").status == 303
    old = console.open(f"{EDITOR}?version=1")
    assert 'value="Neues Passwort"' in old.html
    assert "This is version 1. To use it again, save it." in old.text
    assert "Zwei" in loaded_of(old.html, f"{EDITOR}/save", {})["loaded"]
    assert console.open(f"{EDITOR}?version=3").status == 404
    assert console.open(f"{EDITOR}?version=x").status == 404


def test_line_ends_of_browsers_are_stored_as_one_character(
    console: ConsoleClient, shop: Ports
) -> None:
    send(console, "save")
    assert "\r" not in render_mail(shop, MAIL).text


def test_each_tab_says_which_email_its_readers_get(console: ConsoleClient, shop: Ports) -> None:
    german = f"{EDITOR}?language=DE"
    assert "Readers of Deutsch get the default email in their language." in (
        console.open(german).text
    )
    assert "No template for all languages. If you save one, readers of English, Deutsch" in (
        console.open(EDITOR).text
    )
    send(console, "save")
    page = console.open(german)
    assert "Readers of Deutsch get the template for all languages, in English." in page.text
    assert "Password reset All languages" in page.text
    assert "The default is used" not in page.text
    assert "Readers of English, Deutsch, Français" in console.open(EDITOR).text
    save_template(shop, OPERATOR, KIND, "DE", TEMPLATE, based_on=0)
    assert "Readers of Deutsch get this template." in console.open(german).text
    assert "Readers of English, Français" in console.open(EDITOR).text


def test_default_is_used_again_on_request(console: ConsoleClient, shop: Ports) -> None:
    ours = render_mail(shop, MAIL)
    send(console, "save")
    page = console.follow(send(console, "reset"))
    assert "“Password reset” isn't used anymore. Readers get the default email" in page.text
    assert "Version 1" in page.text
    assert render_mail(shop, MAIL) == ours


@cases("act", ["preview", "save"])
def test_refused_template_is_shown_again_with_its_lines(
    console: ConsoleClient, shop: Ports, act: str
) -> None:
    html = f"{SOURCES['html']}\r\n<script>alert(1)</script>\r\n{{{{ link.__class__ }}}}"
    page = send(console, act, html=html)
    assert page.status == 422
    assert "HTML: Line 4: There is no value link.__class__ in this email." in page.text
    assert '<li class="is-bad">4</li>' in page.html
    assert "&lt;script&gt;alert(1)" in page.html
    assert "<script>alert(1)" not in page.html
    assert list_templates(shop, OPERATOR) == ()


def test_source_is_checked_while_it_is_edited(console: ConsoleClient) -> None:
    answer = send(console, "check/html", html=SOURCES["html"] + "\r\n<script>")
    assert answer.response.get_json() == {
        "marks": [{"line": 3, "message": "Remove <script>: emails can't contain it."}],
        "message": "Line 3: Remove <script>: emails can't contain it.",
    }
    assert send(console, "check/text").response.get_json() == {"marks": [], "message": ""}
    empty = send(console, "check/text", text=" ").response.get_json()
    assert empty["message"] == "This is required."


def test_two_editors_dont_overwrite_each_other(console: ConsoleClient, shop: Ports) -> None:
    opened = loaded_of(console.open(EDITOR).html, f"{EDITOR}/save", {})
    save_template(shop, OPERATOR, KIND, "", TEMPLATE, based_on=0)
    page = send(console, "save", subject="Mine", **opened)
    assert page.status == 409
    assert "Mine" in page.text
    assert TEMPLATE.subject in page.text
    assert render_mail(shop, MAIL).subject == TEMPLATE.subject


@cases("address", [f"{LIST}unknown", f"{EDITOR}?language=XX", f"{LIST}unknown/html"])
def test_unknown_email_and_language_are_not_found(console: ConsoleClient, address: str) -> None:
    assert console.open(address).status == 404


def test_form_with_another_language_is_a_mistake(console: ConsoleClient) -> None:
    assert send(console, "save", language="XX").status == 404


def test_templates_need_the_permission(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_ORDERS)
    assert console.open(LIST).status == 403
    assert console.open(EDITOR).status == 403
    for act in ("preview", "save", "reset", "check/html"):
        sent = console.send(f"{EDITOR}/{act}", SOURCES, seen_at="/console/keyboard")
        assert sent.status == 403
    assert list_templates(shop, OPERATOR) == ()


def test_saving_asks_for_the_password_and_keeps_what_was_entered(
    console: ConsoleClient, shop: Ports, clock: FakeClock
) -> None:
    clock.pass_(minutes=6)
    asked = send(console, "save")
    assert asked.status == 403
    assert "You're about to change an email that people receive." in asked.text
    assert "Neues Passwort" in asked.html
    assert list_templates(shop, OPERATOR) == ()
    assert send(console, "preview").status == 303


def test_broken_template_is_on_home_and_on_its_page(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MANAGER)
    assert "can't be used" not in console.open("/console/").text
    spoil(shop)
    home = console.open("/console/")
    assert "1 email template can't be used. The default is sent instead." in home.text
    assert FAULT in console.open(LIST).text
    assert FAULT in console.open(EDITOR).text
    others = staff_console(Permission.MANAGE_APPS, email="apps@example.com")
    assert "can't be used" not in others.open("/console/").text


def test_broken_file_is_on_home_and_in_the_list(
    console: ConsoleClient, shop: Ports, tmp_path: Path
) -> None:
    (tmp_path / "password_reset.html").write_text("<p>")
    (tmp_path / "pasword_reset.txt").write_text("a")
    # Nothing has asked for them yet.
    vars(shop.own_templates)["_make"] = lambda: JinjaOwnTemplates(str(tmp_path))
    assert JinjaOwnTemplates(str(tmp_path)).listed() == ((KIND, ""),)
    assert "2 email templates can't be used." in console.open("/console/").text
    page = console.open(LIST)
    assert "pasword_reset.txt: No email has this name." in page.text
    assert "password_reset.txt is missing: an email needs both files." in page.text
    assert "password_reset.txt is missing" in console.open(EDITOR).text
