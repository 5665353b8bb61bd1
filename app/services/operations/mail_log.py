"""Read the mail log: a page, one email, or all for an export.

Staff who manage staff see every email; staff who manage customers see those to customers.
"""

from collections.abc import Collection, Iterator

from sqlalchemy import ColumnElement, Select, case, func, null, or_, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.mails.mail_log import (
    MAX_SEARCHED,
    MAX_TEXT_LENGTH,
    MailEntry,
    MailFilter,
    MailStatus,
)
from app.domain.values.pages import Page, PageRequest, empty_page, every_item
from app.models import OutboxMailRecord, UserRecord
from app.ports import NamedRow, Ports
from app.services.authorization.register import lists_from_replica, part, requires_person
from app.services.lists.paging import Order, Query, read_by_keys, read_page
from app.services.lists.records import record_from
from app.services.lists.substring_search import can_match, contains_text
from app.services.operations.app_mail import app_name

_mail = OutboxMailRecord
COLUMNS = (
    _mail.id,
    _mail.kind,
    _mail.recipient,
    _mail.user_id,
    func.coalesce(UserRecord.first_name, "").label("first_name"),
    func.coalesce(UserRecord.last_name, "").label("last_name"),
    UserRecord.is_staff,
    _mail.created_at,
    _mail.attempts,
    _mail.attempted_at,
    _mail.next_attempt_at,
    _mail.sent_at,
    _mail.sent_by,
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
_EXPORTED_AT_ONCE = 500
_ALL = MailFilter()


def _mails(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[MailEntry, ...]:
    return read_by_keys(ports, _visible(actor, ()), _mail.id, keys, to_entry)


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
    whole = _visible(actor, ())
    order = Order(_BY_TIME, descending=True)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, to_entry, whole)


@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def show_mail(ports: Ports, actor: Actor, mail_id: int) -> MailEntry | None:
    """Return an email of the mail log, ``None`` if there is none that the caller can see."""
    query = _visible(actor, (_mail.id == mail_id,))
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    return None if row is None else to_entry(row)


@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def export_mails(ports: Ports, actor: Actor, filter_: MailFilter = _ALL) -> Iterator[MailEntry]:
    """Return every matching email in the list's order, reading a few hundred at a time.

    Refuses as ``list_mails`` does, when the first is requested.
    """
    return every_item(lambda page: list_mails(ports, actor, page, filter_), _EXPORTED_AT_ONCE)


@part
def to_entry(row: NamedRow) -> MailEntry:
    """Return the email in a row of ``COLUMNS``."""
    return record_from(MailEntry, row)


def _visible(actor: Actor, conditions: tuple[ColumnElement[bool], ...], text: str = "") -> Query:
    """Return the query for what matches and ``actor`` can see."""
    if not actor.holds(Permission.MANAGE_STAFF):
        # Emails without an account, or to staff, are no business of those who manage customers.
        conditions = (*conditions, UserRecord.is_staff.is_(False))
    if text:
        # Bounded: the log is never searched from end to end.
        near = _with_users(select(_mail.id)).where(*conditions)
        near = near.order_by(*(column.desc() for column in _BY_TIME)).limit(MAX_SEARCHED)
        conditions = (_mail.id.in_(near), _holds(text))
    return _with_users(select(*COLUMNS)).where(*conditions)


def _with_users(query: Select[*tuple[object, ...]]) -> Query:
    return query.select_from(_mail).outerjoin(UserRecord, UserRecord.id == _mail.user_id)


def _holds(text: str) -> ColumnElement[bool]:
    name = UserRecord.first_name + " " + UserRecord.last_name
    return or_(contains_text(_mail.recipient, text), contains_text(name, text))


def _conditions(filter_: MailFilter) -> tuple[ColumnElement[bool], ...]:
    conditions: list[ColumnElement[bool]] = []
    if filter_.user_id is not None:
        conditions.append(_mail.user_id == filter_.user_id)
    if filter_.kind is not None:
        conditions.append(_mail.kind == filter_.kind.value)
    if filter_.status is not None:
        conditions += _STATUSES[filter_.status]
    if filter_.since is not None:
        conditions.append(_mail.created_at >= filter_.since)
    if filter_.until is not None:
        conditions.append(_mail.created_at <= filter_.until)
    return tuple(conditions)
