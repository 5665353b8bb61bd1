"""From the email about a new device to a new password, through a real mail server."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.adapters.mail.mailer import SmtpMailer
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.mails.mail import MailKind
from app.services.mails.sending import send_due_mail
from app.services.outbox.base_url import save_base_url
from tests.browser.console import RunningShop, Watch
from tests.browser.test_second_factors import faults
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, make_staff, sessions_of, user_as_stored
from tests.servers.smtp import smtp_server
from tests.services.logins import log_in

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("scheme"),
]

STAFF = "staff@example.com"


def look(page: Page, name: str) -> None:
    """Keep pictures of the page if ``PICTURES`` names a folder."""
    folder = os.environ.get("PICTURES")  # noqa: TID251
    if folder:
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=Path(folder) / f"{name}-{width}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_unknown_sign_in_is_reported_from_the_email(
    page: Page, small_shop: RunningShop, scheme: str, tmp_path: Path
) -> None:
    watch = Watch(page, small_shop.url, "file:")
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    ports = small_shop.ports
    save_base_url(ports, OPERATOR, small_shop.url)
    user_id = make_staff(ports, STAFF)
    for user_agent in ("the owner's own", page.evaluate("navigator.userAgent")):
        log_in(ports, STAFF, actor=replace(NOBODY, user_agent=user_agent))
    assert len(mails(ports, MailKind.NEW_DEVICE)) == 1

    with smtp_server() as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        assert send_due_mail(replace(ports, mailer=mailer), WORKER) == 1
    (message,) = mailbox.messages
    assert message["To"] == STAFF
    assert "New sign-in to your account at" in message["Subject"]
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "Device: Chrome on Linux" in text.get_content()
    letter = tmp_path / "mail.html"
    letter.write_text(html.get_content())

    page.goto(letter.as_uri())
    look(page, f"mail-{scheme}")
    page.get_by_role("link", name="This wasn't me").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Secure your account")
    assert page.url == f"{small_shop.url}/console/not-me/account"
    expect(page.get_by_text("Someone signed in from a new device or network.")).to_be_visible()
    look(page, f"confirm-{scheme}")
    assert faults(page) == []
    assert len(sessions_of(ports, user_id)) == 2
    page.get_by_role("button", name="Secure account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account is secured")
    assert (sessions_of(ports, user_id), user_as_stored(ports, user_id).password_hash) == (
        [],
        None,
    )
    look(page, f"done-{scheme}")
    assert faults(page) == []
    page.get_by_role("link", name="Set a new password").click()
    page.get_by_label("New password").fill("nine lazy Störche by the sea")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_text("Your password is set, and you are signed in.")).to_be_visible()
    page.locator(".lk-menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Email")).to_be_visible()
    assert sessions_of(ports, user_id) == []
    assert watch.take() == []
