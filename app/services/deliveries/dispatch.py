"""Choose and lease the deliveries that are due."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch
from app.models import DeliveryRecord, WebhookRecord
from app.ports import Ports
from app.services.authorization.register import internal

BATCH_SIZE = 16
"""Deliveries to one endpoint that one lease covers: they are made one after the other."""

MAX_LEASES = 4
"""Batches of one endpoint that may be under way at once, on all machines together."""

MAX_BATCHES = 12
"""Batches under way to endpoints that do not fail yet, as far as each gets one at all."""

MAX_FAILING_BATCHES = 8
"""Batches under way to endpoints that fail; the rest of the worker's threads is for the others."""

LEASE = timedelta(seconds=60)
"""Twice as long as a batch takes at most, or waits for a thread unless there is a queue."""

_MAX_DUE = 500
_LEASE_NAME = 16


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
        """The endpoints that get nothing now, whatever waits for them."""
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
    now = ports.shared_clock.now()
    with ports.database.reading() as session:
        # A look that locks nothing: most rounds find nothing, and disturb nobody.
        if session.scalar(select(DeliveryRecord.id).where(*_due(now)).limit(1)) is None:
            return ()
    with ports.database.transaction() as session:
        capacity = _capacity(session, now)
        batches = [
            Batch(ports.randomness.token(_LEASE_NAME), webhook, deliveries)
            for webhook, deliveries in _choose_batches(session, capacity, now)
        ]
        for batch in batches:
            session.execute(
                update(DeliveryRecord)
                .where(DeliveryRecord.id.in_(batch.deliveries))
                .values(lease=batch.lease, lease_until=now + LEASE)
            )
    return tuple(batches)


@internal
def release_batch(ports: Ports, actor: Actor, batch: Batch) -> None:
    """Release an unused lease: its deliveries are due again immediately."""
    with ports.database.transaction() as session:
        session.execute(
            update(DeliveryRecord)
            .where(DeliveryRecord.lease == batch.lease, DeliveryRecord.id.in_(batch.deliveries))
            .values(lease="", lease_until=None)
        )


def _due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    until = DeliveryRecord.lease_until
    # No lease ends so late: it is from before the clock was put back.
    free = or_(until.is_(None), until <= now, until > now + 2 * LEASE)
    return (DeliveryRecord.next_attempt_at <= now, free)


def _choose_batches(
    session: Session, capacity: _Capacity, now: datetime
) -> list[tuple[int, tuple[int, ...]]]:
    """Return the batches for each endpoint that has capacity."""
    due = session.execute(
        select(DeliveryRecord.id, DeliveryRecord.webhook_id)
        .where(*_due(now), DeliveryRecord.webhook_id.not_in(capacity.full))
        .order_by(DeliveryRecord.next_attempt_at, DeliveryRecord.id)
        .limit(_MAX_DUE)
        .with_for_update(skip_locked=True)
    ).all()
    by_webhook: dict[int, list[int]] = {}
    for delivery, webhook in due:
        by_webhook.setdefault(webhook, []).append(delivery)
    healthy = {*by_webhook, *capacity.running}.difference(capacity.failing)
    capacity = replace(capacity, sharing=max(1, len(healthy)))
    shares = []
    failing_left = capacity.failing_left
    for webhook, waiting in by_webhook.items():
        if webhook in capacity.failing:
            if failing_left:
                shares.append((webhook, tuple(waiting[:1])))
                failing_left -= 1
            continue
        parts = [
            waiting[place : place + BATCH_SIZE] for place in range(0, len(waiting), BATCH_SIZE)
        ]
        shares += [(webhook, tuple(part)) for part in parts[: capacity.of(webhook)]]
    return shares


def _capacity(session: Session, now: datetime) -> _Capacity:
    # Counted here: asked to group by webhook, SQLite would go through every delivery of old.
    rows = session.execute(
        select(DeliveryRecord.webhook_id, DeliveryRecord.lease)
        .where(DeliveryRecord.lease_until > now, DeliveryRecord.lease_until <= now + 2 * LEASE)
        .distinct()
    )
    failing = select(WebhookRecord.id).where(
        WebhookRecord.failing_since.is_not(None), WebhookRecord.is_active.is_(True)
    )
    running = Counter(row.webhook_id for row in rows)
    suspects = frozenset(session.scalars(failing))
    return _Capacity(running, suspects, max(1, len(running.keys() - suspects)))
