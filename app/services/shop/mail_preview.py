"""Emails as they are sent, with sample values: to look at, and to send to oneself."""

from dataclasses import replace

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.mail_errors import error_problem
from app.domain.mails.samples import sample_mail
from app.domain.values.errors import Problem, Refused
from app.models import UserRecord
from app.ports import Ports
from app.ports.mail import MailUndeliverable
from app.services.audit.log import Change, record
from app.services.authorization.register import requires_person
from app.services.outbox.base_url import base_url_in
from app.services.shop.mail_templates import render_mail
from app.services.sign_in.reauthentication import own_id

_ID_LENGTH = 16
_NOT_SENT = Problem("INVALID", "The test email wasn't sent.", "kind")


@requires_person(Permission.MANAGE_SETTINGS)
def preview_mail(ports: Ports, actor: Actor, kind: MailKind, language_code: str) -> RenderedMail:
    """Return the email of ``kind`` with sample values, to the caller, as it would be sent."""
    return render_mail(ports, _sample(ports, actor, kind, language_code))


@requires_person(Permission.MANAGE_SETTINGS)
def send_test_mail(ports: Ports, actor: Actor, kind: MailKind, language_code: str) -> str:
    """Send the email of ``kind`` with sample values to the caller; return their email.

    It is sent at once, so that the answer of a mail server that refuses it can be shown: INVALID.
    """
    rendered = render_mail(ports, _sample(ports, actor, kind, language_code))
    number = f"{ports.clock.now():%Y%m%d%H%M%S}.test.{ports.randomness.token(_ID_LENGTH)}"
    test = replace(rendered, subject=f"[Test] {rendered.subject}", message_id=number)
    try:
        ports.mailer.send(test)
    except MailUndeliverable as error:
        raise Refused(_NOT_SENT, error_problem(str(error), "kind")) from None
    with ports.database.transaction() as session:
        after = {"kind": kind.value, "language": language_code}
        change = Change("mail.test", "User", own_id(actor), rendered.recipient, after=after)
        record(ports, actor, session, change)
    return rendered.recipient


def _sample(ports: Ports, actor: Actor, kind: MailKind, language_code: str) -> Mail:
    with ports.database.reading() as session:
        user = session.get_one(UserRecord, own_id(actor))
        base_url = base_url_in(ports, session)
        return sample_mail(kind, user.email, base_url, ports.clock.now(), language_code)
