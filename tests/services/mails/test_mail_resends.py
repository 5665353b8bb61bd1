"""Sending emails of the mail log again."""

from dataclasses import replace

import pytest
from sqlalchemy import delete

from app import models
from app.adapters.mail.mailer import SmtpMailer
from app.domain.authorization.actor import OPERATOR, WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.mail_log import MailEntry, MailStatus
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.accounts.password_changes import set_password
from app.services.accounts.password_resets import send_reset_link
from app.services.mails.mail_log import resend_mail, resend_problem, show_mail
from app.services.mails.sending import send_due_mail
from app.services.outbox.publisher import add_mail
from app.services.people.customers import NewCustomer, create_customer
from app.services.people.staff import NewStaff, create_staff
from tests.builders.audit import trail
from tests.builders.mails import make_mail, make_waiting_mail, stored_mails
from tests.builders.outbox import mails, token_in
from tests.builders.people import NOBODY, actor_of, change_user, make_staff, make_user
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.servers.smtp import smtp_server

CONSOLE = "http://localhost:8000/console/set-password"
SHOP = "http://localhost:3000/reset"
CLARA = "clara@example.com"
NEW = "a heron walks at dawn"
ANEW = {MailKind.PASSWORD_RESET, MailKind.STAFF_INVITATION, MailKind.CUSTOMER_INVITATION}
STAFF, USERS = Permission.MANAGE_STAFF, Permission.MANAGE_USERS


@pytest.fixture
def clara(ports: Ports) -> int:
    return make_user(ports, CLARA)


@pytest.fixture
def support(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "support@example.com", USERS))


@pytest.fixture
def boss(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "boss@example.com", STAFF, USERS))


def entry(ports: Ports, mail_id: int) -> MailEntry:
    found = show_mail(ports, OPERATOR, mail_id)
    assert found is not None
    return found


def problems(ports: Ports, actor: Actor, mail_id: int) -> list[tuple[str, str | None]]:
    with pytest.raises(Refused) as refused:
        resend_mail(ports, actor, mail_id, CONSOLE)
    return [(one.code, one.field) for one in refused.value.problems]


def empty(ports: Ports) -> None:
    """Send what waits, so that no content is kept."""
    send_due_mail(ports, WORKER)
    assert {mail.sealed for mail in stored_mails(ports)} == {""}


def test_password_link_is_made_anew_for_the_page_of_the_old_one(
    ports: Ports, clara: int, support: Actor, clock: FakeClock
) -> None:
    send_reset_link(ports, support, clara, redirect_url=SHOP)
    [old] = mails(ports)
    empty(ports)
    clock.pass_(minutes=15)
    resend_mail(ports, support, 1, CONSOLE)
    first, second = stored_mails(ports)
    assert (first.user_id, first.redirect_url, second.redirect_url) == (clara, SHOP, SHOP)
    with pytest.raises(Refused):
        set_password(ports, OPERATOR, email=CLARA, password=NEW, token=token_in(old))
    assert entry(ports, 2).status is MailStatus.QUEUED
    rows = trail(ports, "password.reset_link")
    assert [row.actor_user_id for row in rows] == [support.user_id, support.user_id]


def test_new_link_works_and_goes_to_the_current_email(
    ports: Ports, clara: int, support: Actor
) -> None:
    sent = make_mail(ports, user_id=clara, recipient="former@example.com", redirect_url=SHOP)
    resend_mail(ports, support, sent, CONSOLE)
    with ports.database.transaction() as session:
        session.execute(delete(models.OutboxMail).where(models.OutboxMail.id == sent))
    [mail] = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.PASSWORD_RESET, CLARA)
    assert mail.values["link"].startswith(f"{SHOP}?email=")
    set_password(ports, OPERATOR, email=CLARA, password=NEW, token=token_in(mail))


def test_links_without_a_kept_page_open_the_console(
    ports: Ports, clara: int, support: Actor
) -> None:
    resend_mail(ports, support, make_mail(ports, user_id=clara), CONSOLE)
    assert stored_mails(ports)[-1].redirect_url == CONSOLE


def test_page_that_links_may_not_lead_to_anymore_is_refused(
    ports: Ports, clara: int, support: Actor
) -> None:
    mail = make_mail(ports, user_id=clara, redirect_url="https://former.example/reset")
    assert problems(ports, support, mail) == [("INVALID", "redirectUrl")]
    assert len(stored_mails(ports)) == 1


def test_links_are_limited_by_the_lock_time_of_resets(
    ports: Ports, clara: int, support: Actor, clock: FakeClock
) -> None:
    mail = make_mail(ports, user_id=clara)
    resend_mail(ports, support, mail, CONSOLE)
    assert problems(ports, support, mail) == [("PASSWORD_RESET_ALREADY_REQUESTED", "id")]
    clock.pass_(minutes=15)
    resend_mail(ports, support, mail, CONSOLE)
    assert len(stored_mails(ports)) == 3


def test_staff_invitation_is_sent_again(ports: Ports, boss: Actor, support: Actor) -> None:
    create_staff(ports, OPERATOR, NewStaff("sofia@example.com", redirect_url=CONSOLE))
    empty(ports)
    assert problems(ports, support, 1) == [("NOT_FOUND", "id")]
    resend_mail(ports, boss, 1, CONSOLE)
    assert stored_mails(ports)[-1].kind == "staff_invitation"
    [row] = trail(ports, "staff.invite")
    assert row.actor_user_id == boss.user_id


def test_customer_invitation_is_sent_again(ports: Ports, support: Actor) -> None:
    new = NewCustomer("kim@example.com", redirect_url=SHOP)
    kim = create_customer(ports, OPERATOR, new).id
    empty(ports)
    resend_mail(ports, support, 1, CONSOLE)
    assert [(mail.kind, mail.redirect_url) for mail in stored_mails(ports)] == [
        ("customer_invitation", SHOP)
    ] * 2
    [row] = trail(ports, "customer.invite")
    assert (row.actor_user_id, row.subject_id) == (support.user_id, str(kim))


def test_invitation_is_not_sent_to_people_with_a_password(
    ports: Ports, clara: int, support: Actor
) -> None:
    mail = make_mail(ports, user_id=clara, kind="customer_invitation")
    assert problems(ports, support, mail) == [("INVALID", "id")]


@pytest.mark.parametrize("is_sent", [True, False])
def test_other_kinds_say_why_they_are_not_sent_again(
    ports: Ports, clara: int, boss: Actor, *, is_sent: bool
) -> None:
    result = {} if is_sent else {"sent_at": None, "last_error": "Rejected with 550."}
    kinds = [*sorted({*MailKind} - ANEW), "kind_of_a_later_version"]
    for kind in kinds:
        mail = make_mail(ports, user_id=clara, kind=kind, **result)
        problem = resend_problem(entry(ports, mail))
        assert problem is not None, kind
        assert problems(ports, boss, mail) == [("INVALID", "id")], kind
    assert len(stored_mails(ports)) == len(kinds)
    assert trail(ports, "mail.retry") == []


def test_email_of_a_deleted_account_is_not_sent_again(ports: Ports, boss: Actor) -> None:
    mails_of_none = [make_mail(ports, user_id=999), make_mail(ports)]
    for mail in mails_of_none:
        assert problems(ports, boss, mail) == [("INVALID", "id")]


def test_waiting_email_is_sent_at_once_with_its_link(
    ports: Ports, clara: int, support: Actor, clock: FakeClock
) -> None:
    with smtp_server() as (mailbox, host):
        mailbox.stranger = "450 4.7.1 Greylisted"
        posting = replace(ports, mailer=SmtpMailer(f"smtp://{host}", "noreply@example.com"))
        with ports.database.transaction() as session:
            values = {"link": f"{SHOP}?token=sesame", "lifetime": "1 hour"}
            mail = Mail(MailKind.ACCOUNT_CONFIRMATION, CLARA, values)
            add_mail(ports, session, mail, user_id=clara)
        for _ in range(3):
            send_due_mail(posting, WORKER)
            clock.pass_(minutes=3)
        assert entry(ports, 1).status is MailStatus.DEFERRED
        mailbox.stranger = ""
        assert send_due_mail(posting, WORKER) == 0, "the next attempt is due in minutes"
        resend_mail(ports, support, 1, CONSOLE)
        assert send_due_mail(posting, WORKER) == 1
        [message] = mailbox.messages
        text = message.get_body(("plain",))
        assert text is not None
        assert "token=sesame" in text.get_content()
    assert entry(ports, 1).status is MailStatus.SENT
    [row] = trail(ports, "mail.retry")
    assert (row.subject_type, row.subject_id, row.subject_name) == (
        *("Mail", "1", "Account confirmation"),
    )
    assert "sesame" not in f"{row.before}{row.after}"


def test_waiting_email_is_tried_once_a_minute(
    ports: Ports, clara: int, support: Actor, clock: FakeClock
) -> None:
    later = clock.now().replace(year=2030)
    mail = make_waiting_mail(
        ports, user_id=clara, attempted_at=clock.now(), next_attempt_at=later, attempts=1
    )
    clock.pass_(seconds=59)
    assert problems(ports, support, mail) == [("INVALID", "id")]
    assert entry(ports, mail).next_attempt_at == later
    clock.pass_(seconds=1)
    resend_mail(ports, support, mail, CONSOLE)
    assert entry(ports, mail).next_attempt_at == clock.now()


def test_email_that_is_being_sent_is_left_alone(
    ports: Ports, clara: int, support: Actor, clock: FakeClock
) -> None:
    ends = clock.now().replace(year=2030)
    mail = make_waiting_mail(ports, user_id=clara, lease="a worker's", next_attempt_at=ends)
    resend_mail(ports, support, mail, CONSOLE)
    assert entry(ports, mail).next_attempt_at == ends
    assert trail(ports, "mail.retry") == []


def test_unknown_email_is_refused(ports: Ports, boss: Actor) -> None:
    assert problems(ports, boss, 99) == [("NOT_FOUND", "id")]


def test_rank_protects_the_account_of_an_email(ports: Ports, clara: int) -> None:
    manager = actor_of(ports, make_staff(ports, "m@example.com", STAFF))
    rich = make_staff(ports, "rich@example.com", Permission.MANAGE_APPS)
    beyond = make_mail(ports, user_id=rich, recipient="rich@example.com")
    assert problems(ports, manager, beyond) == [("OUT_OF_SCOPE_USER", "id")]
    with pytest.raises(PermissionDenied):
        resend_mail(ports, manager, make_mail(ports, user_id=clara), CONSOLE)
    with pytest.raises(PermissionDenied):
        resend_mail(ports, NOBODY, beyond, CONSOLE)
    assert len(stored_mails(ports)) == 2


def test_inactive_people_and_password_login_off_are_refused(
    ports: Ports, clara: int, support: Actor
) -> None:
    mail = make_mail(ports, user_id=clara)
    change_user(ports, clara, is_active=False)
    assert problems(ports, support, mail) == [("INACTIVE", "id")]
    change_user(ports, clara, is_active=True)
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert problems(ports, support, mail) == [("DISABLED_AUTHENTICATION_METHOD", None)]
    assert len(stored_mails(ports)) == 1
