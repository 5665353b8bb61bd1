"""The mail log on a phone: deferred emails, and those that wait for an app."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailSender
from app.services.deliveries.fanout import fan_out_events
from app.services.mails.sending import send_due_mail
from tests.browser.console import RunningShop
from tests.builders.app_mail import CLARA, make_mailing_shop
from tests.builders.mails import make_waiting_mail, stored_mails
from tests.builders.people import make_user

pytestmark = pytest.mark.browser

LONG_NAME = "Mailer" * 40
LONG = "The mail server rejected the recipient with 450: " + "(" * 200
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def test_deferred_email_is_retried_from_a_persons_page(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    now = ports.clock.now()
    clara = make_user(ports, "clara@example.com", first_name="Clara")
    make_waiting_mail(
        ports,
        user_id=clara,
        recipient="clara@example.com",
        last_error=LONG,
        attempts=1,
        attempted_at=now - timedelta(minutes=5),
        next_attempt_at=now + timedelta(hours=8),
    )
    admin.set_viewport_size({"width": 320, "height": 700})
    admin.goto(f"{small_shop.url}/console/customers/{clara}?view=emails")
    assert not admin.evaluate(TOO_WIDE)
    admin.get_by_role("link", name="Password reset", exact=True).click()
    expect(admin.get_by_role("heading", level=1)).to_have_text(
        "Password reset to clara@example.com"
    )
    assert not admin.evaluate(TOO_WIDE)
    admin.get_by_role("button", name="Retry now").click()
    expect(admin.get_by_text("Retrying the email to clara@example.com now.")).to_be_visible()
    [mail] = stored_mails(ports)
    assert mail.next_attempt_at is not None
    assert mail.next_attempt_at < now + timedelta(hours=1)
    admin.goto(f"{small_shop.url}/console/emails/log/?result=DEFERRED")
    expect(admin.get_by_role("link", name="Password reset")).to_be_visible()
    assert not admin.evaluate(TOO_WIDE)


def test_app_is_chosen_as_sender_and_its_email_followed(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    make_user(ports, CLARA)
    mailing = make_mailing_shop(ports, MailSender.OURS)
    admin.set_viewport_size({"width": 320, "height": 700})
    admin.goto(f"{small_shop.url}/console/emails/sending")
    card = admin.locator("#mail-senders")
    card.get_by_label("Password reset emails").select_option("An app")
    card.get_by_role("button", name="Save senders").click()
    expect(admin.get_by_text("Senders saved.")).to_be_visible()
    expect(card.get_by_text("This shop sends these emails, because no active app")).to_be_visible()
    mailing.make_listener(Permission.MANAGE_USERS, name=LONG_NAME)
    admin.reload()
    expect(card.get_by_text("This shop sends these emails, because no")).to_have_count(0)
    expect(card.get_by_text(f"Gets these links: {LONG_NAME}.").first).to_be_visible()
    assert not admin.evaluate(TOO_WIDE)

    mailing.ask()
    fan_out_events(ports, WORKER)
    admin.goto(f"{small_shop.url}/console/emails/log/?result=WAITING")
    assert not admin.evaluate(TOO_WIDE)
    admin.get_by_role("link", name="Password reset").click()
    expect(admin.get_by_text("Waiting for app")).to_be_visible()
    expect(admin.get_by_text(LONG_NAME)).to_be_visible()
    assert not admin.evaluate(TOO_WIDE)
    admin.get_by_role("button", name="Send without the app").click()
    expect(admin.get_by_text(f"Retrying the email to {CLARA} now.")).to_be_visible()
    send_due_mail(mailing.ports, WORKER)
    assert mailing.sent_to == [CLARA]
