"""Emails as they are sent, with sample values: to look at, and to send to oneself."""

from collections.abc import Mapping
from dataclasses import replace

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind, RenderedMail
from app.domain.mails.mail_log import error_problem
from app.domain.mails.own_templates import OwnTemplate
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.ports.mail import MailUndeliverable
from app.services.audit.log import Change, record
from app.services.authorization.register import requires_person
from app.services.shop.mail_templates import render_mail, render_sample, sample_of
from app.services.sign_in.reauthentication import own_id

_ID_LENGTH = 16
_NOT_SENT = Problem("INVALID", "The test email wasn't sent.", "kind")


@requires_person(Permission.MANAGE_SETTINGS)
def preview_mail(ports: Ports, actor: Actor, kind: MailKind, language_code: str) -> RenderedMail:
    """Return the email of ``kind`` with sample values, to the caller, as it would be sent."""
    own_id(actor)
    return render_mail(ports, sample_of(ports, actor, kind, language_code))


@requires_person(Permission.MANAGE_SETTINGS)
def send_test_mail(ports: Ports, actor: Actor, kind: MailKind, language_code: str) -> str:
    """Send the email of ``kind`` with sample values to the caller; return their email.

    It is sent at once, so that the answer of a mail server that refuses it can be shown: INVALID.
    """
    own_id(actor)
    rendered = render_mail(ports, sample_of(ports, actor, kind, language_code))
    return _send(ports, actor, rendered, {"kind": kind.value, "language": language_code})


@requires_person(Permission.MANAGE_SETTINGS)
def send_test_template(
    ports: Ports, actor: Actor, kind: MailKind, language_code: str, template: OwnTemplate
) -> str:
    """Send the email by a template that isn't saved to the caller; return their email.

    Refuses as ``save_template`` does, and as ``send_test_mail``.
    """
    own_id(actor)
    rendered = render_sample(ports, actor, kind, language_code, template)
    after = {"kind": kind.value, "language": language_code, "template": "edited"}
    return _send(ports, actor, rendered, after)


def _send(ports: Ports, actor: Actor, rendered: RenderedMail, after: Mapping[str, str]) -> str:
    now = ports.clock.now()
    number = f"{now:%Y%m%d%H%M%S}.test.{ports.randomness.token(_ID_LENGTH)}"
    test = replace(
        rendered, subject=f"[Test] {rendered.subject}", message_id=number, created_at=now
    )
    try:
        ports.mailer.send(test)
    except MailUndeliverable as error:
        raise Refused(_NOT_SENT, error_problem(str(error), "kind")) from None
    change = Change("mail.test", "User", own_id(actor), rendered.recipient, after=after)
    with ports.database.transaction() as session:
        record(ports, actor, session, change)
    return rendered.recipient
