"""Emails as a real mail server received them, in light and dark, wide and on a phone."""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.message import EmailMessage
from html import unescape

import pytest
from playwright.sync_api import Browser, Page, expect

from app import models
from app.adapters.mail.mailer import SmtpMailer
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.mails.mail import MailKind
from app.domain.mails.values import sample_mail
from app.domain.shop.settings import ShopUpdate
from app.domain.values.inputs import Upload
from app.ports import Ports
from app.services.mails.sending import send_due_mail
from app.services.outbox.publisher import add_mail
from app.services.shop.settings import update_logo, update_shop
from tests.browser.axe import ALL_RULES, COLOR_RULES, Rules, findings
from tests.browser.console import RunningShop
from tests.browser.test_accessibility import TOO_WIDE
from tests.builders.images import png
from tests.builders.mails import stored_mails
from tests.fakes.clock import FakeClock
from tests.fixtures.one_of_each import InTurn
from tests.fixtures.ports import fake_ports
from tests.servers.smtp import smtp_server

pytestmark = [pytest.mark.browser, pytest.mark.first]

RECIPIENT = "maya.long-name@subdomain.of.a.department.example.com"
WIDTHS = (600, 320)
SCHEMES = {"light": WIDTHS, "dark": WIDTHS[::-1]}
"""Each with its widths, so that an email is laid out anew twice; the layout is that of light."""
DIRECTIONS = ("EN", "AR")
"""A language that is read from the left, and one from the right."""
EMAIL_RULES: Rules = {**ALL_RULES, "runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]}
BACKGROUND = "getComputedStyle(document.querySelector('.card')).backgroundColor"
LOADED = "document.images.length && document.images[0].naturalWidth > 0"


@dataclass(frozen=True, slots=True)
class Received:
    """An email that arrived; ``html`` shows its attached logo."""

    kind: MailKind
    language: str
    message: EmailMessage

    @property
    def html(self) -> str:
        shown = self.message.get_body(("html",))
        assert shown is not None
        page: str = shown.get_content()
        for part in self.message.walk():
            if part.get_content_maintype() == "image":
                picture = b64encode(part.get_content()).decode()
                name = part["Content-ID"].strip("<>")
                assert f"cid:{name}" in page
                page = page.replace(f"cid:{name}", f"data:image/png;base64,{picture}")
        assert "cid:" not in page
        return page


def receive(ports: Ports, wanted: list[tuple[MailKind, str]]) -> list[Received]:
    """Send emails of these kinds and languages as the worker does; return what arrived."""
    base, now = "https://shop.example.com/account/links", ports.clock.now()
    with smtp_server() as (mailbox, host):
        sending = replace(ports, mailer=SmtpMailer(f"smtp://{host}", "noreply@shop.example"))
        for kind, language in wanted:
            with ports.database.transaction() as session:
                add_mail(ports, session, sample_mail(kind, RECIPIENT, base, now))
                session.flush()
                session.query(models.OutboxMail).order_by(models.OutboxMail.id.desc()).limit(
                    1
                ).one().language_code = language
            assert send_due_mail(sending, WORKER) == 1
        assert len(mailbox.messages) == len(wanted)
        return [
            Received(kind, language, message)
            for (kind, language), message in zip(wanted, mailbox.messages, strict=True)
        ]


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    """A shop with a look of its own."""
    ports = fake_ports(sqlite_url, clock)
    update = ShopUpdate(
        name="Northlight Ceramics",
        accent_color="#8a3ffc",
        mail_footer="Open Monday to Friday, 9:00 to 17:00.\nCall +33 1 23 45 67 89.",
        mail_legal_line="Northlight Ceramics SAS, 12 rue de la République, 69001 Lyon",
    )
    update_shop(ports, OPERATOR, update)
    update_logo(ports, OPERATOR, Upload("logo.png", "image/png", png(600, 120)))
    return ports


@pytest.fixture
def reader(browser: Browser) -> Iterator[Page]:
    """A mail program that is offline: whatever an email asks for is an error."""
    context = browser.new_context(java_script_enabled=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert [url for url in asked if not url.startswith(("data:", "about:"))] == []


def faults_of(reader: Page, mail: Received, *, with_axe: bool) -> Iterator[str]:
    reader.set_content(mail.html)
    rules = EMAIL_RULES
    for scheme, widths in SCHEMES.items() if with_axe else [("light", WIDTHS)]:
        reader.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        is_dark = reader.evaluate(BACKGROUND) != "rgb(255, 255, 255)"
        if is_dark is (scheme == "light"):
            yield f"{scheme}: it isn't"
        for width in widths:
            reader.set_viewport_size({"width": width, "height": 900})
            too_wide = reader.evaluate(TOO_WIDE)
            if too_wide:
                yield f"{scheme} at {width}: {too_wide}"
        if with_axe:
            yield from (f"{scheme}: {fault}" for fault in findings(reader, rules))
        rules = COLOR_RULES


def test_every_email_fits_and_can_be_read(ports: Ports, reader: Page, in_turn: InTurn) -> None:
    """The markup is the same in every language; axe reads each kind in one of both directions."""
    examined = {kind: {*in_turn(DIRECTIONS)} for kind in MailKind}
    wanted = [
        (kind, language)
        for kind in MailKind
        for language in sorted({*examined[kind], *in_turn(tuple(SHIPPED_LANGUAGES))})
    ]
    received = receive(ports, wanted)
    found = [
        f"{mail.kind} {mail.language}: {fault}"
        for mail in received
        for fault in faults_of(reader, mail, with_axe=mail.language in examined[mail.kind])
    ]
    assert found == []
    assert reader.evaluate(LOADED), "the attached logo is shown"
    for mail in received:
        assert_has_text_and_html(mail)
    assert {mail.sent_at is not None for mail in stored_mails(ports)} == {True}


def assert_has_text_and_html(mail: Received) -> None:
    message = mail.message
    assert message.get_content_type() == "multipart/alternative"
    text, related = message.iter_parts()
    assert (text.get_content_type(), related.get_content_type()) == (
        *("text/plain", "multipart/related"),
    )
    assert [part.get_content_type() for part in related.iter_parts()] == [
        *("text/html", "image/png")
    ]
    assert message["Subject"].strip() in unescape(mail.html)


def test_extreme_accents_and_long_names_can_be_read(ports: Ports, reader: Page) -> None:
    for accent in ("#ffdd00", "#ffffff", "#000000"):
        update = ShopUpdate(
            name="Donaudampfschifffahrtsgesellschaft" * 7,
            accent_color=accent,
            mail_footer="x" * 500,
            mail_legal_line="W" * 512,
        )
        update_shop(ports, OPERATOR, update)
        [mail] = receive(ports, [(MailKind.PASSWORD_CHANGED, "EN")])
        assert list(faults_of(reader, mail, with_axe=True)) == [], accent


def test_preview_shows_the_email_in_its_frame(admin: Page, small_shop: RunningShop) -> None:
    update_logo(small_shop.ports, OPERATOR, Upload("logo.png", "image/png", png(600, 120)))
    admin.set_viewport_size({"width": 320, "height": 800})
    admin.goto(f"{small_shop.url}/console/emails/look")
    frame = admin.frame_locator("iframe")
    expect(frame.get_by_role("heading", level=1)).to_have_text(
        "Reset your password for Latchkey shop"
    )
    card = frame.locator(".card")
    expect(card).to_have_css("background-color", "rgb(255, 255, 255)")
    loaded = "(image) => image.decode().then(() => image.naturalWidth > 0)"
    assert frame.get_by_role("img").evaluate(loaded)
    admin.get_by_label("Email", exact=True).select_option("password_changed")
    admin.get_by_label("Appearance").select_option("dark")
    expect(frame.get_by_role("heading", level=1)).to_have_text(
        "Your password at Latchkey shop was changed"
    )
    expect(card).to_have_css("background-color", "rgb(27, 37, 41)")
    assert not admin.evaluate(TOO_WIDE)
