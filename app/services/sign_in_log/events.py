"""Read the sign-in log: a page, all for an export, or figures for a list and its chart.

Staff who manage staff see every attempt; staff who manage customers see those of customers.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ScalarSelect,
    Select,
    cast,
    func,
    literal,
    or_,
    select,
    union_all,
)

from app import models
from app.domain.accounts.emails import normalize_email
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.second_factors import SecondFactorType
from app.domain.sign_in import sign_in_log
from app.domain.values.ip_addresses import parse_address
from app.domain.values.pages import MAX_COUNTED, Counts, Page, PageRequest, empty_page, every_item
from app.domain.values.text_rules import is_storable
from app.ports import NamedRow, Ports
from app.services.authorization.register import (
    building_block,
    counts_on_replica,
    lists_from_replica,
    requires_person,
)
from app.services.lists import paging
from app.services.lists.filters import can_match, contains_text

_event = models.SignInEvent
COLUMNS = (
    *paging.columns_for(sign_in_log.SignInEvent, models.SignInEvent),
    func.coalesce(models.User.first_name, "").label("first_name"),
    func.coalesce(models.User.last_name, "").label("last_name"),
)
"""The fields of ``SignInEvent``."""

_BY_TIME = (_event.at, _event.id)
_EXPORTED_AT_ONCE = 500
_ALL = sign_in_log.SignInFilter()


def _attempts(
    ports: Ports, actor: Actor, keys: Collection[int]
) -> tuple[sign_in_log.SignInEvent, ...]:
    query: Select[*tuple[object, ...]] = select(*COLUMNS)
    visible = _narrow(ports, actor, query, _ALL)
    return paging.read_by_keys(ports, visible, _event.id, keys, to_event)


@lists_from_replica(_attempts)
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def list_sign_ins(
    ports: Ports, actor: Actor, page: PageRequest, filter_: sign_in_log.SignInFilter = _ALL
) -> Page[sign_in_log.SignInEvent]:
    """Attempts, the newest first; one statement. Refuses INVALID on ``search`` for a long text.

    A text is searched for in the newest 10,000 entries that the other filters leave, a whole IP
    address in all of them.
    """
    if not can_match(filter_.text, sign_in_log.MAX_TEXT_LENGTH, "search", filter_.address):
        return empty_page()  # no entry can hold that
    query: Select[*tuple[object, ...]] = select(*COLUMNS)
    query = _narrow(ports, actor, query, filter_)
    with ports.database.reading() as session:
        return paging.read_page(
            ports, session, query, paging.Order(_BY_TIME, descending=True), page, to_event
        )


@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def export_sign_ins(
    ports: Ports, actor: Actor, filter_: sign_in_log.SignInFilter = _ALL
) -> Iterator[sign_in_log.SignInEvent]:
    """Return every matching attempt in the list's order, reading a few hundred at a time.

    Refuses as ``list_sign_ins`` does, when the first is requested.
    """
    return every_item(lambda page: list_sign_ins(ports, actor, page, filter_), _EXPORTED_AT_ONCE)


def _narrow(
    ports: Ports,
    actor: Actor,
    query: Select[*tuple[object, ...]],
    filter_: sign_in_log.SignInFilter,
) -> Select[*tuple[object, ...]]:
    """Return ``query`` for the attempts that are wanted and that ``actor`` can see."""
    conditions = [*_visible(actor), *_conditions(filter_)]
    text = filter_.text.strip()
    address = parse_address(text)
    if address is not None:
        conditions.append(_event.address == str(address))
    elif text:
        # Bounded: the log is never searched from end to end.
        near = _with_users(select(_event.id)).where(*conditions)
        near = near.order_by(*(column.desc() for column in _BY_TIME)).limit(
            sign_in_log.MAX_SEARCHED
        )
        conditions = [_event.id.in_(near), _holds(ports, text)]
    return _with_users(query).where(*conditions)


def _narrow_figures(
    ports: Ports,
    actor: Actor,
    query: Select[*tuple[object, ...]],
    filter_: sign_in_log.SignInFilter,
) -> Select[*tuple[object, ...]]:
    """Return ``query`` for figures of the attempts that are wanted, as ``_narrow`` does.

    Accounts aren't read unless a text is searched for, so attempts of customers who have become
    staff since are counted for everyone.
    """
    if filter_.text.strip():
        return _narrow(ports, actor, query, filter_)
    return query.select_from(_event).where(*_of_visible_type(actor), *_conditions(filter_))


@building_block
def to_event(row: NamedRow) -> sign_in_log.SignInEvent:
    """Return the attempt in a row of ``COLUMNS``."""
    return paging.record_from(
        sign_in_log.SignInEvent,
        row,
        method=sign_in_log.SignInMethod(row.method),
        reason=sign_in_log.SignInReason(row.reason) if row.reason else None,
        account_type=sign_in_log.AccountType(row.account_type),
        second_factor=SecondFactorType(row.second_factor) if row.second_factor else None,
    )


def _with_users(query: Select[*tuple[object, ...]]) -> Select[*tuple[object, ...]]:
    return query.select_from(_event).outerjoin(models.User, models.User.id == _event.user_id)


def _visible(actor: Actor) -> list[ColumnElement[bool]]:
    """Return the conditions for what ``actor`` can see."""
    of_type = _of_visible_type(actor)
    # Customers who have become staff since are no business of those who manage customers.
    return [*of_type, models.User.is_staff.is_not(True)] if of_type else []


def _of_visible_type(actor: Actor) -> list[ColumnElement[bool]]:
    if actor.holds(Permission.MANAGE_STAFF):
        return []
    return [_event.account_type == sign_in_log.AccountType.CUSTOMER.value]


def _holds(ports: Ports, text: str) -> ColumnElement[bool]:
    """Return whether an entry holds ``text``, or is about that unknown email."""
    searched = (_event.name, _event.address, models.User.first_name + " " + models.User.last_name)
    digests = ports.encryption.known_fingerprints(sign_in_log.EMAIL_PURPOSE, normalize_email(text))
    return or_(
        _event.email_digest.in_(digests), *(contains_text(column, text) for column in searched)
    )


def _conditions(filter_: sign_in_log.SignInFilter) -> list[ColumnElement[bool]]:
    equal = {
        _event.user_id: filter_.user_id,
        _event.app_id: filter_.app_id,
        _event.method: filter_.method,
        _event.reason: filter_.reason,
        _event.account_type: filter_.account_type,
        _event.address: filter_.address or None,
    }
    conditions = [column == value for column, value in equal.items() if value is not None]
    if filter_.result is not None:
        is_success = filter_.result is sign_in_log.SignInResult.SUCCESSFUL
        conditions.append(_event.reason == "" if is_success else _event.reason != "")
    if filter_.since is not None:
        conditions.append(_event.at >= filter_.since)
    if filter_.until is not None:
        conditions.append(_event.at <= filter_.until)
    return conditions


def _sum(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    attempts = func.sum(models.SignInEvent.attempts)
    counted = attempts.filter(*conditions) if conditions else attempts
    return cast(func.coalesce(counted, 0), BigInteger)


_reason = models.SignInEvent.reason
FIGURES = (
    _sum().label("attempts"),
    _sum(_reason == "").label("successful"),
    _sum(_reason == sign_in_log.SignInReason.INCORRECT_PASSWORD.value).label("incorrect_password"),
    _sum(_reason == sign_in_log.SignInReason.BLOCKED_IP.value).label("blocked_ip"),
)
"""Sums without groups, for which no database sorts."""


@counts_on_replica
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def count_sign_ins(ports: Ports, actor: Actor, filter_: sign_in_log.SignInFilter) -> Counts:
    """Count the entries of a filter, and all of its period; one statement."""
    if not is_storable(filter_.text + filter_.address):
        filter_ = sign_in_log.SignInFilter(since=filter_.since, until=filter_.until, user_id=0)
    period = sign_in_log.SignInFilter(since=filter_.since, until=filter_.until)
    counted = select(
        _count(ports, actor, filter_).label("matching"),
        _count(ports, actor, period).label("total"),
    )
    with ports.database.reading() as session:
        row = session.execute(counted).one()
    return Counts(row.matching, row.total)


@counts_on_replica
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def chart_sign_ins(
    ports: Ports, actor: Actor, period: sign_in_log.Period, zone: tzinfo = UTC
) -> tuple[sign_in_log.SignInSpan, ...]:
    """Return the attempts of the period by time and result, oldest first; one statement.

    Days begin at midnight in ``zone``.
    """
    edges = period.edges(ports.clock.now().astimezone(zone))
    begins = edges[:-1]
    spans = (_span(ports, actor, *span) for span in enumerate(pairwise(edges)))
    with ports.database.reading() as session:
        counted = {row.place: row for row in session.execute(union_all(*spans))}
    return tuple(to_span(counted[place], began) for place, began in enumerate(begins))


@building_block
def to_span(row: NamedRow, began: datetime) -> sign_in_log.SignInSpan:
    """Return the figures in a row of ``FIGURES``."""
    failed = row.attempts - row.successful
    other = failed - row.incorrect_password - row.blocked_ip
    return sign_in_log.SignInSpan(
        began, row.successful, row.incorrect_password, row.blocked_ip, other
    )


def _span(
    ports: Ports, actor: Actor, place: int, edges: tuple[datetime, datetime]
) -> Select[*tuple[object, ...]]:
    """Return the query for a span, which reads its part of an index only."""
    query: Select[*tuple[object, ...]] = select(literal(place).label("place"), *FIGURES)
    # Times are stored to the microsecond.
    began, ended = edges
    until = ended - timedelta(microseconds=1)
    return _narrow_figures(ports, actor, query, sign_in_log.SignInFilter(since=began, until=until))


def _count(ports: Ports, actor: Actor, filter_: sign_in_log.SignInFilter) -> ScalarSelect[int]:
    query: Select[*tuple[object, ...]] = select(models.SignInEvent.id)
    return paging.count_up_to(_narrow_figures(ports, actor, query, filter_), MAX_COUNTED + 1)
