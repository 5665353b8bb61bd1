"""Choose and lease the deliveries that are due."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, or_, select, update
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch
from app.models import DeliveryRecord, WebhookRecord
from app.models.record import UtcDateTime
from app.ports import Ports
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

_LEASE_NAME = 16
_NOW = bindparam("now", type_=UtcDateTime)
_LAST_END = bindparam("last_lease", type_=UtcDateTime)
"""No lease ends later: one that does is from before the clock was put back."""

_delivery = DeliveryRecord
IS_DUE = (
    is_due(_delivery.next_attempt_at, _NOW),
    or_(
        _delivery.lease_until.is_(None),
        _delivery.lease_until <= _NOW,
        _delivery.lease_until > _LAST_END,
    ),
)
"""The deliveries that can be leased, with ``moments`` as parameters."""

_ANY_DUE = select(_delivery.id.label("id")).where(*IS_DUE).limit(1)
_RUNNING = (
    select(_delivery.webhook_id, _delivery.lease)
    .where(_delivery.lease_until > _NOW, _delivery.lease_until <= _LAST_END)
    .distinct()
)
_FAILING = select(WebhookRecord.id).where(
    WebhookRecord.failing_since.is_not(None), WebhookRecord.is_active.is_(True)
)

# Asked for each webhook: from the deliveries that are due, all of an endpoint with a long queue
# would have to be read to find those of the others.
_since = (
    select(_delivery.next_attempt_at)
    .where(_delivery.webhook_id == WebhookRecord.id, *IS_DUE)
    .order_by(_delivery.next_attempt_at)
    .limit(1)
    .scalar_subquery()
)
_asked = (
    select(WebhookRecord.id, _since.label("since"))
    .where(WebhookRecord.id.not_in(bindparam("full", expanding=True)))
    .subquery()
)
_WAITING = (
    select(_asked.c.id)
    .where(_asked.c.since.is_not(None))
    .order_by(_asked.c.since, _asked.c.id)
    .limit(MAX_ENDPOINTS)
)
_OLDEST = select(func.min(_asked.c.since))
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

    def of(self, webhook: int) -> int:
        """How many more batches of that endpoint may begin."""
        most = 1 if webhook in self.failing else min(MAX_LEASES, MAX_BATCHES // self.sharing) or 1
        return max(0, most - self.running.get(webhook, 0))

    @property
    def full(self) -> set[int]:
        """Return the endpoints that get nothing now, even if deliveries are due."""
        full = {webhook for webhook in self.running if not self.of(webhook)}
        return full if self.failing_left else full | set(self.failing)


@internal
def lease_due_deliveries(ports: Ports, actor: Actor) -> tuple[Batch, ...]:
    """Lease what is due, oldest first; no delivery twice across processes.

    A lease expires: after a crash its deliveries are due again with the same ``webhook-id``. An
    endpoint gets at most ``MAX_LEASES`` batches, fewer where many have something due
    (``MAX_BATCHES``), a failing one a single delivery, and all failing ones together
    ``MAX_FAILING_BATCHES``: endpoints that hang don't delay others.
    """
    if ports.cache.hold is not None:
        return ()
    now = ports.shared_clock.now()
    at = moments(now)
    if not ports.database.read(_ANY_DUE, at):
        return ()
    batches = []
    with ports.database.transaction() as session:
        capacity = _capacity(session, at)
        for webhook in _choose_endpoints(session, capacity, at):
            most = 1 if webhook in capacity.failing else BATCH_SIZE
            lease = ports.randomness.token(_LEASE_NAME)
            values = {"webhook": webhook, "most": most, "new_lease": lease, "ends": now + LEASE}
            deliveries = session.connection().scalars(_LEASE_OLDEST, {**at, **values}).all()
            if deliveries:
                batches.append(Batch(lease, webhook, tuple(sorted(deliveries))))
    return tuple(batches)


@building_block
def moments(now: datetime) -> dict[str, datetime]:
    """Return the parameters of ``IS_DUE`` at ``now``."""
    return {"now": now, "last_lease": now + 2 * LEASE}


@internal
def release_batch(ports: Ports, actor: Actor, batch: Batch) -> None:
    """Release an unused lease: its deliveries are due again immediately."""
    with ports.database.transaction() as session:
        session.execute(
            update(DeliveryRecord)
            .where(DeliveryRecord.lease == batch.lease, DeliveryRecord.id.in_(batch.deliveries))
            .values(lease="", lease_until=None)
        )


def _choose_endpoints(
    session: Session, capacity: _Capacity, at: Mapping[str, datetime]
) -> list[int]:
    """Return the endpoint of each batch that can begin, those that have waited longest first."""
    waiting, capacity = _shared(session, capacity, at)
    chosen = []
    failing_left = capacity.failing_left
    for webhook in waiting:
        if webhook not in capacity.failing:
            chosen += [webhook] * capacity.of(webhook)
        elif failing_left:
            chosen.append(webhook)
            failing_left -= 1
    return chosen


def _shared(
    session: Session, capacity: _Capacity, at: Mapping[str, datetime]
) -> tuple[Sequence[int], _Capacity]:
    """Return the endpoints with something due, and what is left of the capacity for each."""
    waiting = session.scalars(_WAITING, {**at, "full": capacity.full}).all()
    healthy = {*waiting, *capacity.running}.difference(capacity.failing)
    return waiting, replace(capacity, sharing=max(1, len(healthy)))


@building_block
def oldest_waiting_for_worker(session: Session, at: Mapping[str, datetime]) -> datetime | None:
    """When the oldest delivery became due that only a worker is missing for.

    Those of endpoints that fail, or are being sent as much as they get at once, wait for these.
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
