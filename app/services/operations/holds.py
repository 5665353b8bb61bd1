"""Hold what a restored copy would send, until an operator says what to send.

An installation is recognized by what isn't in its database: its ``SECRET_KEY`` or a former one,
its ``PUBLIC_URL``, and on PostgreSQL the server and database that it is in, which no dump has. The
database remembers these. A process that finds one of them unknown holds deliveries, emails and
app installations, and so does every process after ``flask restore``; others go on.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import delete, func, or_, select, text, update
from sqlalchemy.exc import IntegrityError, NotSupportedError, ProgrammingError
from sqlalchemy.orm import Session

from app import models
from app.domain.apps.apps import JobStatus
from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.mails.mail import LINK_EVENTS
from app.domain.values.errors import Problem, Refused
from app.domain.values.installation import CheckResult, CheckState, Hold, MarkKind
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, internal
from app.services.oauth.client_sessions import HAS_ENDED

_PURPOSE = "installation"
_TEXT = "SECRET_KEY"
_DISCARDED = "Not sent: it was held in a restored copy."
_DATABASE = text(
    "SELECT system_identifier::text || '/' || (SELECT oid::text FROM pg_database "
    "WHERE datname = current_database()) FROM pg_control_system()"
)


class Held(StrEnum):
    """What is held; ``flask resume`` says which of them to send.

    Deliveries are those of webhooks, and reports to OAuth clients that a session has ended.
    """

    DELIVERIES = "deliveries"
    EMAILS = "emails"
    INSTALLATIONS = "installations"


@dataclass(frozen=True, slots=True)
class HeldWork:
    """How many things of a kind wait; ``hold`` is why and since when."""

    kind: Held
    count: int


_Marks = Mapping[MarkKind, Mapping[str, datetime]]


@internal
def check_installation(ports: Ports, actor: Actor) -> Hold | None:
    """Compare this process's installation with what the database knows, and remember the result.

    A database that knows none yet learns it. Returns what is held, also in ``ports.cache.hold``.
    """
    own = _own_marks(ports)
    known = _stored_marks(ports)
    unknown = {kind: marks for kind, marks in own.items() if not _is_known(known, kind, marks)}
    if not known.get(MarkKind.KEY):
        unknown.clear()  # an empty database, or one from before this was recorded
    fresh = {
        (kind, marks[0])
        for kind, marks in own.items()
        if kind not in unknown and marks[0] not in known.get(kind, {})
    }
    fresh |= {
        (MarkKind.HELD, kind.value)
        for kind in unknown
        if kind.value not in known.get(MarkKind.HELD, {})
    }
    if fresh:
        _remember(ports, fresh)
        known = _stored_marks(ports)
    hold = _hold_of(known, unknown)
    ports.cache.hold = hold
    return hold


@building_block
def hold_after_restore(session: Session, now: datetime) -> None:
    """Hold what the restored database would send, in every process.

    That of an older version has no table for it yet.
    """
    table = models.InstallationMark.metadata.tables[models.InstallationMark.__tablename__]
    table.create(session.connection(), checkfirst=True)
    _forget_hold(session)
    session.add(models.InstallationMark(kind=MarkKind.RESTORED.value, value="", since=now))


@building_block
def hold_findings(ports: Ports) -> tuple[CheckResult, ...]:
    """Report what is held, for the doctor and the console's first page."""
    known = _stored_marks(ports)
    held = known.get(MarkKind.HELD, {})
    hold = _hold_of(known, [kind for kind in MarkKind if kind.value in held])
    if hold is None:
        return ()
    message = f"Deliveries, emails and app installations are held: {' '.join(hold.reasons)}"
    remedy = "Run `flask resume` to see what waits and to say what to send."
    return (CheckResult("held back", CheckState.FAILED, message, remedy),)


@internal
def count_held(ports: Ports, actor: Actor) -> tuple[HeldWork, ...]:
    """Count what waits to be sent; links that were requested since the hold began aren't held."""
    attempts = {
        Held.DELIVERIES: models.Delivery.next_attempt_at,
        Held.EMAILS: models.OutboxMail.next_attempt_at,
        Held.INSTALLATIONS: models.AppInstallation.next_attempt_at,
    }
    with ports.database.reading() as session:
        counts = {
            kind: session.scalar(select(func.count()).where(attempt.is_not(None))) or 0
            for kind, attempt in attempts.items()
        }
        open_events = session.scalar(
            select(func.count()).where(models.OutboxEvent.closed_at.is_(None))
        )
        logouts = session.scalar(
            select(func.count()).select_from(models.OAuthClientSession).where(HAS_ENDED)
        )
    counts[Held.DELIVERIES] += (open_events or 0) + (logouts or 0)
    return tuple(HeldWork(kind, count) for kind, count in counts.items())


@internal
def resume_sending(ports: Ports, actor: Actor, sends: Collection[Held]) -> tuple[HeldWork, ...]:
    """Send what of ``sends`` waits, discard the rest, and know this installation from now on.

    Discarded deliveries are failed, and can be resent. Links that were requested since the hold
    began are sent in any case. Returns what is discarded. Refuses NOT_HELD if nothing is held.
    """
    hold = check_installation(ports, actor)
    since = None if hold is None else hold.since
    if since is None:
        known = _stored_marks(ports)
        moments = [*known.get(MarkKind.HELD, {}).values()]
        if not moments:
            raise Refused(Problem("NOT_HELD", "Nothing is held: everything is being sent."))
        since = min(moments)
    discarded = []
    with ports.database.transaction() as session:
        for held, discard in _DISCARD.items():
            if held not in sends:
                discarded.append(HeldWork(held, discard(session, since, ports.clock.now())))
        _forget_hold(session)
        known = _marks_in(session)
        for kind, marks in _own_marks(ports).items():
            if marks[0] not in known.get(kind, {}):
                now = ports.clock.now()
                session.add(models.InstallationMark(kind=kind.value, value=marks[0], since=now))
        after = {
            "sent": ", ".join(held.value for held in Held if held in sends),
            **{work.kind.value: work.count for work in discarded},
        }
        record(ports, actor, session, Change("shop.resume", "Shop", 1, after=after))
    ports.cache.hold = None
    ports.work_signal.send()
    return tuple(discarded)


def _forget_hold(session: Session) -> None:
    kinds = (MarkKind.HELD.value, MarkKind.RESTORED.value)
    session.execute(delete(models.InstallationMark).where(models.InstallationMark.kind.in_(kinds)))


def _discard_deliveries(session: Session, _since: datetime, now: datetime) -> int:
    session.execute(
        update(models.OutboxEvent)
        .where(models.OutboxEvent.closed_at.is_(None))
        .values(closed_at=now, lease_until=None)
    )
    ended = session.execute(
        update(models.Delivery)
        .where(models.Delivery.next_attempt_at.is_not(None))
        .values(
            status=DeliveryStatus.FAILED.value,
            next_attempt_at=None,
            lease="",
            lease_until=None,
            given_up=_DISCARDED,
        )
        .returning(models.Delivery.id)
    )
    logouts = session.execute(
        delete(models.OAuthClientSession).where(HAS_ENDED).returning(models.OAuthClientSession.id)
    )
    return len(ended.all()) + len(logouts.all())


def _discard_emails(session: Session, since: datetime, _now: datetime) -> int:
    session.execute(delete(models.ResetRequest).where(models.ResetRequest.created_at < since))
    ended = session.execute(
        update(models.OutboxMail)
        .where(
            models.OutboxMail.next_attempt_at.is_not(None),
            or_(
                models.OutboxMail.created_at < since,
                models.OutboxMail.kind.not_in([kind.value for kind in LINK_EVENTS]),
            ),
        )
        .values(
            next_attempt_at=None, awaited_event_id=None, sealed="", lease="", last_error=_DISCARDED
        )
        .returning(models.OutboxMail.id)
    )
    return len(ended.all())


def _discard_installations(session: Session, _since: datetime, _now: datetime) -> int:
    ended = session.execute(
        update(models.AppInstallation)
        .where(models.AppInstallation.next_attempt_at.is_not(None))
        .values(next_attempt_at=None, status=JobStatus.FAILED.value, message=_DISCARDED)
        .returning(models.AppInstallation.id)
    )
    return len(ended.all())


_DISCARD = {
    Held.DELIVERIES: _discard_deliveries,
    Held.EMAILS: _discard_emails,
    Held.INSTALLATIONS: _discard_installations,
}


def _own_marks(ports: Ports) -> dict[MarkKind, tuple[str, ...]]:
    """Return this process's marks by kind, the current one first; former keys follow it."""
    current = ports.encryption.fingerprint(_PURPOSE, _TEXT)
    former = ports.encryption.known_fingerprints(_PURPOSE, _TEXT)
    own: dict[MarkKind, tuple[str, ...]] = {MarkKind.KEY: (current, *former)}
    if ports.configuration.public_url:
        own[MarkKind.PUBLIC_URL] = (ports.configuration.public_url,)
    database = _database_mark(ports)
    if database:
        own[MarkKind.DATABASE] = (database,)
    return own


def _database_mark(ports: Ports) -> str:
    """Return which database this is of which server; "" where that isn't told."""
    with ports.database.reading() as session:
        if session.get_bind().dialect.name != "postgresql":
            return ""
        try:
            return str(session.execute(_DATABASE).scalar_one())
        except (ProgrammingError, NotSupportedError):
            return ""  # the account can't ask its server; one that is away isn't taken for that


def _stored_marks(ports: Ports) -> _Marks:
    with ports.database.reading() as session:
        return _marks_in(session)


def _marks_in(session: Session) -> _Marks:
    found: dict[MarkKind, dict[str, datetime]] = {}
    for mark in session.execute(
        select(
            models.InstallationMark.kind,
            models.InstallationMark.value,
            models.InstallationMark.since,
        )
    ):
        found.setdefault(MarkKind(mark.kind), {})[mark.value] = mark.since
    return found


def _is_known(known: _Marks, kind: MarkKind, marks: Collection[str]) -> bool:
    """Whether one of ``marks`` is known, or none of that kind is yet."""
    return not known.get(kind) or any(mark in known[kind] for mark in marks)


def _remember(ports: Ports, marks: Collection[tuple[MarkKind, str]]) -> None:
    for kind, value in sorted(marks):
        try:
            with ports.database.transaction() as session:
                session.add(
                    models.InstallationMark(kind=kind.value, value=value, since=ports.clock.now())
                )
        except IntegrityError:
            continue  # another process has been quicker


def _hold_of(known: _Marks, unknown: Collection[MarkKind]) -> Hold | None:
    reasons = [_REASONS[kind].format(known=_mark_names(known, kind)) for kind in unknown]
    moments = [known[MarkKind.HELD][kind.value] for kind in unknown]
    if known.get(MarkKind.RESTORED):
        moments += known[MarkKind.RESTORED].values()
        reasons.append("The database was restored from a backup.")
    return Hold(min(moments), tuple(reasons)) if moments else None


def _mark_names(known: _Marks, kind: MarkKind) -> str:
    return ", ".join(sorted(known.get(kind, {})))


_REASONS = {
    MarkKind.KEY: "The database belongs to an installation with another SECRET_KEY.",
    MarkKind.PUBLIC_URL: "PUBLIC_URL is new to this database, which belongs to {known}.",
    MarkKind.DATABASE: "The database was copied or moved here from another server or name.",
}
