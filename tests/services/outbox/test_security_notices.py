"""Security notices name the change, and only the account's owner gets a link."""

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import select

from app import models
from app.domain.accounts.email_links import LinkPurpose, digest_of
from app.domain.authorization.actor import OPERATOR, Actor, anonymous
from app.domain.mails.mail import Mail, MailKind
from app.ports import Ports
from app.services.outbox.security_notices import notify, notify_email_change
from tests.builders.outbox import mails
from tests.builders.people import actor_of, make_user

FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
VALUES = {"factor": "Authenticator app"}


def noticed(
    ports: Ports,
    actor: Actor,
    user_id: int,
    kind: MailKind = MailKind.SECOND_FACTOR_ADDED,
    values: Mapping[str, str] = VALUES,
) -> Mail:
    with ports.database.transaction() as session:
        notify(ports, actor, session, user_id, kind, values)
    return mails(ports)[-1]


def links(ports: Ports) -> list[models.AccountLink]:
    with ports.database.reading() as session:
        return list(session.scalars(select(models.AccountLink).order_by(models.AccountLink.id)))


def test_notice_says_what_when_and_where_from(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = replace(actor_of(ports, user_id), address="203.0.113.9", user_agent=FIREFOX)
    mail = noticed(ports, actor, user_id)
    assert (mail.kind, mail.recipient) == (MailKind.SECOND_FACTOR_ADDED, "customer@example.com")
    link = mail.values["not_me"]
    assert mail.values == {
        "factor": "Authenticator app",
        "when": "2026-03-01 12:00 UTC",
        "at": "2026-03-01T12:00:00+00:00",
        "address": "203.0.113.9",
        "device": "Firefox on Windows",
        "browser": "Firefox",
        "system": "Windows",
        "not_me": link,
    }
    (stored,) = links(ports)
    address, token = link.split("?token=")
    assert address.endswith("/console/not-me")
    assert stored.digest == digest_of(token)
    assert stored.notice == {
        **{name: value for name, value in mail.values.items() if name != "not_me"},
        "kind": "second_factor_added",
    }


def test_each_notice_has_a_link_that_keeps_working(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    assert (
        noticed(ports, actor, user_id).values["not_me"]
        != (noticed(ports, actor, user_id).values["not_me"])
    )
    assert [link.purpose for link in links(ports)] == [LinkPurpose.NOT_ME] * 2


def test_link_sign_in_counts_as_the_owners(ports: Ports) -> None:
    user_id = make_user(ports)
    assert noticed(ports, anonymous(address="203.0.113.9"), user_id).values["not_me"]


def test_notice_of_someone_elses_change_has_no_link_and_no_address(ports: Ports) -> None:
    user_id = make_user(ports)
    manager = actor_of(ports, make_user(ports, "manager@example.com", is_staff=True))
    app = replace(actor_of(ports, make_user(ports, "other@example.com")), user_id=None, app_id=3)
    for actor in (manager, app, OPERATOR):
        values = noticed(ports, actor, user_id, MailKind.SECOND_FACTORS_RESET, {}).values
        assert (values["not_me"], values["address"], values["device"]) == ("", "", "")
    assert links(ports) == []


def test_old_email_can_restore_itself_only_if_the_owner_changed_it(ports: Ports) -> None:
    user_id = make_user(ports, "new@example.com")
    manager = actor_of(ports, make_user(ports, "manager@example.com", is_staff=True))
    for actor, purposes in ((actor_of(ports, user_id), ["restore_email"]), (manager, [])):
        with ports.database.transaction() as session:
            user = session.get_one(models.User, user_id)
            notify_email_change(ports, actor, session, user, "old@example.com")
        mail = mails(ports)[-1]
        assert (mail.recipient, mail.values["new_email"]) == ("old@example.com", "new@example.com")
        assert [link.purpose for link in links(ports)] == purposes
