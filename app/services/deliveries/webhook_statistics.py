"""A webhook's deliveries and response times by hour or day."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Float, Select, cast, func, literal, null, or_, select, union_all

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.deliveries.webhook_statistics import ChartPeriod, DeliverySpan
from app.models import DeliveryAttemptRecord, DeliveryRecord
from app.ports import NamedRow, Ports
from app.services.authorization.register import requires_person

MAX_TIMED = 50
"""Deliveries of a span whose response times are read: the newest."""

_delivery, _attempt = DeliveryRecord, DeliveryAttemptRecord


@requires_person(Permission.MANAGE_APPS)
def chart_webhook(
    ports: Ports, actor: Actor, webhook_id: int, period: ChartPeriod
) -> tuple[DeliverySpan, ...]:
    """Return the webhook's deliveries by time of creation, oldest first; one statement."""
    begins = period.begins(ports.clock.now())
    parts: list[Select[*tuple[Any, ...]]] = []
    for place, began in enumerate(begins):
        ended = began + period.step
        parts += [
            _counts(webhook_id, place, began, ended),
            _durations(webhook_id, place, began, ended),
        ]
    counts: dict[int, NamedRow] = {}
    durations: dict[int, list[float]] = {place: [] for place in range(len(begins))}
    with ports.database.reading() as session:
        for row in session.execute(union_all(*parts)):
            if row.duration is None:
                counts[row.place] = row
            else:
                durations[row.place].append(row.duration)
    return _spans(begins, counts, durations)


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


def _counts(
    webhook_id: int, place: int, began: datetime, ended: datetime
) -> Select[*tuple[Any, ...]]:
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
    ).where(*_of_span(webhook_id, began, ended))


def _durations(
    webhook_id: int, place: int, began: datetime, ended: datetime
) -> Select[*tuple[Any, ...]]:
    newest = (
        select(_delivery.id)
        .where(*_of_span(webhook_id, began, ended), _delivery.attempts > 0)
        .order_by(_delivery.created_at.desc(), _delivery.id.desc())
        .limit(MAX_TIMED)
        .subquery()
    )
    return (
        select(literal(place), literal(0), literal(0), literal(0), _attempt.duration)
        .join(newest, newest.c.id == _attempt.delivery_id)
        .where(_attempt.response_status.is_not(None))
    )


def _of_span(webhook_id: int, began: datetime, ended: datetime) -> tuple[Any, ...]:
    return (
        _delivery.webhook_id == webhook_id,
        _delivery.created_at >= began,
        _delivery.created_at < ended,
    )
