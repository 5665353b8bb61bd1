"""What waits for endpoints: in figures, and sent at once when an endpoint works again.

A delivery waits for the worker, or for its endpoint: one that fails gets a single delivery at a
time, and none gets more than its share. Workers don't help against the second.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, case, func, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import CATCH_UP_RATE, MOST_ATTEMPTS_RELEASED
from app.domain.urls.web_urls import masked_url
from app.domain.values.pages import MAX_COUNTED
from app.domain.values.times import seconds_since
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block, internal, requires_person
from app.services.deliveries.dispatch import IS_DUE, due_parameters, oldest_waiting_for_worker
from app.services.lists.paging import columns_for, count_up_to, record_from

_MAX_LISTED = 50
"""Webhooks that figures are given of: those with most waiting."""


@dataclass(frozen=True, slots=True)
class EndpointBacklog:
    """What waits for the endpoint of one webhook.

    ``due`` deliveries can be sent now, ``retrying`` ones wait for their next attempt. Ages are in
    seconds: of the oldest due one since it was due, of the oldest retrying one since its event.
    ``failing_since`` is empty for an endpoint that works, ``paused_since`` unless it is paused:
    then what is due waits for that to end. ``max_rate`` is its limit in requests a second, 0 for
    none. Counts end at ``MAX_COUNTED``.
    """

    webhook_id: int
    webhook_name: str
    app_name: str
    failing_since: datetime | None
    last_failure: str
    due: int
    oldest_due: float
    retrying: int
    oldest_retrying: float
    paused_since: datetime | None = None
    max_rate: int = 0


@internal
def read_endpoint_backlogs(ports: Ports, actor: Actor) -> tuple[EndpointBacklog, ...]:
    """Return the webhooks with most deliveries waiting; one statement by indexes of these.

    Those that fail come first and paused ones last, so that none of these hides them.
    """
    now = ports.shared_clock.now()
    counted = select(
        *columns_for(EndpointBacklog, models.Webhook),
        models.Webhook.id,
        models.Webhook.app_id,
        models.Webhook.name,
        models.Webhook.target_url,
        models.Webhook.paused_at,
        count_up_to(_keys(models.Delivery.next_attempt_at <= now), MAX_COUNTED).label("due"),
        count_up_to(_keys(models.Delivery.next_attempt_at > now), MAX_COUNTED).label("retrying"),
        _due_since(now).label("due_since"),
        _first_retrying(now).label("retrying_since"),
    ).where(_anything_waits())
    some = counted.subquery()
    is_paused = some.c.paused_at.is_not(None)
    by_urgency = is_paused, and_(some.c.failing_since.is_(None), ~is_paused)
    query = (
        select(some, models.App.name.label("app_name"))
        .join(models.App, models.App.id == some.c.app_id)
        .order_by(*by_urgency, (some.c.due + some.c.retrying).desc(), some.c.id)
        .limit(_MAX_LISTED)
    )
    with ports.database.reading() as session:
        return tuple(_backlog(row, now) for row in session.execute(query))


def _backlog(row: NamedRow, now: datetime) -> EndpointBacklog:
    return record_from(
        EndpointBacklog,
        row,
        webhook_id=row.id,
        webhook_name=row.name or masked_url(row.target_url),
        oldest_due=seconds_since(row.due_since, now),
        oldest_retrying=seconds_since(row.retrying_since, now),
        paused_since=row.paused_at,
    )


def _of_webhook() -> ColumnElement[bool]:
    return models.Delivery.webhook_id == models.Webhook.id


def _anything_waits() -> ColumnElement[bool]:
    return (
        select(models.Delivery.id)
        .where(_of_webhook(), models.Delivery.next_attempt_at.is_not(None))
        .correlate(models.Webhook)
        .exists()
    )


def _keys(which: ColumnElement[bool]) -> Select[Any]:
    return select(models.Delivery.id).where(_of_webhook(), which).correlate(models.Webhook)


def _due_since(now: datetime) -> ScalarSelect[datetime | None]:
    return (
        select(func.min(models.Delivery.next_attempt_at))
        .where(_of_webhook(), models.Delivery.next_attempt_at <= now)
        .correlate(models.Webhook)
        .scalar_subquery()
    )


def _first_retrying(now: datetime) -> ScalarSelect[datetime]:
    some = _keys(models.Delivery.next_attempt_at > now).limit(MAX_COUNTED).subquery()
    first = select(func.min(some.c.id)).scalar_subquery()
    return (
        select(models.Delivery.created_at)
        .where(models.Delivery.id == first)
        .correlate(models.Webhook)
        .scalar_subquery()
    )


@requires_person(Permission.MANAGE_APPS)
def count_retrying(ports: Ports, actor: Actor, webhook_id: int) -> int:
    """Count a webhook's deliveries that wait for a later attempt, to ``MAX_COUNTED``."""
    later = models.Delivery.next_attempt_at > ports.shared_clock.now()
    with ports.database.reading() as session:
        return _count(session, MAX_COUNTED, models.Delivery.webhook_id == webhook_id, later)


_IS_SENT = models.Delivery.webhook_id.not_in(
    select(models.Webhook.id).where(models.Webhook.paused_at.is_not(None))
)


@dataclass(frozen=True, slots=True)
class WaitingDeliveries:
    """All that wait: due, or retrying with a later attempt; when the oldest due one was due.

    Those of paused webhooks count as neither. ``held_up_since`` is that of endpoints that could be
    sent more now: those wait for a worker.
    """

    due: int
    retrying: int
    due_since: datetime | None
    held_up_since: datetime | None


@building_block
def read_waiting(ports: Ports, most: int) -> WaitingDeliveries:
    """Count what waits, each to ``most``; four statements."""
    now = ports.shared_clock.now()
    at = due_parameters(now)
    with ports.database.reading() as session:
        due = _count(session, most, *IS_DUE, _IS_SENT, at=at)
        retrying = _count(session, most, models.Delivery.next_attempt_at > now, _IS_SENT)
        first = select(func.min(models.Delivery.next_attempt_at)).where(*IS_DUE, _IS_SENT)
        since = session.scalar(first, at)
        held_up = oldest_waiting_for_worker(session, at) if due else None
    return WaitingDeliveries(due, retrying, since, held_up)


def _count(
    session: Session,
    most: int,
    *which: ColumnElement[bool],
    at: Mapping[str, datetime] | None = None,
) -> int:
    counted = count_up_to(select(models.Delivery.id).where(*which), most)
    return session.scalar(select(counted), at) or 0


_STEP = timedelta(seconds=5)
"""What is released together becomes due in such steps."""

_MAX_RELEASED = 20_000
"""Deliveries that are released at once, so that the transaction stays short."""


@building_block
def release_all(session: Session, webhook_id: int, now: datetime) -> int:
    """Make all deliveries of a webhook due that wait for a later attempt; return how many."""
    return len(session.scalars(_release(now, webhook_id, now)).all())


@building_block
def release_gradually(session: Session, webhook_id: int, now: datetime) -> int:
    """Bring the next attempts of a webhook's deliveries forward, the oldest events first.

    ``CATCH_UP_RATE`` of them become due in a second, the newest beyond ``_MAX_RELEASED`` when they
    would have been. Returns how many were brought forward at most.
    """
    waiting = session.scalars(
        select(models.Delivery.id)
        .where(models.Delivery.webhook_id == webhook_id, models.Delivery.next_attempt_at > now)
        .order_by(models.Delivery.id)
        .limit(_MAX_RELEASED)
    ).all()
    size = int(CATCH_UP_RATE * _STEP.total_seconds())
    for number, start in enumerate(range(0, len(waiting), size)):
        keys = waiting[start : start + size]
        among = models.Delivery.id.between(keys[0], keys[-1])
        session.execute(_release(now + number * _STEP, webhook_id, now + number * _STEP, among))
    return len(waiting)


def _release(
    due: datetime, webhook_id: int, later_than: datetime, *among: ColumnElement[bool]
) -> ReturningUpdate[int]:
    most = MOST_ATTEMPTS_RELEASED
    attempts = case((models.Delivery.attempts > most, most), else_=models.Delivery.attempts)
    return (
        update(models.Delivery)
        .where(
            models.Delivery.webhook_id == webhook_id,
            models.Delivery.next_attempt_at > later_than,
            *among,
        )
        .values(next_attempt_at=due, attempts=attempts)
        .returning(models.Delivery.id)
        .execution_options(synchronize_session=False)
    )
