"""Choose and lease the deliveries that are due."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, case, func, or_, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch, free_slots, sending_rate
from app.models.record import UtcDateTime
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block, internal
from app.services.lists.filters import is_due

BATCH_SIZE = 16
"""Deliveries to one endpoint that one lease covers: they are made one after the other."""

MAX_LEASES = 4
"""Batches of one endpoint that may be under way at once, on all machines together."""

MAX_BATCHES = 48
"""Batches under way to endpoints that do not fail yet, as far as each gets one at all."""

MAX_FAILING_BATCHES = 8
"""Batches under way to endpoints that fail; the rest of the worker's threads is for the others."""

LEASE = timedelta(seconds=60)
"""Twice as long as a batch takes at most, or waits for a thread unless there is a queue."""

MAX_ENDPOINTS = 64
"""Endpoints that one round leases batches for: others can write in between."""

_LEAST_WAIT = 0.2
"""Seconds between two rounds for endpoints whose rate is limited: less than ``RATE_BURST``."""

_LEASE_NAME = 16
_NOW = bindparam("now", type_=UtcDateTime)
_LAST_END = bindparam("last_lease", type_=UtcDateTime)
"""No lease ends later: one that does is from before the clock was put back."""

_delivery = models.Delivery
IS_DUE = (
    is_due(_delivery.next_attempt_at, _NOW),
    or_(
        _delivery.lease_until.is_(None),
        _delivery.lease_until <= _NOW,
        _delivery.lease_until > _LAST_END,
    ),
)
"""The deliveries that can be leased, with ``due_parameters``."""

_RUNNING = (
    select(_delivery.webhook_id, _delivery.lease)
    .where(_delivery.lease_until > _NOW, _delivery.lease_until <= _LAST_END)
    .distinct()
)
_FAILING = select(models.Webhook.id).where(
    models.Webhook.failing_since.is_not(None), models.Webhook.is_active.is_(True)
)

_next_slot = models.Webhook.next_slot_at
_IS_OPEN = (
    models.Webhook.paused_at.is_(None),
    or_(_next_slot.is_(None), _next_slot <= _NOW, _next_slot > _LAST_END),
)
"""The webhooks that can be sent something: neither paused, nor at the limit of their rate."""

_HAS_DUE = select(_delivery.id).where(_delivery.webhook_id == models.Webhook.id, *IS_DUE).exists()

CAN_SEND = and_(
    select(_delivery.id).where(*IS_DUE).exists(),
    select(models.Webhook.id).where(*_IS_OPEN, _HAS_DUE).exists(),
)
"""Whether something can be leased. The first part is quick where nothing is due at all."""

_ANY = select(CAN_SEND.label("any"))
_SLOT_OF_ANY = select(func.min(_next_slot)).where(
    models.Webhook.paused_at.is_(None), _next_slot > _NOW, _next_slot <= _LAST_END, _HAS_DUE
)
_SLOT = (
    select(_next_slot)
    .where(models.Webhook.id == bindparam("webhook"), models.Webhook.paused_at.is_(None))
    .with_for_update(key_share=True, skip_locked=True)
)
_CLAIM = (
    update(models.Webhook)
    .where(models.Webhook.id == bindparam("webhook"))
    .values(next_slot_at=bindparam("next_slot", type_=UtcDateTime))
)

# Asked for each webhook: from the deliveries that are due, all of an endpoint with a long queue
# would have to be read to find those of the others.
_since = (
    select(_delivery.next_attempt_at)
    .where(_delivery.webhook_id == models.Webhook.id, *IS_DUE)
    .order_by(_delivery.next_attempt_at)
    .limit(1)
    .scalar_subquery()
)
_asked = (
    select(
        models.Webhook.id,
        models.Webhook.max_rate,
        models.Webhook.resumed_at,
        _next_slot.label("slot"),
        _since.label("since"),
    )
    .where(models.Webhook.id.not_in(bindparam("full", expanding=True)), *_IS_OPEN)
    .subquery()
)


def _later_of(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    return case((other > one, other), else_=one)


# What a pause or a rate kept back doesn't wait longer than what was due when that ended.
_ready = _later_of(_later_of(_asked.c.since, _asked.c.resumed_at), _asked.c.slot)
_WAITING = (
    select(
        _asked.c.id,
        _asked.c.max_rate,
        and_(_asked.c.resumed_at.is_not(None), _asked.c.since <= _asked.c.resumed_at).label(
            "catches_up"
        ),
    )
    .where(_asked.c.since.is_not(None))
    .order_by(_ready, _asked.c.id)
    .limit(MAX_ENDPOINTS)
)
_OLDEST = select(func.min(_ready))
_oldest = (
    select(_delivery.id)
    .where(_delivery.webhook_id == bindparam("webhook"), *IS_DUE)
    .order_by(_delivery.next_attempt_at, _delivery.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
    # PostgreSQL may run a subquery again for each row, and then lease more than the limit.
    .cte("oldest")
    .prefix_with("MATERIALIZED", dialect="postgresql")
)
_LEASE_OLDEST = (
    update(_delivery)
    .where(_delivery.id.in_(select(_oldest.c.id)))
    .values(lease=bindparam("new_lease"), lease_until=bindparam("ends"))
    .returning(_delivery.id)
)


@dataclass(frozen=True, slots=True)
class _Turn:
    """An endpoint whose batch can begin; ``rate`` is its limit in requests a second, or 0."""

    webhook: int
    rate: int


@dataclass(frozen=True, slots=True)
class _Capacity:
    """How many batches of each endpoint are running, and which endpoints fail.

    ``sharing`` counts healthy endpoints with something running or due: the more there are, the
    fewer batches each can have at once, so that some that suddenly hang leave threads for others.
    """

    running: Mapping[int, int]
    failing: Collection[int]
    sharing: int = 1

    @property
    def failing_left(self) -> int:
        taken = sum(self.running.get(webhook, 0) for webhook in self.failing)
        return max(0, MAX_FAILING_BATCHES - taken)

    def batches_left(self, webhook: int) -> int:
        """Return how many more batches of that endpoint may begin."""
        most = 1 if webhook in self.failing else min(MAX_LEASES, MAX_BATCHES // self.sharing) or 1
        return max(0, most - self.running.get(webhook, 0))

    @property
    def full(self) -> set[int]:
        """Return the endpoints that get nothing now, even if deliveries are due."""
        full = {webhook for webhook in self.running if not self.batches_left(webhook)}
        return full if self.failing_left else full | set(self.failing)


@internal
def lease_due_deliveries(ports: Ports, actor: Actor) -> tuple[Batch, ...]:
    """Lease what is due, oldest first; no delivery twice across processes.

    A lease expires: after a crash its deliveries are due again with the same ``webhook-id``. An
    endpoint gets at most ``MAX_LEASES`` batches, fewer where many have something due
    (``MAX_BATCHES``), a failing one a single delivery, and all failing ones together
    ``MAX_FAILING_BATCHES``: endpoints that hang don't delay others. A paused one gets nothing.

    The slots of an endpoint with a limited rate are claimed in its row with the lease. So all
    hosts together keep the rate, and no thread waits for it. What waited during a pause is sent in
    the order in which it was due, one batch at a time, ``CATCH_UP_RATE`` a second.
    """
    if ports.cache.hold is not None:
        return ()
    now = ports.shared_clock.now()
    at = due_parameters(now)
    (found,) = ports.database.read(_ANY, at)
    if not found.any:
        return ()
    batches = []
    with ports.database.transaction() as session:
        capacity = _capacity(session, at)
        for turn in _choose_endpoints(session, capacity, at):
            most = 1 if turn.webhook in capacity.failing else BATCH_SIZE
            lease = ports.randomness.token(_LEASE_NAME)
            deliveries = _lease_slots(session, turn, lease, most, now)
            if deliveries:
                batches.append(Batch(lease, turn.webhook, tuple(sorted(deliveries))))
    return tuple(batches)


def _lease_slots(
    session: Session, turn: _Turn, lease: str, most: int, now: datetime
) -> Sequence[int]:
    """Lease at most ``most`` deliveries, those for which there are slots at a limited rate."""
    values = {"webhook": turn.webhook, "most": most, "new_lease": lease, "ends": now + LEASE}
    if not turn.rate:
        return session.connection().scalars(_LEASE_OLDEST, {**due_parameters(now), **values}).all()
    row = session.execute(_SLOT, {"webhook": turn.webhook}).one_or_none()
    if row is None:  # another host claims them, or it was paused just now
        return ()
    slots = free_slots(row.next_slot_at, now, turn.rate)
    if not slots.count:
        return ()
    values["most"] = min(most, slots.count)
    leased = session.connection().scalars(_LEASE_OLDEST, {**due_parameters(now), **values}).all()
    if leased:
        claimed = {"webhook": turn.webhook, "next_slot": slots.next_after(len(leased))}
        session.connection().execute(_CLAIM, claimed)
    return leased


@internal
def seconds_to_next_slot(ports: Ports, actor: Actor) -> float | None:
    """Return when an endpoint with deliveries due can be sent more, ``None`` if none waits."""
    now = ports.shared_clock.now()
    with ports.database.reading() as session:
        slot = session.scalar(_SLOT_OF_ANY, due_parameters(now))
    return None if slot is None else max(_LEAST_WAIT, (slot - now).total_seconds())


@building_block
def due_parameters(now: datetime) -> dict[str, datetime]:
    """Return the parameters of ``IS_DUE`` at ``now``."""
    return {"now": now, "last_lease": now + 2 * LEASE}


@internal
def release_batch(ports: Ports, actor: Actor, batch: Batch) -> None:
    """Release an unused lease: its deliveries are due again immediately."""
    with ports.database.transaction() as session:
        session.execute(
            update(models.Delivery)
            .where(models.Delivery.lease == batch.lease, models.Delivery.id.in_(batch.deliveries))
            .values(lease="", lease_until=None)
        )


def _choose_endpoints(
    session: Session, capacity: _Capacity, at: Mapping[str, datetime]
) -> list[_Turn]:
    """Return the endpoint of each batch that can begin, those that have waited longest first."""
    waiting, capacity = _shared(session, capacity, at)
    chosen = []
    failing_left = capacity.failing_left
    for row in waiting:
        turn = _Turn(row.id, sending_rate(row.max_rate, catches_up=row.catches_up))
        if row.id in capacity.failing:
            chosen += [turn] if failing_left else []
            failing_left -= 1 if failing_left else 0
        elif row.catches_up:
            chosen += [] if capacity.running.get(row.id) else [turn]
        else:
            chosen += [turn] * capacity.batches_left(row.id)
    return chosen


def _shared(
    session: Session, capacity: _Capacity, at: Mapping[str, datetime]
) -> tuple[Sequence[NamedRow], _Capacity]:
    """Return the endpoints with something due, and what is left of the capacity for each."""
    waiting = session.execute(_WAITING, {**at, "full": capacity.full}).all()
    healthy = {*(row.id for row in waiting), *capacity.running}.difference(capacity.failing)
    return waiting, replace(capacity, sharing=max(1, len(healthy)))


@building_block
def oldest_waiting_for_worker(session: Session, at: Mapping[str, datetime]) -> datetime | None:
    """Return when the oldest delivery became due that only a worker is missing for.

    Those of endpoints that fail, are paused, or are being sent as much as they get at once, wait
    for these.
    """
    _, capacity = _shared(session, _capacity(session, at), at)
    held = capacity.full.union(capacity.failing)
    since: datetime | None = session.scalar(_OLDEST, {**at, "full": held})
    return since


def _capacity(session: Session, at: Mapping[str, datetime]) -> _Capacity:
    # Counted here: asked to group by webhook, SQLite would go through every delivery of old.
    running = Counter(row.webhook_id for row in session.execute(_RUNNING, at))
    suspects = frozenset(session.scalars(_FAILING))
    return _Capacity(running, suspects, max(1, len(running.keys() - suspects)))
