"""Deliveries in figures: of the last day, and of a webhook by hour or day."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from statistics import median
from typing import Any

from sqlalchemy import (
    CTE,
    Boolean,
    ColumnElement,
    CompoundSelect,
    Float,
    Select,
    bindparam,
    cast,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries import statistics
from app.domain.deliveries.deliveries import DeliveryStatus
from app.models.record import BigKey, UtcDateTime
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block, counts_on_replica, requires_person
from app.services.lists.paging import record_from

MAX_TIMED = 50
"""Deliveries of a span whose response times are read: the newest."""

_delivery, _attempt = models.Delivery, models.DeliveryAttempt


@counts_on_replica
@requires_person(Permission.MANAGE_APPS)
def chart_webhook(
    ports: Ports, actor: Actor, webhook_id: int, period: statistics.ChartPeriod, zone: tzinfo = UTC
) -> tuple[statistics.DeliverySpan, ...]:
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
    return tuple(
        record_from(
            statistics.DeliverySpan, counts[place], began=began, durations=tuple(durations[place])
        )
        for place, began in enumerate(begins)
    )


# Built once: it has two parts for each span, which takes longer to build than to execute.
@cache
def _statement(spans: int) -> CompoundSelect[Any]:
    """Return the query for so many spans between edges, of the webhook ``webhook``."""
    places = range(spans)
    return union_all(*(part(place) for place in places for part in (_counts, _durations)))


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


ANSWERS = 1000
"""Of so many of the last attempts the times are told: all of a day would have to be sorted."""


@building_block
def hour_spans(now: datetime) -> CTE:
    """Return the hours before ``now`` as ``began`` and ``ended``, and the day before them.

    Selects rather than VALUES, whose statement SQLAlchemy compiles anew each time.
    """
    hour = timedelta(hours=1)
    begins = [now - statistics.SPAN + number * hour for number in range(statistics.HOURS)]
    spans = [
        (now - 2 * statistics.SPAN, now - statistics.SPAN),
        *((begin, begin + hour) for begin in begins),
    ]
    # The present moment belongs to the last hour.
    spans[-1] = (begins[-1], now + hour)
    rows = (
        select(
            literal(began, UtcDateTime).label("began"), literal(ended, UtcDateTime).label("ended")
        )
        for began, ended in spans
    )
    return union_all(*rows).cte("spans")


@building_block
def delivery_columns(span: CTE) -> tuple[ColumnElement[int], ...]:
    """Return the deliveries of each of ``hour_spans`` by state; ``read_day`` reads the rows."""
    created = select(func.count()).where(
        models.Delivery.created_at >= span.c.began, models.Delivery.created_at < span.c.ended
    )
    arrived, failed, pending = (
        created.where(models.Delivery.status == status.value)
        for status in (DeliveryStatus.SUCCESS, DeliveryStatus.FAILED, DeliveryStatus.PENDING)
    )
    # Spelled out, not as parameters: or no database could tell that its index holds just these.
    arrived_later = literal_column("status = 'SUCCESS' AND attempts > 1", Boolean)
    retried = created.where(arrived_later)
    waiting = pending.where(models.Delivery.attempts == 0)
    counted = {
        "arrived": arrived,
        "retried": retried,
        "failed": failed,
        "pending": pending,
        "waiting": waiting,
    }
    return tuple(count.scalar_subquery().label(name) for name, count in counted.items())


@building_block
def read_day(session: Session, now: datetime, rows: Sequence[NamedRow]) -> statistics.DeliveryDay:
    """Return the 24 hours before ``now`` from rows, the earliest first; one statement more."""
    before, *hours = map(_hour, rows)
    return statistics.DeliveryDay(tuple(hours), before, _times(session, now - statistics.SPAN))


def _hour(row: NamedRow) -> statistics.DeliveryHour:
    return record_from(
        statistics.DeliveryHour,
        row,
        at_first_try=row.arrived - row.retried,
        failing=row.pending - row.waiting,
    )


def _times(session: Session, since: datetime) -> statistics.ResponseTimes | None:
    attempt = models.DeliveryAttempt
    newest = select(attempt.id).order_by(attempt.id.desc()).limit(ANSWERS).subquery()
    rows = session.execute(
        select(attempt.duration, models.App.name.label("app_name"))
        .join(newest, newest.c.id == attempt.id)
        .join(models.Delivery, models.Delivery.id == attempt.delivery_id)
        .join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
        .join(models.App, models.App.id == models.Webhook.app_id)
        .where(attempt.created_at >= since, attempt.response_status.is_not(None))
    ).all()
    if not rows:
        return None
    slowest = max(rows, key=lambda row: row.duration)
    middle = median(row.duration for row in rows)
    return statistics.ResponseTimes(middle, slowest.duration, slowest.app_name)
