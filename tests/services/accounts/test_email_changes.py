"""Moving an account to another address."""

from dataclasses import replace

import pytest

from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.accounts.email_changes import confirm_email_change, request_email_change
from app.services.sign_in.password_login import create_token
from tests.builders.audit import trail
from tests.builders.links import link_for
from tests.builders.outbox import events, mails, token_in
from tests.builders.people import (
    ADDRESS,
    NOBODY,
    PASSWORD,
    actor_of,
    make_staff,
    make_user,
    sessions_of,
    user_as_stored,
)
from tests.fakes.encryption import FailingEncryption

SHOP = "http://localhost:3000/email?lang=de"
OLD = "customer@example.com"
NEW = "new@example.com"
WORTHLESS = [("token", "JWT_INVALID_TOKEN")]


def ask(
    ports: Ports, actor: Actor, email: str = NEW, password: str = PASSWORD, url: str = SHOP
) -> User:
    return request_email_change(ports, actor, new_email=email, password=password, redirect_url=url)


def asking(
    ports: Ports, actor: Actor, email: str = NEW, password: str = PASSWORD, url: str = SHOP
) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        ask(ports, actor, email, password, url)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def confirming(ports: Ports, actor: Actor, token: str) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        confirm_email_change(ports, actor, token=token)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_email_is_changed_by_a_mailed_link(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    assert ask(ports, actor, " New@Example.com ").email == OLD
    (mail,) = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.EMAIL_CHANGE_REQUEST, NEW)
    assert mail.values == {
        "link": f"{SHOP}&token={token_in(mail)}",
        "lifetime": "1 day",
        "lifetime_seconds": "86400",
        "old_email": OLD,
        "new_email": NEW,
    }
    assert confirm_email_change(ports, actor, token=token_in(mail)).email == NEW
    assert create_token(ports, NOBODY, email=NEW, password=PASSWORD).access
    with pytest.raises(Refused):
        create_token(ports, NOBODY, email=OLD, password=PASSWORD)


def test_old_email_is_notified(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    confirm_email_change(
        ports, actor, token=link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    )
    (mail,) = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.EMAIL_CHANGED, OLD)
    assert mail.values == {
        "old_email": OLD,
        "new_email": NEW,
        "when": "2026-03-01 12:00 UTC",
        "at": "2026-03-01T12:00:00+00:00",
        "address": ADDRESS,
        "device": "Unknown device",
        "browser": "",
        "system": "",
        "not_me": mail.values["not_me"],
    }
    assert "/console/not-me?token=" in mail.values["not_me"]


def test_changes_are_published_and_audited(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    ask(ports, actor)
    (requested,) = events(ports)
    assert requested.type == "ACCOUNT_CHANGE_EMAIL_REQUESTED"
    assert requested.data == {
        "redirect_url": SHOP,
        "new_email": NEW,
        "mail_kind": "email_change_request",
        "mail_sender": "OURS",
    }
    assert requested.token == token_in(mails(ports)[0])
    confirm_email_change(ports, actor, token=requested.token)
    assert [event.type for event in events(ports)[1:]] == [
        "ACCOUNT_EMAIL_CHANGED",
        "CUSTOMER_UPDATED",
    ]
    (row,) = trail(ports, "account.email_change")
    assert (row.before, row.after) == ({"email": OLD}, {"email": NEW})
    assert len(trail(ports, "account.email_change_request")) == 1


def test_nothing_changes_before_the_link_is_opened(ports: Ports) -> None:
    user_id = make_user(ports)
    ask(ports, actor_of(ports, user_id))
    assert user_as_stored(ports, user_id).email == OLD


def test_new_email_must_be_valid(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    for email, code in (
        ("", "REQUIRED"),
        ("nobody", "INVALID"),
        ("new@example.com\nBcc: x@example.com", "INVALID"),
        ("x" * 300, "INVALID"),
        ("CUSTOMER@example.com", "UNIQUE"),
    ):
        assert asking(ports, actor, email) == [("newEmail", code)], email
    assert mails(ports) == []


def test_internationalized_email_is_accepted(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    ask(ports, actor, "用户@例子.example")
    token = token_in(mails(ports)[0])
    assert confirm_email_change(ports, actor, token=token).email == "用户@例子.example"


def test_email_change_requires_the_password(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    for number in range(MAX_GUESSES):
        assert len(sessions_of(ports, user_id)) == 1, number
        assert asking(ports, actor, password="wrong") == [("password", "INVALID_CREDENTIALS")]
    assert sessions_of(ports, user_id) == []
    assert mails(ports) == []


def test_user_without_password_cannot_change_the_email(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports, password=None))
    assert asking(ports, actor) == [("password", "INVALID_CREDENTIALS")]


@pytest.mark.parametrize("url", ["https://evil.example/", "x"])
def test_mailed_links_lead_to_allowed_hosts_only(ports: Ports, url: str) -> None:
    actor = actor_of(ports, make_user(ports))
    assert asking(ports, actor, url=url) == [("redirectUrl", "INVALID")]


def test_taken_email_is_reported_to_its_owner_only(ports: Ports) -> None:
    make_user(ports, "taken@example.com")
    actor = actor_of(ports, make_user(ports))
    free, taken = ask(ports, actor), ask(ports, actor, "taken@example.com")
    assert free == taken
    assert [(mail.kind, mail.recipient) for mail in mails(ports)] == [
        (MailKind.EMAIL_CHANGE_REQUEST, NEW),
        (MailKind.ACCOUNT_EXISTS, "taken@example.com"),
    ]
    ask(ports, actor, "taken@example.com")
    assert len(mails(ports)) == 2


def test_only_the_last_link_works(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    ask(ports, actor, "first@example.com")
    ask(ports, actor, "second@example.com")
    first, second = (token_in(mail) for mail in mails(ports))
    assert confirming(ports, actor, first) == WORTHLESS
    assert confirm_email_change(ports, actor, token=second).email == "second@example.com"


def test_apps_and_anonymous_callers_cannot_change_an_email(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=3, permissions=frozenset(Permission))
    extension = replace(actor_of(ports, make_staff(ports)), app_id=3)
    for actor in (NOBODY, app, extension):
        with pytest.raises(PermissionDenied):
            ask(ports, actor)
        with pytest.raises((PermissionDenied, Refused)):
            confirm_email_change(ports, actor, token="x")


def test_failure_at_the_end_changes_nothing(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    broken = replace(ports, encryption=FailingEncryption())
    with pytest.raises(ArithmeticError):
        ask(broken, actor)
    with pytest.raises(ArithmeticError):
        confirm_email_change(broken, actor, token=token)
    assert user_as_stored(ports, user_id).email == OLD
    assert (mails(ports), events(ports), trail(ports, "account.email_change")) == ([], [], [])
    assert confirm_email_change(ports, actor, token=token).email == NEW
