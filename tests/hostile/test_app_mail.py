"""Apps that are to send emails keep no one from their account, by rights or by silence."""

import re
from collections.abc import Callable

import pytest
from sqlalchemy import delete

from app import models
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.mails.mail_log import MailStatus
from app.ports import Ports
from app.ports.http import CallFailed, CallFault, HttpRequest, HttpResponse
from app.services.accounts.password_changes import set_password
from app.services.webhooks.changes import WebhookInput, create_webhook
from tests.builders.app_mail import CLARA, LINK_EVENTS, MailingShop, make_mailing_shop
from tests.builders.apps import make_app
from tests.builders.outbox import mails, token_in
from tests.builders.people import NOBODY, actor_of, make_group, make_staff, make_user
from tests.fakes.clock import FakeClock

APPS, ORDERS, STAFF, USERS = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
)
BOSS = "boss@example.com"
NEW = "a heron walks at dawn"


@pytest.fixture
def shop(ports: Ports) -> MailingShop:
    return make_mailing_shop(ports)


def superuser(ports: Ports) -> int:
    return make_user(ports, BOSS, is_superuser=True)


def in_group(ports: Ports) -> int:
    group = make_group(ports, "Orders", ORDERS)
    return make_user(ports, BOSS, is_staff=True, groups=[group])


def directly(ports: Ports) -> int:
    return make_staff(ports, BOSS, ORDERS)


@pytest.mark.parametrize("person", [superuser, in_group, directly])
def test_app_of_lesser_rights_suppresses_no_email_of_staff(
    shop: MailingShop, person: Callable[[Ports], int]
) -> None:
    """It is sent the event, without the link, and accepts it."""
    shop.make_listener(STAFF, USERS)
    person(shop.ports)
    shop.ask(BOSS)
    shop.work()
    assert len(shop.http.requests) == 1
    assert shop.accepted == []
    assert shop.sent_to == [BOSS]
    assert [mail.status for mail in shop.mails] == [MailStatus.SENT]


def test_app_with_the_rights_of_a_staff_member_sends_their_email(shop: MailingShop) -> None:
    """The control: the same people, an app that holds what they hold."""
    shop.make_listener(STAFF, USERS, ORDERS)
    directly(shop.ports)
    shop.ask(BOSS)
    shop.work()
    assert shop.accepted == [BOSS]
    assert shop.sent_to == []


def test_no_app_sends_the_emails_of_a_superuser(shop: MailingShop) -> None:
    shop.make_listener(*(ALL_PERMISSIONS - {APPS}))
    superuser(shop.ports)
    shop.ask(BOSS)
    shop.work()
    assert shop.sent_to == [BOSS]


def test_person_who_saved_the_webhook_suppresses_no_email_by_the_rights_of_the_app(
    shop: MailingShop,
) -> None:
    attacker = actor_of(shop.ports, make_staff(shop.ports, "desk@example.com", APPS, STAFF))
    app, _ = make_app(shop.ports, "wide", STAFF)
    hook = WebhookInput(target_url="https://mine.example/", events=LINK_EVENTS[:2])
    create_webhook(shop.ports, attacker, hook, app)
    with shop.ports.database.transaction() as session:
        session.add(models.AppPermission(app_id=app, permission=ORDERS.value))
    directly(shop.ports)
    shop.ask(BOSS)
    shop.work()
    assert shop.sent_to == [BOSS]


def test_app_that_loses_a_right_meanwhile_is_not_waited_for(
    shop: MailingShop, clock: FakeClock
) -> None:
    shop.make_listener(STAFF, USERS, ORDERS)
    directly(shop.ports)
    shop.status = 500
    shop.ask(BOSS)
    shop.work()
    with shop.ports.database.transaction() as session:
        session.execute(
            delete(models.AppPermission).where(models.AppPermission.permission == ORDERS.value)
        )
    shop.status = 200
    clock.pass_(seconds=6)
    shop.work()
    assert shop.accepted == [BOSS]
    assert shop.sent_to == [BOSS]


def hang(_request: HttpRequest) -> HttpResponse:
    raise CallFailed(CallFault.TIMEOUT, "app.example.com did not answer within 20 s.")


def put_off(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(503, {"retry-after": "86400"})


def redirect(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(302, {"location": "https://app.example.com/other"})


@pytest.mark.parametrize("answer", [hang, put_off, redirect])
def test_mute_app_delays_an_email_by_minutes(
    shop: MailingShop, clock: FakeClock, answer: Callable[[HttpRequest], HttpResponse]
) -> None:
    make_user(shop.ports, CLARA)
    shop.make_listener(USERS)
    shop.http.answer = answer
    shop.ask()
    (promised,) = mails(shop.ports)
    for _ in range(5):
        shop.work()
        clock.pass_(minutes=2)
    assert shop.sent_to == [CLARA]
    token = token_in(promised)
    set_password(shop.ports, NOBODY, email=CLARA, token=token, password=NEW)


def test_app_that_accepts_everything_and_mails_nothing_locks_no_one_out(
    shop: MailingShop, clock: FakeClock
) -> None:
    """A person who asks again gets ours, every time."""
    make_user(shop.ports, CLARA)
    shop.make_listener(USERS)
    shop.ask()
    shop.work()
    assert shop.sent_to == []
    for times in (1, 2, 3):
        clock.pass_(minutes=16)
        shop.ask()
        assert shop.sent_to == [CLARA] * times
    (token,) = re.findall(r"token=(\w{43})", shop.mailer.sent[-1].text)
    set_password(shop.ports, NOBODY, email=CLARA, token=token, password=NEW)


def test_app_that_changes_its_webhook_holds_an_email_no_longer(
    shop: MailingShop, clock: FakeClock
) -> None:
    """Whatever it does with its deliveries: half an hour after the request ours is sent."""
    make_user(shop.ports, CLARA)
    shop.make_listener(USERS)
    shop.ask()
    for _ in range(3):
        shop.make_listener(USERS)
        clock.pass_(minutes=10)
    shop.http.answer = hang
    shop.work()
    assert shop.sent_to == [CLARA]
