"""Invite people by mail to choose their first password."""

from sqlalchemy.orm import Session

from app.domain.accounts.mail import Mail, MailKind
from app.domain.authorization.actor import Actor
from app.domain.events import AccountSetPasswordRequested, StaffSetPasswordRequested
from app.domain.passwords.email_links import LinkPurpose, format_lifetime
from app.domain.urls.redirects import with_query
from app.domain.urls.web_urls import normalize_url
from app.models import UserRecord
from app.ports import Ports
from app.services.accounts.email_links import make_link
from app.services.authorization.register import part
from app.services.outbox.publisher import add_event, add_mail


@part
def invite(
    ports: Ports, actor: Actor, session: Session, user: UserRecord, redirect_url: str
) -> None:
    """Mail ``user``, whose row is locked or new, a link to choose a password.

    ``redirect_url`` is one that mails may lead to; the link adds ``email`` and ``token``.
    """
    purpose = LinkPurpose.INVITATION
    token = make_link(ports, session, user, purpose)
    page = normalize_url(redirect_url)
    values = {
        "link": with_query(page, email=user.email, token=token),
        "lifetime": format_lifetime(purpose),
    }
    if user.is_staff:
        values["inviter"] = "" if actor.is_trusted else actor.name
        mail = Mail(MailKind.STAFF_INVITATION, user.email, values)
        event = StaffSetPasswordRequested(user.id, token=token, redirect_url=page)
        add_event(ports, actor, session, event)
    else:
        mail = Mail(MailKind.CUSTOMER_INVITATION, user.email, values)
        request_event = AccountSetPasswordRequested(user.id, token=token, redirect_url=page)
        add_event(ports, actor, session, request_event)
    add_mail(ports, session, mail)
