"""The preview of emails: as they are sent, in a frame that can do nothing; logo and test."""

import re
from dataclasses import replace
from html import unescape
from io import BytesIO

import pytest

from app.adapters.mail.mailer import SmtpMailer
from app.console.shop.mail_previews import with_appearance
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import ShopUpdate
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.mails.mail_templates import preview_mail, send_test_mail
from app.services.shop.settings import show_settings, update_shop
from tests.builders.audit import trail
from tests.builders.images import png
from tests.builders.mails import stored_mails
from tests.builders.people import NOBODY, actor_of, make_staff, make_user
from tests.console.conftest import StaffConsole
from tests.fixtures.one_of_each import InTurn
from tests.servers.smtp import smtp_server

PAGE = "/console/emails/look"
HTML = f"{PAGE}/html"
MANAGER = Permission.MANAGE_SETTINGS
EMAIL = "manager@example.com"
LOOK = {"accent_color": "#0b5563"}
SENDING = "/console/emails/sending"


def test_preview_needs_the_permission(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_ORDERS)
    assert console.open(PAGE).status == 403
    assert console.open(HTML).status == 403
    for path in ("test", "logo", "logo/remove"):
        assert console.send(f"{PAGE}/{path}", {}, seen_at="/console/keyboard").status == 403
    assert trail(shop, "mail.test") == []


def test_every_kind_is_shown_in_every_language(
    staff_console: StaffConsole, in_turn: InTurn
) -> None:
    console = staff_console(MANAGER)
    cases = [(kind, language) for kind in MailKind for language in in_turn([*SHIPPED_LANGUAGES])]
    for kind, language in cases:
        place = f"?kind={kind}&language={language}"
        page = console.open(f"{PAGE}{place}")
        framed = console.open(f"{HTML}{place}&appearance=dark")
        assert (page.status, framed.status) == (200, 200)
        (subject,) = re.findall(r"<h1[^>]*>([^<]*)</h1>", framed.html)
        assert unescape(subject) in page.text
        is_arabic = language == "AR"
        assert ('dir="rtl"' in framed.html) is is_arabic


def test_frame_can_load_and_do_nothing(staff_console: StaffConsole) -> None:
    console = staff_console(MANAGER)
    page, framed = console.open(PAGE), console.open(HTML)
    assert "frame-src 'self'" in page.response.headers["Content-Security-Policy"]
    assert re.search(r"<iframe[^>]*\ssandbox></iframe>", page.html)
    policy = framed.response.headers["Content-Security-Policy"].split("; ")
    assert {*policy} == {
        "sandbox",
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    }
    assert framed.response.headers["X-Frame-Options"] == "SAMEORIGIN"
    other = console.open("/console/settings/").response.headers
    assert "frame-src" not in other["Content-Security-Policy"]
    assert other["X-Frame-Options"] == "DENY"


def test_appearance_is_that_of_the_url_whatever_the_browsers_is() -> None:
    html = (
        '<html style="color-scheme: light dark;"><meta name="color-scheme" content="light dark">'
        "<style>@media (prefers-color-scheme: dark) { p { color: red } }</style>"
    )
    assert with_appearance(html, is_dark=True) == (
        '<html style="color-scheme: dark;"><meta name="color-scheme" content="dark">'
        "<style>@media all { p { color: red } }</style>"
    )
    assert with_appearance(html, is_dark=False) == (
        '<html style="color-scheme: light;"><meta name="color-scheme" content="light">'
        "<style>@media not all { p { color: red } }</style>"
    )


def test_preview_shows_what_is_set(staff_console: StaffConsole, shop: Ports) -> None:
    update = ShopUpdate(
        name="Töpferei <b>",
        default_mail_sender_name="Hannah",
        default_mail_sender_address="hannah@example.com",
        mail_reply_to="help@example.com",
        mail_footer="Open from 9",
        mail_legal_line="Töpferei GmbH",
        accent_color="#aa3300",
        default_language="DE_AT",
    )
    update_shop(shop, OPERATOR, update)
    console = staff_console(MANAGER)
    page, framed = console.open(PAGE), console.open(HTML)
    assert "Hannah <hannah@example.com>" in page.text
    assert "help@example.com" in page.text
    assert "Töpferei &lt;b&gt;" in framed.html
    for shown in ("Open from 9", "Töpferei GmbH", "#aa3300"):
        assert shown in framed.html
    assert re.search(r'<option value="DE" selected>', page.html)


def test_look_is_previewed_and_tested_before_it_is_saved(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MANAGER)
    before = show_settings(shop, OPERATOR)
    entered = {"accent_color": "#aa3300", "mail_footer": "Open <b>", "kind": "new_device"}
    answer = console.send(f"{PAGE}/preview", entered, seen_at=PAGE)
    assert answer.status == 303
    assert "Open" not in answer.leads_to
    page = console.follow(answer)
    assert 'value="#aa3300"' in page.html
    assert '<option value="new_device" selected>' in page.html
    [frame] = re.findall(r'<iframe[^>]*\ssrc="([^"]*)"', page.html)
    framed = console.open(unescape(frame))
    for shown in ("#aa3300", "Open &lt;b&gt;"):
        assert shown in framed.html
    assert framed.response.headers["Content-Security-Policy"].startswith("sandbox; ")
    assert show_settings(shop, OPERATOR) == before
    saved = console.send(PAGE, entered, seen_at=PAGE)
    assert "Design saved." in console.follow(saved).text
    assert show_settings(shop, OPERATOR).mail_footer == "Open <b>"


def test_look_that_cannot_be_saved_has_no_preview(staff_console: StaffConsole) -> None:
    console = staff_console(MANAGER)
    for act in ("/preview", "/test", ""):
        refused = console.send(f"{PAGE}{act}", {"accent_color": "red"}, seen_at=PAGE)
        assert (refused.status, "<iframe" in refused.html) == (422, False)
        assert "No preview Enter a color as # and six hexadecimal digits" in refused.text
        assert 'id="accent_color-error"' in refused.html


def test_area_of_emails_leads_where_the_person_can_go(staff_console: StaffConsole) -> None:
    both = staff_console(MANAGER, Permission.MANAGE_STAFF)
    assert both.open("/console/emails/").leads_to == "/console/emails/templates/"
    for path in (PAGE, SENDING, "/console/emails/templates/", "/console/emails/log/"):
        page = both.open(path)
        main = page.html.partition("<main")[2]
        assert f'<a href="{path}" aria-current="page">' in main
        assert '<a href="/console/emails/templates/" aria-current="page">' in page.html
    few = staff_console(Permission.MANAGE_STAFF, email="few@example.com")
    assert few.open("/console/emails/").leads_to == "/console/emails/log/"
    assert PAGE not in few.open("/console/emails/log/").html


def test_old_urls_lead_to_the_area_of_emails(staff_console: StaffConsole) -> None:
    console = staff_console(MANAGER)
    moved = {
        "settings/email-preview/": "emails/look",
        "email-templates/": "emails/templates/",
        "email-templates/new_device?language=DE": "emails/templates/new_device?language=DE",
        "mails/?result=FAILED&q=a%20b": "emails/log/?result=FAILED&q=a%20b",
        "mails/7": "emails/log/7",
    }
    for old, new in moved.items():
        answer = console.open(f"/console/{old}")
        assert (answer.status, answer.leads_to) == (301, f"/console/{new}"), old


def test_unknown_choices_show_the_first_email(staff_console: StaffConsole) -> None:
    page = staff_console(MANAGER).open(f"{PAGE}?kind=<script>&language=xx&appearance=neon")
    assert page.status == 200
    assert "Password reset" in page.text


def test_logo_is_uploaded_shown_and_removed(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MANAGER)
    assert "data:image/png" not in console.open(HTML).html
    image = {"image": (BytesIO(png(300, 100)), "logo.png")}
    saved = console.send(f"{PAGE}/logo", image, seen_at=PAGE)
    assert "Logo saved." in console.follow(saved).text
    name = show_settings(shop, OPERATOR).logo
    assert f'src="/media/logo/{name}.png"' in console.open(PAGE).html
    assert 'src="data:image/png;base64,' in console.open(HTML).html
    assert "cid:" not in console.open(HTML).html
    picture = console.open(f"/media/logo/{name}.png")
    assert (picture.status, picture.response.content_type) == (200, "image/png")
    removed = console.send(f"{PAGE}/logo/remove", {}, seen_at=PAGE)
    assert "Logo removed." in console.follow(removed).text
    assert console.open(f"/media/logo/{name}.png").status == 404
    assert [row.action for row in trail(shop, "shop.logo")] == ["shop.logo"] * 2


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ({}, "Choose a file."),
        (
            {"image": (b"<svg/>", "logo.svg")},
            "This file is in the format SVG. Use PNG, JPEG, WebP or GIF.",
        ),
    ],
    ids=["none", "svg"],
)
def test_refused_logo_says_why(
    staff_console: StaffConsole, shop: Ports, image: dict[str, tuple[bytes, str]], reason: str
) -> None:
    console = staff_console(MANAGER)
    files = {name: (BytesIO(data), file) for name, (data, file) in image.items()}
    refused = console.send(f"{PAGE}/logo", files, seen_at=PAGE)
    assert refused.status == 422
    assert reason in refused.text
    assert show_settings(shop, OPERATOR).logo == ""


def test_test_is_sent_and_recorded(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MANAGER)
    place = {"kind": "password_changed", "language": "EN", "appearance": "dark"}
    sent = console.send(f"{PAGE}/test", LOOK | place, seen_at=PAGE)
    page = console.follow(sent)
    assert "Test sent to staff@example.com." in page.text
    assert '<option value="password_changed" selected>' in page.html
    [row] = trail(shop, "mail.test")
    assert row.after == {"kind": "password_changed", "language": "EN"}
    audit = staff_console(Permission.MANAGE_STAFF, email="auditor@example.com")
    assert "ent a test email to staff@example.com" in audit.open("/console/audit/").text


@pytest.fixture
def manager(shop: Ports) -> int:
    return make_staff(shop, EMAIL, MANAGER)


@pytest.mark.first
def test_test_is_sent_to_oneself_alone(shop: Ports, manager: int) -> None:
    with smtp_server() as (mailbox, host):
        posting = replace(shop, mailer=SmtpMailer(f"smtp://{host}", "noreply@example.com"))
        for kind in MailKind:
            assert send_test_mail(posting, actor_of(shop, manager), kind, "EN") == EMAIL
    assert mailbox.recipients == [EMAIL] * len(MailKind)
    subjects = [str(message["Subject"]) for message in mailbox.messages]
    assert [subject for subject in subjects if not subject.strip().startswith("[Test] ")] == []
    assert len({message["Message-ID"] for message in mailbox.messages}) == len(MailKind)
    assert stored_mails(shop) == [], "the mail log has only emails about people"
    assert len(trail(shop, "mail.test")) == len(MailKind)


def test_refused_test_says_what_the_mail_server_answered(shop: Ports, manager: int) -> None:
    with smtp_server() as (mailbox, host):
        mailbox.refusal = "550 5.7.1 Not from here"
        posting = replace(shop, mailer=SmtpMailer(f"smtp://{host}", "noreply@example.com"))
        with pytest.raises(Refused) as refused:
            send_test_mail(posting, actor_of(shop, manager), MailKind.PASSWORD_RESET, "EN")
    assert [problem.message for problem in refused.value.problems] == [
        "The test email wasn't sent.",
        "The mail server responded with 550: 5.7.1 Not from here.",
    ]
    assert trail(shop, "mail.test") == []


def test_only_people_with_the_permission_send_tests(shop: Ports) -> None:
    for caller in (NOBODY, OPERATOR, actor_of(shop, make_user(shop))):
        with pytest.raises(PermissionDenied):
            send_test_mail(shop, caller, MailKind.PASSWORD_RESET, "EN")
        with pytest.raises(PermissionDenied):
            preview_mail(shop, caller, MailKind.PASSWORD_RESET, "EN")


def test_tests_are_limited(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MANAGER)
    statuses = [console.send(f"{PAGE}/test", LOOK, seen_at=PAGE).status for _ in range(11)]
    assert statuses == [303] * 10 + [429]
    assert len(trail(shop, "mail.test")) == 10
