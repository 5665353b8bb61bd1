"""The mail log at the console: filtered, exported, on a person's page, and sent again."""

import csv
import io
from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.deliveries.fanout import fan_out_events
from app.services.mails.sending import send_due_mail
from tests.builders.app_mail import CLARA, make_mailing_shop
from tests.builders.deliveries import work_off
from tests.builders.mails import make_mail, make_waiting_mail, stored_mails
from tests.builders.people import make_staff, make_user
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.kept_application import AppOn

STAFF, USERS = Permission.MANAGE_STAFF, Permission.MANAGE_USERS
HANNA = "hanna@example.com"
REJECTED = "The mail server rejected the recipient with 550: 5.1.1 User unknown."
GREYLISTED = "The mail server rejected the recipient with 450: 4.7.1 Greylisted."
SHOP = "http://localhost:3000/reset"


@pytest.fixture
def hanna(shop: Ports, clock: FakeClock) -> int:
    """A customer with a sent email (1), a failed one (2) and a deferred one (3)."""
    key = make_user(shop, HANNA, first_name="Hanna", last_name="Berg")
    make_mail(shop, user_id=key, recipient=HANNA, redirect_url=SHOP)
    make_mail(
        shop,
        user_id=key,
        recipient=HANNA,
        kind="password_changed",
        sent_at=None,
        last_error=REJECTED,
    )
    make_waiting_mail(
        shop,
        user_id=key,
        recipient=HANNA,
        kind="account_confirmation",
        last_error=GREYLISTED,
        attempts=2,
        attempted_at=clock.now(),
        next_attempt_at=clock.now() + timedelta(minutes=10),
    )
    clock.pass_(minutes=3)
    return key


def test_emails_are_listed_with_recipient_and_result(
    staff_console: StaffConsole, hanna: int, statements: Statements
) -> None:
    console = staff_console(STAFF)
    with statements() as seen:
        page = console.open("/console/emails/log/")
    assert len(seen) <= 4
    for words in (
        f"Account confirmation {HANNA} Hanna Berg Deferred {GREYLISTED} 3 min ago",
        f"Password changed {HANNA} Hanna Berg Failed {REJECTED}",
        f"Password reset {HANNA} Hanna Berg Sent 3 min ago",
        "retained for 90 days",
        "bounces aren't recorded",
        "3 emails",
    ):
        assert words in page.text
    assert page.html.count('href="/console/emails/log/2"') == 1


def test_filters_apply_and_are_named(staff_console: StaffConsole, hanna: int) -> None:
    console = staff_console(STAFF)
    page = console.open("/console/emails/log/?result=FAILED&kind=password_changed&q=hanna")
    assert "1 of 3 emails" in page.text
    assert "Result: Failed" in page.text
    assert "Email: Password changed" in page.text
    assert GREYLISTED not in page.text
    assert "No matching emails" in console.open("/console/emails/log/?to=2020-01-01").text


def test_invalid_filter_is_ignored_and_named(staff_console: StaffConsole, hanna: int) -> None:
    page = staff_console(STAFF).open("/console/emails/log/?result=nonsense&kind=nonsense&from=x")
    assert "3 emails" in page.text
    assert page.text.count("isn't valid") == 3


@pytest.mark.parametrize("sends_mail", [True, False])
def test_mails_written_to_a_file_are_not_called_sent(
    hanna: int, shop: Ports, app_on: AppOn, sends_mail: bool
) -> None:
    ports = replace(shop, configuration=replace(shop.configuration, sends_mail=sends_mail))
    make_staff(ports, "manager@example.com", Permission.MANAGE_STAFF)
    console = ConsoleClient(app_on(ports).test_client(), ports)
    console.sign_in("manager@example.com")
    page, entry = console.open("/console/emails/log/"), console.open("/console/emails/log/1")
    assert ("are written to a file" in page.text) is not sends_mail
    for shown in (page.text, entry.text):
        assert ("Written to a file" in shown) is not sends_mail
    assert ("Accepted by the mail server" in entry.text) is sends_mail


def test_who_manages_customers_sees_only_emails_about_them(
    staff_console: StaffConsole, shop: Ports, hanna: int
) -> None:
    tom = make_staff(shop, "tom@example.com")
    invitation = make_mail(shop, user_id=tom, recipient="tom@example.com", kind="staff_invitation")
    console = staff_console(USERS)
    page = console.open("/console/emails/log/")
    assert "tom@example.com" not in page.text
    assert "3 emails" in page.text
    assert console.open(f"/console/emails/log/{invitation}").status == 404
    assert console.send(f"/console/emails/log/{invitation}/resend").status == 404
    assert "tom@example.com" not in console.open("/console/emails/log/export.csv").html
    assert len(stored_mails(shop)) == 4


def test_export_holds_every_matching_email(staff_console: StaffConsole, hanna: int) -> None:
    answer = staff_console(STAFF).open("/console/emails/log/export.csv")
    deferred, failed, sent = csv.DictReader(io.StringIO(answer.html))
    assert (deferred["result"], deferred["attempts"]) == ("deferred", "2")
    assert (failed["email"], failed["error"]) == ("password_changed", REJECTED)
    assert (sent["recipient"], sent["name"], sent["result"]) == (HANNA, "Hanna Berg", "sent")
    assert SHOP not in answer.html


def test_one_email_is_shown_with_its_result(staff_console: StaffConsole, hanna: int) -> None:
    page = staff_console(USERS).open("/console/emails/log/3")
    assert page.status == 200
    for words in (
        f"Account confirmation to {HANNA}",
        "Result Deferred",
        GREYLISTED,
        "Attempts 2",
        "Next attempt 1 Mar 2026, 12:10:00 UTC",
        "Retry now",
    ):
        assert words in page.text
    assert f'href="/console/customers/{hanna}"' in page.html
    assert (
        staff_console(STAFF, email="s2@example.com").open("/console/emails/log/99").status == 404
    )


def test_deferred_email_is_retried_at_once(
    staff_console: StaffConsole, shop: Ports, hanna: int, clock: FakeClock
) -> None:
    console = staff_console(USERS)
    answer = console.send("/console/emails/log/3/resend")
    assert answer.leads_to == "/console/emails/log/3"
    assert f"Retrying the email to {HANNA} now." in console.follow(answer).text
    assert stored_mails(shop)[2].next_attempt_at == clock.now()


def test_password_reset_is_sent_again_and_shows_no_link(
    staff_console: StaffConsole, shop: Ports, hanna: int
) -> None:
    console = staff_console(USERS)
    assert "Earlier links stop working." in console.open("/console/emails/log/1").text
    answer = console.send("/console/emails/log/1/resend")
    assert answer.leads_to == "/console/emails/log/4"
    shown = console.follow(answer)
    assert f"A new email was queued for {HANNA}." in shown.text
    assert "Queued" in shown.text
    assert stored_mails(shop)[3].redirect_url == SHOP
    assert "token=" not in shown.html
    assert SHOP not in shown.html
    again = console.follow(console.send("/console/emails/log/1/resend"))
    assert "A link was sent within the last 15 minutes." in again.text
    assert len(stored_mails(shop)) == 4


def test_other_emails_say_why_they_cannot_be_sent_again(
    staff_console: StaffConsole, shop: Ports, hanna: int
) -> None:
    console = staff_console(USERS)
    page = console.open("/console/emails/log/2")
    assert "This email can't be sent again" in page.text
    assert "/resend" not in page.html
    refused = console.follow(console.send("/console/emails/log/2/resend"))
    assert "This email can't be sent again" in refused.text
    assert len(stored_mails(shop)) == 3


def test_missing_permission_is_named_instead_of_a_button(
    staff_console: StaffConsole, hanna: int
) -> None:
    console = staff_console(STAFF)
    page = console.open("/console/emails/log/1")
    assert f"you need the permission “{USERS.label}”" in page.text
    assert "/resend" not in page.html
    assert console.send("/console/emails/log/1/resend").status == 403


def test_page_of_a_person_has_their_newest_emails(
    staff_console: StaffConsole, shop: Ports, hanna: int
) -> None:
    tom = make_staff(shop, "tom@example.com")
    make_mail(shop, user_id=tom, recipient="tom@example.com", kind="staff_invitation")
    console = staff_console(STAFF, USERS)
    customer = console.open(f"/console/customers/{hanna}?view=emails")
    assert "Recent emails" in customer.text
    assert f"Password changed {HANNA} Failed {REJECTED}" in customer.text
    assert "Staff invitation" not in customer.text
    assert f'href="/console/emails/log/?q={HANNA}"' in customer.html
    member = console.open(f"/console/staff/{tom}?view=emails")
    assert "Staff invitation tom@example.com Sent" in member.text
    assert REJECTED not in member.text


def test_who_manages_orders_alone_sees_no_emails(staff_console: StaffConsole, hanna: int) -> None:
    console = staff_console(Permission.MANAGE_ORDERS)
    page = console.open(f"/console/customers/{hanna}?view=emails")
    assert page.status == 200
    assert "Recent emails" not in page.text
    assert console.open("/console/emails/log/").status == 403


def test_emails_that_an_app_sends_name_it(staff_console: StaffConsole, shop: Ports) -> None:
    name = "<b>Mailer</b>"
    make_user(shop, CLARA)
    mailing = make_mailing_shop(shop)
    mailing.make_listener(USERS, name=name)
    mailing.ask()
    console = staff_console(USERS)
    page = console.open("/console/emails/log/?result=WAITING")
    assert "1 email" in page.text
    assert f"Password reset {CLARA} Waiting for app" in page.text
    fan_out_events(mailing.ports, WORKER)
    page = console.open("/console/emails/log/1")
    for words in (
        f"Result Waiting for app App {name}",
        "Waits until 1 Mar 2026, 12:30:00 UTC",
        "It's sent without the app 30 minutes after it was queued",
        "Send without the app",
    ):
        assert words in page.text
    assert name not in page.html, "an app's name is text"
    work_off(mailing.ports)
    send_due_mail(mailing.ports, WORKER)
    page = console.open("/console/emails/log/?result=SENT_BY_APP")
    assert f"Password reset {CLARA} Sent by app {name}" in page.text
    page = console.open("/console/emails/log/1")
    assert "Accepted by the app 1 Mar 2026, 12:00:00 UTC" in page.text
    assert "A new link is sent" in page.text


def test_waiting_email_is_sent_without_the_app(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    make_user(shop, CLARA)
    mailing = make_mailing_shop(shop)
    mailing.make_listener(USERS)
    mailing.ask()
    console = staff_console(USERS)
    answer = console.follow(console.send("/console/emails/log/1/resend"))
    assert f"Retrying the email to {CLARA} now." in answer.text
    send_due_mail(mailing.ports, WORKER)
    assert mailing.sent_to == [CLARA]
