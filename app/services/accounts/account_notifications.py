"""Mails with information for a mailbox's owner alone, at most one per lock time."""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.email_links import LinkPurpose
from app.domain.mails.mail import Mail, MailKind
from app.models import AccountLinkRecord, UserRecord
from app.ports import Ports
from app.services.accounts.email_links import make_link
from app.services.authorization.register import part
from app.services.outbox.publisher import add_mail
from app.services.sign_in.timing_equalizer import roll_back_unless


@part
def notify_account_owner(ports: Ports, session: Session, user: UserRecord) -> None:
    """Mail ``user``, whose row is locked, that someone tried to use their email.

    Only the mailbox's owner learns that the account exists. Inactive accounts, and accounts that
    got a mail within the lock time, get none, after the same work.
    """
    was_notified = was_mailed(ports, session, user.id, LinkPurpose.NOTICE)
    with roll_back_unless(session, user.is_active and not was_notified):
        make_link(ports, session, user, LinkPurpose.NOTICE)
        mail = Mail(MailKind.ACCOUNT_EXISTS, user.email)
        add_mail(ports, session, mail, user_id=user.id)


@part
def was_mailed(ports: Ports, session: Session, user_id: int, purpose: LinkPurpose) -> bool:
    """Whether a link for ``purpose`` was created within ``RESET_PASSWORD_LOCK_TIME``.

    Keeps strangers from flooding someone's mailbox.
    """
    lock = timedelta(seconds=ports.configuration.reset_password_lock_time)
    recent = select(AccountLinkRecord.id).where(
        AccountLinkRecord.user_id == user_id,
        AccountLinkRecord.purpose == purpose.value,
        AccountLinkRecord.created_at > ports.clock.now() - lock,
    )
    return session.scalar(recent) is not None
