"""Read the mail log, and send its emails again: waiting ones at once, others with a new link.

Staff who manage staff see every email; staff who manage customers see those to customers. The
content of an email is deleted with its last attempt, so a link can only be made anew, by the use
case that makes such links. It goes to the account's mailbox alone.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import timedelta

from sqlalchemy import ColumnElement, Select, case, func, null, or_, select

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.mails.mail import MailKind
from app.domain.mails.mail_log import (
    MAX_SEARCHED,
    MAX_TEXT_LENGTH,
    MailEntry,
    MailFilter,
    MailStatus,
    kind_label,
)
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import Page, PageRequest, Range, empty_page
from app.ports import NamedRow, Ports
from app.services.accounts.password_resets import send_reset_link
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, lists_from_replica, requires_person
from app.services.lists import paging
from app.services.lists.filters import can_match, contains_text, in_range
from app.services.mails.sending import app_name
from app.services.people.users import resend_invitation

_mail = models.OutboxMail
COLUMNS = (
    *paging.columns_for(MailEntry, _mail),
    func.coalesce(models.User.first_name, "").label("first_name"),
    func.coalesce(models.User.last_name, "").label("last_name"),
    models.User.is_staff,
    case(
        (_mail.awaited_event_id.is_(None), null()),
        else_=func.coalesce(app_name(DeliveryStatus.PENDING, DeliveryStatus.SUCCESS), ""),
    ).label("waits_for"),
    _mail.last_error.label("error"),
)
"""The fields of ``MailEntry``: neither content nor links."""

_BY_TIME = (_mail.created_at, _mail.id)
_UNSENT = _mail.sent_at.is_(None)
_PENDING = _mail.next_attempt_at.is_not(None)
_OURS = _mail.awaited_event_id.is_(None)
_STATUSES: dict[MailStatus, tuple[ColumnElement[bool], ...]] = {
    MailStatus.SENT: (_mail.sent_at.is_not(None), _mail.sent_by == ""),
    MailStatus.SENT_BY_APP: (_mail.sent_at.is_not(None), _mail.sent_by != ""),
    MailStatus.FAILED: (_UNSENT, _mail.next_attempt_at.is_(None)),
    MailStatus.WAITING: (_UNSENT, _PENDING, _mail.awaited_event_id.is_not(None)),
    MailStatus.DEFERRED: (_UNSENT, _PENDING, _OURS, _mail.last_error != ""),
    MailStatus.QUEUED: (_UNSENT, _PENDING, _OURS, _mail.last_error == ""),
}
_ALL = MailFilter()


def _mails(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[MailEntry, ...]:
    return paging.read_by_keys(ports, _visible(actor), _mail.id, keys, to_entry)


@lists_from_replica(_mails)
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def list_mails(
    ports: Ports, actor: Actor, page: PageRequest, filter_: MailFilter = _ALL
) -> Page[MailEntry]:
    """Emails, the newest first; one statement. Refuses INVALID on ``search`` for a long text.

    A text is searched for in the newest 10,000 emails that the other filters leave.
    """
    if not can_match(filter_.text, MAX_TEXT_LENGTH, "search"):
        return empty_page()  # no email can hold that
    query = _visible(actor, _conditions(filter_), filter_.text.strip())
    whole = _visible(actor)
    order = paging.Order(_BY_TIME, descending=True)
    with ports.database.reading() as session:
        return paging.read_page(ports, session, query, order, page, to_entry, whole)


@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def show_mail(ports: Ports, actor: Actor, mail_id: int) -> MailEntry | None:
    """Return an email of the mail log, ``None`` if there is none that the caller can see."""
    query = _visible(actor, (_mail.id == mail_id,))
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    return None if row is None else to_entry(row)


@requires_person(Permission.MANAGE_STAFF)
def last_mails(ports: Ports, actor: Actor) -> Mapping[str, MailEntry]:
    """Return the newest email of each kind that has one; one statement, by an index."""
    newest = [
        select(_mail.id)
        .where(_mail.kind == kind.value)
        .order_by(*(column.desc() for column in _BY_TIME))
        .limit(1)
        .scalar_subquery()
        for kind in MailKind
    ]
    query = _with_users(select(*COLUMNS)).where(_mail.id.in_(newest))
    with ports.database.reading() as session:
        mails = [to_entry(row) for row in session.execute(query)]
    return {mail.kind: mail for mail in mails}


@building_block
def to_entry(row: NamedRow) -> MailEntry:
    """Return the email in a row of ``COLUMNS``."""
    return paging.record_from(MailEntry, row)


def _visible(
    actor: Actor, matches: Iterable[ColumnElement[bool]] = (), text: str = ""
) -> paging.Query:
    """Return the query for what matches and ``actor`` can see."""
    conditions = [*matches]
    if not actor.holds(Permission.MANAGE_STAFF):
        # Emails without an account, or to staff, are no business of those who manage customers.
        conditions.append(models.User.is_staff.is_(False))
    if text:
        # Bounded: the log is never searched from end to end.
        near = _with_users(select(_mail.id)).where(*conditions)
        near = near.order_by(*(column.desc() for column in _BY_TIME)).limit(MAX_SEARCHED)
        conditions = [_mail.id.in_(near), _holds(text)]
    return _with_users(select(*COLUMNS)).where(*conditions)


def _with_users(query: Select[*tuple[object, ...]]) -> paging.Query:
    return query.select_from(_mail).outerjoin(models.User, models.User.id == _mail.user_id)


def _holds(text: str) -> ColumnElement[bool]:
    name = models.User.first_name + " " + models.User.last_name
    return or_(contains_text(_mail.recipient, text), contains_text(name, text))


def _conditions(filter_: MailFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.user_id is not None:
        yield _mail.user_id == filter_.user_id
    if filter_.kind is not None:
        yield _mail.kind == filter_.kind.value
    if filter_.status is not None:
        yield from _STATUSES[filter_.status]
    yield from in_range(_mail.created_at, Range(filter_.since, filter_.until))


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
        "INVALID", "Only the person can request this link again: it needs their password.", "id"
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


@building_block
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
    waiting = select(_mail).where(
        _mail.id == mail.id, _mail.next_attempt_at > now, _mail.lease == ""
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
    query = select(_mail.redirect_url).where(_mail.id == mail_id)
    with ports.database.reading() as session:
        return session.scalar(query) or ""
