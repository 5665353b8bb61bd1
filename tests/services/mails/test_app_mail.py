"""An app sends an email instead of us; ours is sent as soon as the app can't."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, update

from app import models
from app.domain.accounts.email_links import LIFETIMES, LinkPurpose
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.mails.mail import MAX_WAIT, MailSender
from app.domain.mails.mail_log import MailFilter, MailStatus
from app.domain.shop.settings import ShopUpdate
from app.domain.values.pages import PageRequest
from app.domain.webhooks import TEMPORARY_URL
from app.ports import Ports
from app.services.accounts.password_changes import set_password
from app.services.deliveries.fanout import fan_out_events
from app.services.mails.mail_log import list_mails, resend_mail
from app.services.mails.sending import send_due_mail, settle_app_mail
from app.services.shop.settings import update_shop
from tests.builders.app_mail import CLARA, PAGE, MailingShop, make_mailing_shop
from tests.builders.apps import make_app
from tests.builders.deliveries import work_off
from tests.builders.outbox import mails, token_in
from tests.builders.people import NOBODY, make_user
from tests.builders.webhooks import make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

STAFF, USERS = Permission.MANAGE_STAFF, Permission.MANAGE_USERS
NEW = "a heron walks at dawn"
ALL = PageRequest(10)


@pytest.fixture
def shop(ports: Ports) -> MailingShop:
    make_user(ports, CLARA)
    return make_mailing_shop(ports)


def with_status(shop: MailingShop) -> dict[MailStatus, int]:
    """Count the emails that the log finds by each status."""
    found = {
        status: len(list_mails(shop.ports, OPERATOR, ALL, MailFilter(status=status)).items)
        for status in MailStatus
    }
    return {status: count for status, count in found.items() if count}


def test_app_sends_the_email_instead(shop: MailingShop, clock: FakeClock) -> None:
    shop.make_listener(USERS, name="Mailer")
    shop.ask()
    (waiting,) = shop.mails
    assert (waiting.status, waiting.waits_for) == (MailStatus.WAITING, "")
    assert with_status(shop) == {MailStatus.WAITING: 1}

    fan_out_events(shop.ports, WORKER)
    assert shop.mails[0].waits_for == "Mailer"
    work_off(shop.ports)
    send_due_mail(shop.ports, WORKER)

    (sent,) = shop.mails
    assert (sent.status, sent.sent_by, sent.waits_for) == (MailStatus.SENT_BY_APP, "Mailer", None)
    assert with_status(shop) == {MailStatus.SENT_BY_APP: 1}
    assert sent.sent_at == shop.ports.clock.now()
    assert shop.accepted == [CLARA]
    assert shop.stored[0].sealed == "", "the link must not stay readable"

    for hours in (0, 1, 23, 96):
        clock.pass_(hours=hours)
        shop.work()
        assert shop.sent_to == [], "ours is never sent as well"


@pytest.mark.parametrize("sender", [MailSender.OURS, MailSender.BOTH])
def test_ours_is_sent_at_once_unless_an_app_alone_sends(ports: Ports, sender: MailSender) -> None:
    make_user(ports, CLARA)
    shop = make_mailing_shop(ports, sender)
    shop.make_listener(USERS)
    shop.ask()
    assert shop.sent_to == [CLARA]
    shop.work()
    assert shop.accepted == [CLARA]
    assert [mail.status for mail in shop.mails] == [MailStatus.SENT]


def test_ours_is_sent_at_once_without_a_subscriber(shop: MailingShop) -> None:
    shop.ask()
    assert shop.sent_to == [], "not before it is clear that no app can"
    shop.work()
    assert shop.sent_to == [CLARA]
    assert shop.mails[0].status is MailStatus.SENT


@pytest.mark.parametrize(
    "query",
    [
        "subscription { event { ... on AccountSetPasswordRequested { user { email } } } }",
        "subscription { event { __typename } }",
    ],
)
def test_ours_is_sent_if_the_apps_query_leaves_the_link_out(shop: MailingShop, query: str) -> None:
    shop.make_listener(USERS, query=query)
    shop.ask()
    shop.work()
    assert shop.sent_to == [CLARA]


def test_ours_is_sent_if_the_link_only_waits_at_a_temporary_endpoint(shop: MailingShop) -> None:
    app, _ = make_app(shop.ports, "listen", USERS)
    event = EventType.ACCOUNT_SET_PASSWORD_REQUESTED
    make_webhook(shop.ports, app, event, target_url=TEMPORARY_URL)
    shop.ask()
    shop.work()
    assert shop.sent_to == [CLARA]


def test_failing_app_is_retried_as_long_as_there_is_time(
    shop: MailingShop, clock: FakeClock
) -> None:
    """Attempts at once, after 5 s and after 5 minutes; the next would be too late for a link."""
    shop.make_listener(USERS)
    shop.status = 500
    shop.ask()
    for wait in (0, 6):
        clock.pass_(seconds=wait)
        shop.work()
        assert shop.sent_to == []
    clock.pass_(minutes=6)
    shop.work()
    assert shop.sent_to == [CLARA]
    assert shop.accepted == [CLARA] * 3


def test_app_that_recovers_in_time_sends_it(shop: MailingShop, clock: FakeClock) -> None:
    shop.make_listener(USERS)
    shop.status = 503
    shop.ask()
    shop.work()
    shop.status = 200
    clock.pass_(seconds=6)
    shop.work()
    assert [mail.sent_by for mail in shop.mails] == ["Mailer"]
    assert shop.sent_to == []


def test_app_that_is_gone_is_not_waited_for(shop: MailingShop) -> None:
    shop.make_listener(USERS)
    shop.status = 410
    shop.ask()
    shop.work()
    assert shop.sent_to == [CLARA]


def test_one_of_two_apps_is_enough(shop: MailingShop, clock: FakeClock) -> None:
    failing = shop.make_listener(USERS, name="Broken")
    shop.make_listener(USERS, name="Mailer")
    with shop.ports.database.transaction() as session:
        broken = update(models.Webhook).where(models.Webhook.id == failing)
        session.execute(broken.values(is_active=False))
    shop.ask()
    shop.work()
    assert [mail.sent_by for mail in shop.mails] == ["Mailer"]


GOES_AWAY = {
    "webhook-disabled": update(models.Webhook).values(is_active=False),
    "app-deactivated": update(models.App).values(is_active=False),
    "webhook-deleted": delete(models.Webhook),
    "app-deleted": delete(models.App),
}


def test_ours_is_sent_at_once_when_the_app_goes_away(shop: MailingShop) -> None:
    shop.status = 500
    for name, change in GOES_AWAY.items():
        person = f"{name}@example.com"
        make_user(shop.ports, person)
        shop.make_listener(USERS)
        shop.ask(person)
        shop.work()
        assert person not in shop.sent_to
        with shop.ports.database.transaction() as session:
            session.execute(change)
        send_due_mail(shop.ports, WORKER)
        assert shop.sent_to[-1:] == [person]


def test_link_still_works_when_ours_is_sent_at_the_latest(
    shop: MailingShop, clock: FakeClock
) -> None:
    """Neither fan-out nor deliveries run: time alone sends it, in half of the link's life."""
    shop.make_listener(USERS)
    shop.ask()
    (promised,) = mails(shop.ports)
    clock.pass_(seconds=MAX_WAIT.total_seconds() - 1)
    send_due_mail(shop.ports, WORKER)
    assert shop.sent_to == []
    clock.pass_(seconds=1)
    send_due_mail(shop.ports, WORKER)
    assert shop.sent_to == [CLARA]
    clock.pass_(minutes=29)
    set_password(shop.ports, NOBODY, email=CLARA, token=token_in(promised), password=NEW)


def test_late_answer_of_the_app_changes_nothing(shop: MailingShop, clock: FakeClock) -> None:
    shop.make_listener(USERS)
    shop.ask()
    clock.pass_(seconds=MAX_WAIT.total_seconds())
    send_due_mail(shop.ports, WORKER)
    shop.work()
    assert shop.accepted == [CLARA]
    assert [(mail.status, mail.sent_by) for mail in shop.mails] == [(MailStatus.SENT, "")]
    assert shop.stored[0].awaited_event_id is None


def test_deferred_email_of_ours_waits_for_no_app(shop: MailingShop, clock: FakeClock) -> None:
    """Once it is released, only the mail server decides."""
    shop.ask()
    shop.work()
    (sent,) = shop.stored
    assert (sent.awaited_event_id, sent.attempts) == (None, 1)
    assert settle_app_mail(shop.ports, WORKER) == 0


def test_email_that_an_older_worker_is_sending_is_left_alone(
    shop: MailingShop, clock: FakeClock
) -> None:
    """During an upgrade: it claims an email whose time is up, and knows of no app."""
    shop.make_listener(USERS)
    shop.ask()
    claimed = clock.now() + timedelta(minutes=5)
    with shop.ports.database.transaction() as session:
        mail = session.get_one(models.OutboxMail, 1)
        mail.lease, mail.next_attempt_at = "older", claimed
    fan_out_events(shop.ports, WORKER)
    work_off(shop.ports)
    assert shop.accepted == [CLARA]
    assert settle_app_mail(shop.ports, WORKER) == 0
    (stored,) = shop.stored
    assert (stored.lease, stored.next_attempt_at) == ("older", claimed)


def test_person_who_asks_again_gets_ours_too(shop: MailingShop, clock: FakeClock) -> None:
    shop.make_listener(USERS)
    shop.ask()
    shop.work()
    clock.pass_(hours=1)
    shop.ask()
    assert shop.sent_to == [CLARA]
    shop.work()
    assert shop.accepted == [CLARA] * 2
    clock.pass_(hours=25)
    shop.ask()
    shop.work()
    assert shop.sent_to == [CLARA], "a day later the app is trusted again"


def test_waiting_email_is_ours_when_the_setting_is_taken_back(shop: MailingShop) -> None:
    shop.make_listener(USERS)
    shop.ask()
    update_shop(shop.ports, OPERATOR, ShopUpdate(staff_invitation_sender=MailSender.OURS))
    send_due_mail(shop.ports, WORKER)
    assert shop.sent_to == []
    update_shop(shop.ports, OPERATOR, ShopUpdate(password_reset_sender=MailSender.OURS))
    send_due_mail(shop.ports, WORKER)
    assert shop.sent_to == [CLARA]


def test_newer_link_ends_the_wait_of_an_older_one(shop: MailingShop, clock: FakeClock) -> None:
    shop.make_listener(USERS)
    shop.status = 500
    shop.ask()
    shop.work()
    clock.pass_(minutes=20)
    shop.ask()
    assert shop.sent_to == [CLARA]
    (old, new) = shop.mails
    assert (old.status, old.error) == (
        MailStatus.FAILED,
        "A newer link replaced the one in this email.",
    )
    assert new.status is MailStatus.SENT
    clock.pass_(hours=1)
    shop.work()
    assert shop.sent_to == [CLARA]


def test_waiting_email_can_be_sent_by_hand(shop: MailingShop) -> None:
    shop.make_listener(USERS)
    shop.ask()
    sent = resend_mail(shop.ports, OPERATOR, shop.mails[0].id, PAGE)
    assert sent.status is MailStatus.QUEUED
    send_due_mail(shop.ports, WORKER)
    assert shop.sent_to == [CLARA]


@cases(
    "purpose",
    [
        LinkPurpose.SET_PASSWORD,
        LinkPurpose.INVITATION,
        LinkPurpose.CONFIRM_ACCOUNT,
        LinkPurpose.CHANGE_EMAIL,
    ],
)
def test_half_of_each_links_life_is_left_after_the_wait(purpose: LinkPurpose) -> None:
    assert LIFETIMES[purpose] / 2 >= MAX_WAIT
