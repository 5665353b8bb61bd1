"""What an app did: its requests, their errors, and the permissions that it doesn't use.

Counted in memory by every process and written once a minute (``app/adapters/activity``), so that
a process that is killed loses a minute at most.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from itertools import pairwise

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import models
from app.domain.apps.apps import HOUR, MINUTE, SPANS_KEPT, UNUSED_AFTER
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.errors import Problem, Refused
from app.domain.values.times import span_edges
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block, requires_person
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions


class ActivityPeriod(StrEnum):
    """How far back an app's activity looks."""

    HOUR = "1h"
    DAY = "24h"
    MONTH = "30d"

    @property
    def step(self) -> timedelta:
        """The length of one span."""
        steps = {ActivityPeriod.HOUR: timedelta(minutes=1), ActivityPeriod.DAY: timedelta(hours=1)}
        return steps.get(self, timedelta(days=1))

    @property
    def stored_span(self) -> int:
        """The seconds of the spans whose counts are added up."""
        return MINUTE if self is ActivityPeriod.HOUR else HOUR

    def edges(self, now: datetime) -> tuple[datetime, ...]:
        """Return when each span begins, and the last one ends."""
        if self is ActivityPeriod.HOUR:
            first = now.replace(second=0, microsecond=0) - 59 * self.step
            return tuple(first + place * self.step for place in range(61))
        return span_edges(now, self.step, 24 if self is ActivityPeriod.DAY else 30)


@dataclass(frozen=True, slots=True)
class RequestSpan:
    """The requests of a span: all, those with an error, and slow ones."""

    began: datetime
    requests: int = 0
    errors: int = 0
    slow: int = 0


@dataclass(frozen=True, slots=True)
class PermissionUse:
    """A permission that an app holds; ``last_used_at`` is ``None`` if it wasn't needed yet."""

    permission: Permission
    last_used_at: datetime | None
    is_unused: bool


@dataclass(frozen=True, slots=True)
class AppActivity:
    """An app's requests in a period, oldest first, and when it needed its permissions.

    ``codes`` are the requests with an error, by the code of their first one, the most frequent
    first. ``slowest`` is in milliseconds. ``counted_since`` is the app's first counted use,
    ``None`` if there was none: before it has been 90 days, no permission is called unused.
    """

    spans: tuple[RequestSpan, ...]
    codes: Mapping[str, int]
    slowest: int
    permissions: tuple[PermissionUse, ...]
    counted_since: datetime | None

    @property
    def requests(self) -> int:
        return sum(span.requests for span in self.spans)

    @property
    def errors(self) -> int:
        return sum(self.codes.values())

    @property
    def slow(self) -> int:
        return sum(span.slow for span in self.spans)

    @property
    def unused(self) -> tuple[Permission, ...]:
        """The permissions that the app holds but hasn't needed in 90 days."""
        return tuple(use.permission for use in self.permissions if use.is_unused)


@requires_person(Permission.MANAGE_APPS)
def read_app_activity(
    ports: Ports, actor: Actor, app_id: int, period: ActivityPeriod, zone: tzinfo = UTC
) -> AppActivity:
    """Return the activity of an app, days beginning at midnight in ``zone``; two statements.

    Refuses NOT_FOUND on ``id``.
    """
    now = ports.clock.now()
    edges = period.edges(now.astimezone(zone))
    counted = models.AppRequest
    with ports.database.reading() as session:
        held, uses = _permissions_and_uses(session, app_id)
        rows = session.execute(
            select(
                counted.began_at, counted.code, counted.requests, counted.slow, counted.slowest
            ).where(
                counted.app_id == app_id,
                counted.span == period.stored_span,
                counted.began_at >= edges[0],
            )
        ).all()
    codes: Counter[str] = Counter()
    for row in rows:
        codes[row.code] += row.requests
    del codes[""]
    since = min((use.first_used_at for use in uses.values()), default=None)
    return AppActivity(
        spans=tuple(_spans(edges, rows)),
        codes=dict(codes.most_common()),
        slowest=max((row.slowest for row in rows), default=0),
        permissions=tuple(_uses(in_order(held), uses, since, now)),
        counted_since=since,
    )


def _permissions_and_uses(
    session: Session, app_id: int
) -> tuple[frozenset[Permission], Mapping[str, NamedRow]]:
    use = models.AppPermissionUse
    rows = session.execute(
        select(APP_PERMISSIONS.label("held"), use.permission, use.first_used_at, use.last_used_at)
        .select_from(models.App)
        .outerjoin(use, use.app_id == models.App.id)
        .where(models.App.id == app_id, models.App.is_installed)
    ).all()
    if not rows:
        raise Refused(Problem("NOT_FOUND", "App not found.", "id"))
    uses = {row.permission: row for row in rows if row.permission is not None}
    return read_permissions(rows[0].held), uses


def _spans(edges: Sequence[datetime], rows: Sequence[NamedRow]) -> Iterable[RequestSpan]:
    for began, ended in pairwise(edges):
        of_span = [row for row in rows if began <= row.began_at < ended]
        yield RequestSpan(
            began,
            requests=sum(row.requests for row in of_span),
            errors=sum(row.requests for row in of_span if row.code),
            slow=sum(row.slow for row in of_span),
        )


def _uses(
    held: Iterable[Permission],
    known: Mapping[str, NamedRow],
    since: datetime | None,
    now: datetime,
) -> Iterable[PermissionUse]:
    long_ago = now - UNUSED_AFTER
    for permission in held:
        use = known.get(permission.value)
        last = None if use is None else use.last_used_at
        is_unused = since is not None and (last or since) <= long_ago
        yield PermissionUse(permission, last, is_unused)


@building_block
def delete_old_activity(ports: Ports) -> int:
    """Forget counts after their time, and uses of deleted apps; return how many rows."""
    now = ports.clock.now()
    counted, use = models.AppRequest, models.AppPermissionUse
    gone = 0
    with ports.database.transaction() as session:
        for span, kept in SPANS_KEPT.items():
            old = delete(counted).where(counted.span == span, counted.began_at < now - kept)
            gone += len(session.scalars(old.returning(counted.app_id)).all())
        orphans = delete(use).where(use.app_id.not_in(select(models.App.id)))
        gone += len(session.scalars(orphans.returning(use.app_id)).all())
    return gone
