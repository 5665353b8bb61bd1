"""Sign-in attempts in figures: counted for a list, and by time for its chart."""

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
    select,
    union_all,
)

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_log import Period, SignInFilter, SignInReason, SignInSpan
from app.domain.values.pages import MAX_COUNTED, Counts
from app.domain.values.text_rules import is_storable
from app.models import SignInEventRecord
from app.ports import NamedRow, Ports
from app.services.authorization.register import counts_on_replica, part, requires_person
from app.services.sign_in_log.events import narrow_figures


def _sum(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    attempts = func.sum(SignInEventRecord.attempts)
    counted = attempts.filter(*conditions) if conditions else attempts
    return cast(func.coalesce(counted, 0), BigInteger)


_reason = SignInEventRecord.reason
FIGURES = (
    _sum().label("attempts"),
    _sum(_reason == "").label("successful"),
    _sum(_reason == SignInReason.INCORRECT_PASSWORD.value).label("incorrect_password"),
    _sum(_reason == SignInReason.BLOCKED_IP.value).label("blocked_ip"),
)
"""Sums without groups, for which no database sorts."""


@counts_on_replica
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def count_sign_ins(ports: Ports, actor: Actor, filter_: SignInFilter) -> Counts:
    """Count the entries of a filter, and all of its period; one statement."""
    if not is_storable(filter_.text + filter_.address):
        filter_ = SignInFilter(since=filter_.since, until=filter_.until, user_id=0)
    period = SignInFilter(since=filter_.since, until=filter_.until)
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
    ports: Ports, actor: Actor, period: Period, zone: tzinfo = UTC
) -> tuple[SignInSpan, ...]:
    """Return the attempts of the period by time and result, oldest first; one statement.

    Days begin at midnight in ``zone``.
    """
    edges = period.edges(ports.clock.now().astimezone(zone))
    begins = edges[:-1]
    spans = (_span(ports, actor, *span) for span in enumerate(pairwise(edges)))
    with ports.database.reading() as session:
        counted = {row.place: row for row in session.execute(union_all(*spans))}
    return tuple(to_span(counted[place], began) for place, began in enumerate(begins))


@part
def to_span(row: NamedRow, began: datetime) -> SignInSpan:
    """Return the figures in a row of ``FIGURES``."""
    failed = row.attempts - row.successful
    other = failed - row.incorrect_password - row.blocked_ip
    return SignInSpan(began, row.successful, row.incorrect_password, row.blocked_ip, other)


def _span(
    ports: Ports, actor: Actor, place: int, edges: tuple[datetime, datetime]
) -> Select[*tuple[object, ...]]:
    """Return the query for a span, which reads its part of an index only."""
    query: Select[*tuple[object, ...]] = select(literal(place).label("place"), *FIGURES)
    # Times are stored to the microsecond.
    began, ended = edges
    until = ended - timedelta(microseconds=1)
    return narrow_figures(ports, actor, query, SignInFilter(since=began, until=until))


def _count(ports: Ports, actor: Actor, filter_: SignInFilter) -> ScalarSelect[int]:
    query: Select[*tuple[object, ...]] = select(SignInEventRecord.id)
    found = narrow_figures(ports, actor, query, filter_).limit(MAX_COUNTED + 1).subquery()
    return select(func.count()).select_from(found).scalar_subquery()
