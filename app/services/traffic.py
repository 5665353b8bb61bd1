"""Traffic as it was counted: who sends how many requests."""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import BigInteger, ColumnElement, cast, delete, func, select

from app.domain.actor import Actor
from app.domain.permissions import Permission
from app.domain.traffic import KEPT, TrafficKind, bucket_of
from app.models import TrafficRecord
from app.ports import Ports
from app.services.access import part, requires


@requires(Permission.MANAGE_SETTINGS)
def count_traffic(ports: Ports, actor: Actor, span: timedelta) -> Mapping[TrafficKind, int]:
    """The requests of the last ``span``, to within ten minutes, by the kind of caller.

    What every process has seen, but for the last minute of each.
    """
    since = bucket_of(ports.clock.now() - span)
    counted = (
        select(TrafficRecord.kind, func.sum(TrafficRecord.requests))
        .where(TrafficRecord.began_at >= since)
        .group_by(TrafficRecord.kind)
    )
    with ports.database.reading() as session:
        found = {kind: int(requests) for kind, requests in session.execute(counted)}
    return {kind: found.get(kind, 0) for kind in TrafficKind}


@part
def requests_since(ports: Ports, span: timedelta, *kinds: TrafficKind) -> ColumnElement[int]:
    """The requests of some kinds in the last ``span``, as a part of a statement that asks more."""
    return (
        select(cast(func.coalesce(func.sum(TrafficRecord.requests), 0), BigInteger))
        .where(
            TrafficRecord.began_at >= bucket_of(ports.clock.now() - span),
            TrafficRecord.kind.in_([kind.value for kind in kinds]),
        )
        .scalar_subquery()
    )


@part
def forget_old_traffic(ports: Ports) -> int:
    """Forget counts of more than a week ago; how many rows."""
    old = delete(TrafficRecord).where(TrafficRecord.began_at < ports.clock.now() - KEPT)
    with ports.database.transaction() as session:
        return len(session.scalars(old.returning(TrafficRecord.kind)).all())
