"""What events with a link tell the app that sends the email, for each kind of email."""

import json
from urllib.parse import urlencode

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, AccountSetPasswordRequested
from app.domain.mails.mail import LINK_EVENTS, MailKind, MailSender
from app.domain.mails.mail_log import MailStatus
from app.ports import Ports
from app.services.accounts.email_changes import request_email_change
from app.services.accounts.registration import NewAccount, register_account
from app.services.outbox.publisher import add_event
from app.services.people.customers import NewCustomer, create_customer
from app.services.people.staff import NewStaff, create_staff
from tests.builders.app_mail import CLARA, MailingShop, make_mailing_shop
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, PASSWORD, actor_of, make_user

STAFF, USERS = Permission.MANAGE_STAFF, Permission.MANAGE_USERS
NEW = "a heron walks at dawn"


@pytest.fixture
def shop(ports: Ports) -> MailingShop:
    make_user(ports, CLARA)
    return make_mailing_shop(ports)


@pytest.mark.parametrize("sender", list(MailSender))
def test_event_says_which_email_it_is_and_who_sends_it(ports: Ports, sender: MailSender) -> None:
    make_user(ports, CLARA)
    shop = make_mailing_shop(ports, sender)
    fields = "mailKind mailSender token"
    query = f"subscription {{ event {{ ... on AccountSetPasswordRequested {{ {fields} }} }} }}"
    shop.make_listener(USERS, query=query)
    shop.ask()
    shop.work()
    (request,) = shop.http.requests
    payload = json.loads(request.body or b"{}")
    assert (payload["mailKind"], payload["mailSender"]) == ("password_reset", sender.value)


def test_event_of_an_earlier_version_has_no_sender(shop: MailingShop) -> None:
    query = "subscription { event { ... on AccountSetPasswordRequested { mailKind mailSender } } }"
    shop.make_listener(USERS, query=query)
    with shop.ports.database.transaction() as session:
        add_event(shop.ports, OPERATOR, session, AccountSetPasswordRequested(1, token="x"))
        note = next(iter(session.new))
        note.data = {"redirect_url": "", "new_email": ""}
    shop.work()
    (request,) = shop.http.requests
    assert json.loads(request.body or b"{}") == {"mailKind": None, "mailSender": None}


def ask_for_every_link(ports: Ports) -> None:
    page = "http://localhost:3000/?step=1"
    register_account(ports, NOBODY, NewAccount("new@example.com", NEW, redirect_url=page))
    create_customer(ports, OPERATOR, NewCustomer(email="dora@example.com", redirect_url=page))
    create_staff(ports, OPERATOR, NewStaff(email="ed@example.com", redirect_url=page))
    clara = actor_of(ports, make_user(ports, CLARA))
    request_email_change(
        ports, clara, new_email="c@example.com", password=PASSWORD, redirect_url=page
    )


def test_every_kind_of_link_waits_for_its_event(ports: Ports) -> None:
    shop = make_mailing_shop(ports)
    shop.make_listener(STAFF, USERS)
    ask_for_every_link(ports)
    shop.ask()
    waiting = {mail.kind for mail in shop.mails if mail.status is MailStatus.WAITING}
    for _ in range(3):
        shop.work()
    sent = {mail.kind for mail in shop.mails if mail.status is MailStatus.SENT_BY_APP}
    assert waiting == sent == set(LINK_EVENTS)
    assert shop.sent_to == []


def test_app_can_make_the_same_link_as_ours(ports: Ports) -> None:
    """As docs/guides/app-mail.md says: ``email`` and ``token``, or ``token`` alone."""
    shop = make_mailing_shop(ports)
    fields = "mailKind token redirectUrl user { email }"
    types = [EVENTS[event].__name__ for events in LINK_EVENTS.values() for event in events]
    parts = " ".join(f"... on {name} {{ {fields} }}" for name in sorted(set(types)))
    shop.make_listener(STAFF, USERS, query=f"subscription {{ event {{ {parts} }} }}")
    ask_for_every_link(ports)
    shop.ask()
    ours = {mail.kind.value: mail.values["link"] for mail in mails(ports)}
    for _ in range(3):
        shop.work()
    payloads = [json.loads(request.body or b"{}") for request in shop.http.requests]
    made = {}
    for payload in payloads:
        values = {"email": payload["user"]["email"], "token": payload["token"]}
        if payload["mailKind"] == MailKind.EMAIL_CHANGE_REQUEST:
            del values["email"]
        joint = "&" if "?" in payload["redirectUrl"] else "?"
        made[payload["mailKind"]] = f"{payload['redirectUrl']}{joint}{urlencode(values)}"
    assert made == ours
    assert set(ours) == set(LINK_EVENTS)
