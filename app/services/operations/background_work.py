"""Whether a background worker is alive, what waits for it, and for how long."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import bindparam, func, literal, or_, select, update

from app import models
from app.domain.authorization.actor import Actor
from app.domain.values.times import seconds_since
from app.models.record import UtcDateTime
from app.ports import Ports
from app.services.authorization.register import building_block, internal
from app.services.deliveries import dispatch, fanout
from app.services.deliveries.backlog import EndpointBacklog, read_endpoint_backlogs, read_waiting
from app.services.deliveries.dispatch import oldest_waiting_for_worker
from app.services.lists.filters import is_due
from app.services.lists.paging import count_up_to
from app.services.oauth.client_sessions import HAS_ENDED, waits_for_worker


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """``beat_at`` is the last heartbeat of any worker, ``backed_up_at`` when a backup ended last.

    Both are ``None`` if there was none.

    The other fields are when the oldest delivery that waits for a worker, open event or mail
    became due; ``None`` if none waits.
    """

    beat_at: datetime | None
    backed_up_at: datetime | None
    delivery_since: datetime | None
    event_since: datetime | None
    mail_since: datetime | None


@internal
def record_heartbeat(ports: Ports, actor: Actor) -> int:
    """Record a heartbeat; return 0: no work is left."""
    with ports.database.transaction() as session:
        session.execute(update(models.Heartbeat).values(beat_at=ports.shared_clock.now()))
    return 0


@building_block
def read_worker_status(ports: Ports) -> WorkerStatus:
    """Read by indexes that hold only what is still to be done."""
    now = ports.shared_clock.now()
    event = (
        select(models.OutboxEvent.issued_at)
        .where(models.OutboxEvent.closed_at.is_(None))
        .order_by(models.OutboxEvent.id)
        .limit(1)
    )
    mail = select(func.min(models.OutboxMail.next_attempt_at)).where(
        models.OutboxMail.next_attempt_at <= now
    )
    query = select(
        models.Heartbeat.beat_at,
        models.Heartbeat.backed_up_at,
        event.scalar_subquery(),
        mail.scalar_subquery(),
    )
    with ports.database.reading() as session:
        beat_at, backed_up_at, event_since, mail_since = session.execute(query).one()
        delivery_since = oldest_waiting_for_worker(session, dispatch.due_parameters(now))
    return WorkerStatus(beat_at, backed_up_at, delivery_since, event_since, mail_since)


MAX_COUNTED = 100_000
"""Rows of a kind that are counted, so that a long queue isn't made longer by counting it."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """``number`` of things that wait, ``seconds`` of the oldest."""

    number: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits; ``heartbeat_age`` in seconds is ``None`` if no worker ever ran.

    So is ``backup_age`` if ``flask backup`` never wrote a file.

    ``deliveries`` are due. ``seconds_without_worker`` is how long the oldest of them waits that
    doesn't wait for its endpoint. ``retrying`` have a later attempt. ``endpoints`` are those with
    most waiting.
    """

    deliveries: Waiting
    seconds_without_worker: float
    retrying: int
    endpoints: tuple[EndpointBacklog, ...]
    events: Waiting
    mails: Waiting
    logouts: Waiting
    heartbeat_age: float | None
    backup_age: float | None


@internal
def read_backlog(ports: Ports, actor: Actor) -> Backlog:
    """Return what waits now."""
    now = ports.shared_clock.now()
    status = read_worker_status(ports)
    one = select(literal(1).label("one"))
    query = select(
        count_up_to(one.where(models.OutboxEvent.closed_at.is_(None)), MAX_COUNTED),
        count_up_to(one.where(is_due(models.OutboxMail.next_attempt_at, now)), MAX_COUNTED),
        count_up_to(
            select(models.OAuthClientSession.sid).where(HAS_ENDED).distinct(), MAX_COUNTED
        ),
        select(func.min(models.OAuthClientSession.first_attempt_at))
        .where(HAS_ENDED)
        .scalar_subquery(),
    )
    with ports.database.reading() as session:
        events, mails, logouts, logout_since = session.execute(query).one()
    waiting = read_waiting(ports, MAX_COUNTED)
    age = partial(seconds_since, now=now)
    return Backlog(
        Waiting(waiting.due, age(waiting.due_since)),
        age(waiting.held_up_since),
        waiting.retrying,
        read_endpoint_backlogs(ports, actor),
        Waiting(events, age(status.event_since)),
        Waiting(mails, age(status.mail_since)),
        Waiting(logouts, age(logout_since)),
        None if status.beat_at is None else age(status.beat_at),
        None if status.backed_up_at is None else age(status.backed_up_at),
    )


_HOST_NOW = bindparam("host_now", type_=UtcDateTime)

_WAITING = {
    "events": select(models.OutboxEvent.id).where(*fanout.IS_OPEN).exists(),
    "dispatch": dispatch.CAN_SEND,
    "mail": or_(
        select(models.ResetRequest.id).exists(),
        select(models.OutboxMail.id)
        .where(models.OutboxMail.awaited_event_id.is_not(None))
        .exists(),
        select(models.OutboxMail.id)
        .where(is_due(models.OutboxMail.next_attempt_at, _HOST_NOW))
        .exists(),
    ),
    "logouts": waits_for_worker(_HOST_NOW),
    "installations": select(models.AppInstallation.id)
    .where(models.AppInstallation.next_attempt_at <= _HOST_NOW)
    .exists(),
    "storefront": select(models.Shop.id)
    .where(
        models.Shop.allow_storefront_traffic.is_(False),
        models.Shop.storefront_opens_at <= _HOST_NOW,
    )
    .exists(),
}
"""By the name of the task that does it."""

_LOOK = select(*(condition.label(name) for name, condition in _WAITING.items()))


@internal
def find_waiting_work(ports: Ports, actor: Actor) -> frozenset[str]:
    """Return the names of the tasks that have something to do; locks nothing."""
    now = ports.shared_clock.now()
    moments = {
        **fanout.open_parameters(now),
        **dispatch.due_parameters(now),
        "host_now": ports.clock.now(),
    }
    (row,) = ports.database.read(_LOOK, moments)
    return frozenset(name for name in _WAITING if getattr(row, name))
