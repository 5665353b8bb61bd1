"""Check whether the installation is ready, before a start and for diagnosis."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from app.domain.authorization.actor import Actor
from app.domain.values.installation import (
    SCHEMA_AHEAD_REMEDY,
    CheckResult,
    CheckState,
    KeyUnreadable,
    SchemaAhead,
    SchemaBehind,
    Unreachable,
)
from app.models import AuditRecord
from app.ports import Ports
from app.services.authorization.register import internal
from app.services.keys import ring
from app.services.operations.environment_checks import (
    forwarding_findings,
    mail_finding,
    provider_findings,
    replica_findings,
    sender_finding,
    template_findings,
    throttle_findings,
    worker_findings,
)
from app.services.operations.sign_in_checks import (
    email_twin_findings,
    second_factor_findings,
    sign_in_finding,
)
from app.services.operations.stored_secrets import count_secrets

_TOLERANCE = timedelta(seconds=30)
"""How far clocks may be apart; access tokens live for minutes."""


@internal
def require_ready(ports: Ports, actor: Actor) -> None:
    """Return when requests can be answered.

    Raises ``Unreachable`` for a database that does not answer, ``SchemaBehind`` for one whose
    tables are an older version's, ``SchemaAhead`` for a newer version's, ``KeyUnreadable`` when
    nothing could be signed.
    """
    ports.schema.check()
    # A real signature: that is what a key is for, and it needs the private part.
    ports.keys.sign(ring(ports).signer, {})


@internal
def run_checks(ports: Ports, actor: Actor) -> tuple[CheckResult, ...]:
    """Check everything the installation depends on; skip checks that can't run."""
    return tuple(_findings(ports, actor))


def _findings(ports: Ports, actor: Actor) -> Iterator[CheckResult]:
    database = _database(ports)
    yield database
    if database.state is CheckState.FAILED:
        return
    yield _keys(ports)
    yield from _stored_secrets(ports, actor)
    yield from replica_findings(ports)
    yield from throttle_findings(ports)
    yield from _clock(ports)
    yield from worker_findings(ports)
    yield mail_finding(ports)
    yield from template_findings(ports)
    yield from sender_finding(ports)
    providers = tuple(provider_findings(ports, actor))
    yield from providers
    broken = {finding.subject for finding in providers if finding.state is CheckState.FAILED}
    works = any(finding.subject not in broken for finding in providers)
    yield sign_in_finding(ports, has_working_provider=works)
    yield from email_twin_findings(ports)
    yield from second_factor_findings(ports)
    yield from forwarding_findings(ports)


def _database(ports: Ports) -> CheckResult:
    subject = "database"
    try:
        ports.schema.check()
        current = ports.schema.current()
    except Unreachable as error:
        remedy = "Check DATABASE_URL and that the database server is running."
        return CheckResult(subject, CheckState.FAILED, str(error), remedy)
    except SchemaBehind as error:
        return CheckResult(subject, CheckState.FAILED, str(error), "flask db upgrade")
    except SchemaAhead as error:
        return CheckResult(subject, CheckState.FAILED, str(error), SCHEMA_AHEAD_REMEDY)
    return CheckResult(subject, CheckState.FINE, f"Responding; its revision is {current}.")


def _keys(ports: Ports) -> CheckResult:
    subject = "signing keys"
    try:
        key_ring = ring(ports)
        ports.keys.sign(key_ring.signer, {})
    except KeyUnreadable as error:
        remedy = (
            "Restore SECRET_KEY, add its former value to SECRET_KEY_FALLBACKS, or run "
            "`flask keys rotate --force`."
        )
        return CheckResult(subject, CheckState.FAILED, str(error), remedy)
    active, count = key_ring.signer.public.kid, len(key_ring.ring.published)
    return CheckResult(subject, CheckState.FINE, f"{active} is active; keys published: {count}.")


def _stored_secrets(ports: Ports, actor: Actor) -> Iterator[CheckResult]:
    subject = "stored secrets"
    counts = count_secrets(ports, actor)
    unreadable = [f"{count.name}: {count.unreadable}" for count in counts if count.unreadable]
    outdated = [f"{count.name}: {count.resealed}" for count in counts if count.resealed]
    if unreadable:
        message = f"Not readable with this SECRET_KEY: {', '.join(unreadable)}."
        remedy = "Add the former SECRET_KEY to SECRET_KEY_FALLBACKS, or replace these secrets."
        yield CheckResult(subject, CheckState.FAILED, message, remedy)
    if outdated:
        message = f"Readable only with SECRET_KEY_FALLBACKS: {', '.join(outdated)}."
        yield CheckResult(subject, CheckState.WARNING, message, "flask keys reseal")
    elif ports.encryption.has_former_keys() and not unreadable:
        message = "All secrets are encrypted with SECRET_KEY."
        remedy = "Remove SECRET_KEY_FALLBACKS once every process uses this SECRET_KEY."
        yield CheckResult(subject, CheckState.FINE, message, remedy)


def _clock(ports: Ports) -> Iterator[CheckResult]:
    with ports.database.reading() as session:
        theirs = _moment(session.scalar(select(func.current_timestamp())))
        newest = session.scalar(select(func.max(AuditRecord.at)))
    now = ports.clock.now()
    remedy = "Synchronize the machines' clocks with NTP: tokens are valid for minutes only."
    subject = "clock"
    if abs(now - theirs) > _TOLERANCE:
        message = f"This machine's clock is {now:%F %T}, the database's {theirs:%F %T} (UTC)."
        yield CheckResult(subject, CheckState.FAILED, message, remedy)
    elif newest is not None and newest > now + _TOLERANCE:
        message = f"The clock is {now:%F %T}, but a record has the time {newest:%F %T} (UTC)."
        yield CheckResult(subject, CheckState.FAILED, message, remedy)
    else:
        yield CheckResult(subject, CheckState.FINE, f"{now:%F %T} (UTC), same as the database.")


def _moment(value: object) -> datetime:
    """Return the database's current time: aware, or SQLite's text in UTC."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
