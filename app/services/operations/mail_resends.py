"""Send emails of the mail log again: those that wait at once, others with a new link.

The content of an email is deleted with its last attempt, so a link can only be made anew, by the
use case that makes such links. It goes to the account's mailbox alone.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.mails.mail_log import MailEntry, MailFilter, MailStatus, kind_label
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import PageRequest
from app.models import OutboxMailRecord
from app.ports import Ports
from app.services.accounts.reset_links import send_reset_link
from app.services.audit.log import Change, record
from app.services.authorization.register import part, requires_person
from app.services.operations.mail_log import list_mails, show_mail
from app.services.people.invitations import resend_invitation

_BETWEEN_ATTEMPTS = timedelta(minutes=1)

_MISSING = Problem("NOT_FOUND", "This email isn't in the mail log. Old entries are deleted.", "id")
_JUST_TRIED = Problem(
    "INVALID", "The last attempt was less than a minute ago. Try again in a minute.", "id"
)
_NO_ACCOUNT = Problem("INVALID", "The account of this email doesn't exist anymore.", "id")
_NOTICE = Problem(
    "INVALID",
    "This email can't be sent again: its content was deleted with the last attempt to send it.",
    "id",
)
_REASONS: Mapping[str, Problem] = {
    MailKind.ACCOUNT_CONFIRMATION: Problem(
        "INVALID",
        "A confirmation can't be sent again: someone else may have registered this email with "
        "a password of theirs. Send a password reset link instead. It confirms the account too.",
        "id",
    ),
    MailKind.EMAIL_CHANGE_REQUEST: Problem(
        "INVALID",
        "Only the person can request this link again: it needs their password.",
        "id",
    ),
    MailKind.ACCOUNT_DELETION_REQUEST: Problem(
        "INVALID", "Only the person can request this link again, while signed in.", "id"
    ),
}

_SENDERS: Mapping[str, Callable[[Ports, Actor, int, str], None]] = {
    MailKind.PASSWORD_RESET: lambda ports, actor, user_id, page: send_reset_link(
        ports, actor, user_id, redirect_url=page
    ),
    MailKind.STAFF_INVITATION: resend_invitation,
    MailKind.CUSTOMER_INVITATION: resend_invitation,
}
"""What makes a new link, by the kind of the email."""


@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def resend_mail(ports: Ports, actor: Actor, mail_id: int, redirect_url: str) -> MailEntry:
    """Send an email again: a waiting one at once, a password link or an invitation anew.

    The new link goes to the account's current email and opens the page of the old one, or
    ``redirect_url`` if that wasn't kept; earlier links stop working. Returns the new entry, or
    that of the waiting email. Refuses on ``id`` NOT_FOUND, INVALID for other kinds and within a
    minute of the last attempt, and what ``send_reset_link`` and ``resend_invitation`` refuse.
    """
    mail = show_mail(ports, actor, mail_id)
    if mail is None:
        raise Refused(_MISSING)
    problem = resend_problem(mail)
    if problem is not None:
        raise Refused(problem)
    if mail.user_id is None or mail.next_attempt_at is not None:
        _retry_now(ports, actor, mail)
        return show_mail(ports, actor, mail_id) or mail
    page = _page_of(ports, mail.id) or redirect_url
    _SENDERS[mail.kind](ports, actor, mail.user_id, page)
    newest = MailFilter(user_id=mail.user_id, kind=MailKind(mail.kind))
    return next(iter(list_mails(ports, actor, PageRequest(1), newest).items), mail)


@part
def resend_problem(mail: MailEntry) -> Problem | None:
    """Return why ``mail`` can't be sent again, ``None`` if it can."""
    if mail.status in (MailStatus.QUEUED, MailStatus.WAITING, MailStatus.DEFERRED):
        return None
    if mail.kind not in _SENDERS:
        return _REASONS.get(mail.kind, _NOTICE)
    return _NO_ACCOUNT if mail.is_staff is None else None


def _retry_now(ports: Ports, actor: Actor, mail: MailEntry) -> None:
    """Let the worker send a waiting email at once, unless one is sending it."""
    now = ports.clock.now()
    waiting = select(OutboxMailRecord).where(
        OutboxMailRecord.id == mail.id,
        OutboxMailRecord.next_attempt_at > now,
        OutboxMailRecord.lease == "",
    )
    with ports.database.transaction() as session:
        found = session.scalar(waiting.with_for_update())
        if found is None:
            return  # it is due, or being sent
        if found.attempted_at is not None and found.attempted_at > now - _BETWEEN_ATTEMPTS:
            raise Refused(_JUST_TRIED)
        found.next_attempt_at = now
        found.awaited_event_id = None
        record(ports, actor, session, Change("mail.retry", "Mail", mail.id, kind_label(mail.kind)))


def _page_of(ports: Ports, mail_id: int) -> str:
    query = select(OutboxMailRecord.redirect_url).where(OutboxMailRecord.id == mail_id)
    with ports.database.reading() as session:
        return session.scalar(query) or ""
