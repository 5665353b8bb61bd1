"""The deliveries of the last day in figures, counted by indexes however many there are."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from sqlalchemy import (
    CTE,
    Boolean,
    ColumnElement,
    column,
    func,
    literal_column,
    select,
    values,
)
from sqlalchemy.orm import Session

from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.deliveries.statistics import (
    HOURS,
    SPAN,
    DeliveryDay,
    DeliveryHour,
    ResponseTimes,
    SlowestEndpoint,
)
from app.models import AppRecord, DeliveryAttemptRecord, DeliveryRecord, WebhookRecord
from app.models.record import UtcDateTime
from app.ports import NamedRow
from app.services.authorization.register import part
from app.services.lists.paging import record_from

ANSWERS = 1000
"""Of so many of the last attempts the times are told: all of a day would have to be sorted."""

_delivery = DeliveryRecord


@part
def hour_spans(now: datetime) -> CTE:
    """Return the hours before ``now`` as ``began`` and ``ended``, and the day before them."""
    hour = timedelta(hours=1)
    begins = [now - SPAN + number * hour for number in range(HOURS)]
    spans = [(now - 2 * SPAN, now - SPAN), *((begin, begin + hour) for begin in begins)]
    # The present moment belongs to the last hour.
    spans[-1] = (begins[-1], now + hour)
    return (
        values(column("began", UtcDateTime), column("ended", UtcDateTime), name="spans")
        .data(spans)
        .cte("spans")
    )


@part
def delivery_columns(span: CTE) -> tuple[ColumnElement[int], ...]:
    """Return the deliveries of each of ``hour_spans`` by state; ``read_day`` reads the rows."""
    created = select(func.count()).where(
        _delivery.created_at >= span.c.began, _delivery.created_at < span.c.ended
    )
    arrived, failed, pending = (
        created.where(_delivery.status == status.value)
        for status in (DeliveryStatus.SUCCESS, DeliveryStatus.FAILED, DeliveryStatus.PENDING)
    )
    # Spelled out, not as parameters: or no database could tell that its index holds just these.
    arrived_later = literal_column("status = 'SUCCESS' AND attempts > 1", Boolean)
    retried = created.where(arrived_later)
    waiting = pending.where(_delivery.attempts == 0)
    counted = {
        "arrived": arrived,
        "retried": retried,
        "failed": failed,
        "pending": pending,
        "waiting": waiting,
    }
    return tuple(count.scalar_subquery().label(name) for name, count in counted.items())


@part
def read_day(session: Session, now: datetime, rows: Sequence[NamedRow]) -> DeliveryDay:
    """The 24 hours before ``now`` from rows, the earliest first; one statement more."""
    before, *hours = map(_hour, rows)
    return DeliveryDay(tuple(hours), before, _times(session, now - SPAN))


def _hour(row: NamedRow) -> DeliveryHour:
    return record_from(
        DeliveryHour,
        row,
        at_first_try=row.arrived - row.retried,
        failing=row.pending - row.waiting,
    )


def _times(session: Session, since: datetime) -> ResponseTimes | None:
    attempt = DeliveryAttemptRecord
    newest = select(attempt.id).order_by(attempt.id.desc()).limit(ANSWERS).subquery()
    rows = session.execute(
        select(
            attempt.duration,
            WebhookRecord.id.label("webhook_id"),
            WebhookRecord.name.label("webhook_name"),
            AppRecord.name.label("app_name"),
        )
        .join(newest, newest.c.id == attempt.id)
        .join(_delivery, _delivery.id == attempt.delivery_id)
        .join(WebhookRecord, WebhookRecord.id == _delivery.webhook_id)
        .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
        .where(attempt.created_at >= since, attempt.response_status.is_not(None))
    ).all()
    if not rows:
        return None
    slowest = max(rows, key=lambda row: row.duration)
    durations = [row.duration for row in rows]
    return ResponseTimes(len(rows), median(durations), record_from(SlowestEndpoint, slowest))
