"""The mail log: a deferred email is found on a phone, and retried."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import RunningShop
from tests.builders.mails import make_waiting_mail, stored_mails
from tests.builders.people import make_user

pytestmark = pytest.mark.browser

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
    admin.goto(f"{small_shop.url}/console/customers/{clara}")
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
    admin.goto(f"{small_shop.url}/console/mails/?result=DEFERRED")
    expect(admin.get_by_role("link", name="Password reset")).to_be_visible()
    assert not admin.evaluate(TOO_WIDE)
