"""A webhook's deliveries and response times by hour or day."""

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Float,
    Select,
    bindparam,
    cast,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.deliveries.statistics import ChartPeriod, DeliverySpan
from app.models import DeliveryAttemptRecord, DeliveryRecord
from app.models.record import BigKey, UtcDateTime
from app.ports import NamedRow, Ports
from app.services.authorization.register import counts_on_replica, requires_person

MAX_TIMED = 50
"""Deliveries of a span whose response times are read: the newest."""

_delivery, _attempt = DeliveryRecord, DeliveryAttemptRecord


@counts_on_replica
@requires_person(Permission.MANAGE_APPS)
def chart_webhook(
    ports: Ports, actor: Actor, webhook_id: int, period: ChartPeriod, zone: tzinfo = UTC
) -> tuple[DeliverySpan, ...]:
    """Return the webhook's deliveries by time of creation, oldest first; one statement.

    Days begin at midnight in ``zone``.
    """
    edges = period.edges(ports.clock.now().astimezone(zone))
    begins = edges[:-1]
    values: dict[str, object] = {"webhook": webhook_id, "limit": MAX_TIMED}
    values |= {_edge(place): edge for place, edge in enumerate(edges)}
    counts: dict[int, NamedRow] = {}
    durations: dict[int, list[float]] = {place: [] for place in range(len(begins))}
    with ports.database.reading() as session:
        for row in session.execute(_statement(len(begins)), values):
            if row.duration is None:
                counts[row.place] = row
            else:
                durations[row.place].append(row.duration)
    return _spans(begins, counts, durations)


# Built once: it has two parts for each span, which takes longer to build than to execute.
@cache
def _statement(spans: int) -> CompoundSelect[Any]:
    """Return the query for so many spans between edges, of the webhook ``webhook``."""
    places = range(spans)
    return union_all(*(part(place) for place in places for part in (_counts, _durations)))


def _spans(
    begins: tuple[datetime, ...],
    counts: Mapping[int, NamedRow],
    durations: Mapping[int, list[float]],
) -> tuple[DeliverySpan, ...]:
    return tuple(
        DeliverySpan(
            began,
            counts[place].delivered,
            counts[place].failed,
            counts[place].waiting,
            tuple(durations[place]),
        )
        for place, began in enumerate(begins)
    )


def _counts(place: int) -> Select[*tuple[Any, ...]]:
    """Return the query for a span's counts, which reads its part of an index only."""
    pending = _delivery.status == DeliveryStatus.PENDING.value
    retried = pending & (_delivery.attempts > 0)
    failed = or_(_delivery.status == DeliveryStatus.FAILED.value, retried)
    return select(
        literal(place).label("place"),
        func.count().filter(_delivery.status == DeliveryStatus.SUCCESS.value).label("delivered"),
        func.count().filter(failed).label("failed"),
        func.count().filter(pending, _delivery.attempts == 0).label("waiting"),
        cast(null(), Float).label("duration"),
    ).where(*_of_span(place))


def _durations(place: int) -> Select[*tuple[Any, ...]]:
    newest = (
        select(_delivery.id)
        .where(*_of_span(place), _delivery.attempts > 0)
        .order_by(_delivery.created_at.desc(), _delivery.id.desc())
        .limit(bindparam("limit"))
        .subquery()
    )
    return (
        select(literal(place), literal(0), literal(0), literal(0), _attempt.duration)
        .join(newest, newest.c.id == _attempt.delivery_id)
        .where(_attempt.response_status.is_not(None))
    )


def _of_span(place: int) -> tuple[ColumnElement[bool], ...]:
    return (
        _delivery.webhook_id == bindparam("webhook", type_=BigKey),
        _delivery.created_at >= bindparam(_edge(place), type_=UtcDateTime),
        _delivery.created_at < bindparam(_edge(place + 1), type_=UtcDateTime),
    )


def _edge(place: int) -> str:
    return f"edge_{place}"
