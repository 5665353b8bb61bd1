"""Counts of requests by kind of caller, and peers that forward without being trusted."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import CTE, BigInteger, ColumnElement, ScalarSelect, cast, delete, func, select

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import TRAFFIC_RETENTION, TrafficHour, TrafficKind, bucket_of
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block, counts_on_replica, requires
from app.services.lists.paging import columns_for, record_from


@dataclass(frozen=True, slots=True)
class UntrustedForwarding:
    """A peer that forwarded requests without being one of ``TRUSTED_PROXIES``.

    Either a client forges the header, or a proxy is missing from the setting: then all its clients
    share one login throttle.
    """

    peer: str
    requests: int
    last_seen_at: datetime


@counts_on_replica
@requires(Permission.MANAGE_SETTINGS)
def count_traffic(ports: Ports, actor: Actor, span: timedelta) -> Mapping[TrafficKind, int]:
    """Return the requests of the last ``span``, to within ten minutes, by the kind of caller.

    What every process has seen, but for the last minute of each.
    """
    since = bucket_of(ports.clock.now() - span)
    counted = (
        select(models.Traffic.kind, func.sum(models.Traffic.requests))
        .where(models.Traffic.began_at >= since)
        .group_by(models.Traffic.kind)
    )
    with ports.database.reading() as session:
        found = {kind: int(requests) for kind, requests in session.execute(counted)}
    return {kind: found.get(kind, 0) for kind in TrafficKind}


@building_block
def requests_since(ports: Ports, span: timedelta, *kinds: TrafficKind) -> ColumnElement[int]:
    """The requests of some kinds in the last ``span``, as a part of a statement that asks more."""
    return (
        select(cast(func.coalesce(func.sum(models.Traffic.requests), 0), BigInteger))
        .where(
            models.Traffic.began_at >= bucket_of(ports.clock.now() - span),
            models.Traffic.kind.in_([kind.value for kind in kinds]),
        )
        .scalar_subquery()
    )


@building_block
def traffic_columns(span: CTE) -> tuple[ColumnElement[int], ...]:
    """Return the requests of each ``span``, from ``began`` to ``ended``, in a column per kind."""
    requests = select(cast(func.coalesce(func.sum(models.Traffic.requests), 0), BigInteger)).where(
        models.Traffic.began_at >= span.c.began, models.Traffic.began_at < span.c.ended
    )
    return tuple(
        requests.where(models.Traffic.kind == kind.value).scalar_subquery().label(kind.value)
        for kind in TrafficKind
    )


@building_block
def read_traffic_hour(row: NamedRow) -> TrafficHour:
    """Return the requests in a row that has ``traffic_columns`` and ``began``."""
    return TrafficHour(row.began, {kind: getattr(row, kind.value) for kind in TrafficKind})


@requires(Permission.MANAGE_SETTINGS, Permission.MANAGE_STAFF)
def list_untrusted_forwarding(
    ports: Ports, actor: Actor, *, limit: int = 10
) -> tuple[UntrustedForwarding, ...]:
    """Peers that sent forwarded headers in the last week, the one seen last first; one statement.

    What every process has seen, but for the last minute of each.
    """
    peers = (
        select(*columns_for(UntrustedForwarding, models.Forwarding))
        .where(models.Forwarding.last_seen_at >= ports.clock.now() - TRAFFIC_RETENTION)
        .order_by(models.Forwarding.last_seen_at.desc(), models.Forwarding.peer)
        .limit(limit)
    )
    with ports.database.reading() as session:
        return tuple(record_from(UntrustedForwarding, row) for row in session.execute(peers))


@building_block
def untrusted_peers(ports: Ports) -> ScalarSelect[int]:
    """Count the peers of ``list_untrusted_forwarding``, as part of a statement."""
    return (
        select(func.count())
        .select_from(models.Forwarding)
        .where(models.Forwarding.last_seen_at >= ports.clock.now() - TRAFFIC_RETENTION)
        .scalar_subquery()
    )


@building_block
def delete_old_traffic(ports: Ports) -> int:
    """Delete traffic counts and forwarding peers older than a week; return how many rows."""
    since = ports.clock.now() - TRAFFIC_RETENTION
    old = delete(models.Traffic).where(models.Traffic.began_at < since)
    peers = delete(models.Forwarding).where(models.Forwarding.last_seen_at < since)
    with ports.database.transaction() as session:
        counts = session.scalars(old.returning(models.Traffic.kind)).all()
        gone = session.scalars(peers.returning(models.Forwarding.peer)).all()
        return len(counts) + len(gone)
