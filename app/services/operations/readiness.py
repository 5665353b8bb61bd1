"""Check whether this process can answer requests now, for a load balancer."""

from collections.abc import Iterator

from sqlalchemy import text

from app.domain.authorization.actor import Actor
from app.domain.values.check_results import Finding, State
from app.domain.values.installation_errors import KeyUnreadable, SchemaBehind, Unreachable
from app.ports import Ports
from app.ports.throttle import ThrottleUnavailable
from app.services.authorization.register import internal
from app.services.keys.ring import ring
from app.services.operations.environment_checks import replica_findings

_REVISION = text("SELECT version_num FROM alembic_version")
_UPGRADE = "Run `flask db upgrade`."


@internal
def check_readiness(ports: Ports, actor: Actor) -> tuple[Finding, ...]:
    """Check database, tables, signing keys and Redis, each only if those before it haven't failed.

    A replica that can't be used is a warning, because the primary answers in its place.
    Tables of a newer version are fine: during an upgrade, the previous version keeps serving.
    """
    findings: list[Finding] = []
    for finding in _findings(ports):
        findings.append(finding)
        if finding.state is State.FAILED:
            break
    return tuple(findings)


def _findings(ports: Ports) -> Iterator[Finding]:
    yield _database(ports)
    yield from replica_findings(ports)
    yield _signing_keys(ports)
    yield _throttle(ports)


def _database(ports: Ports) -> Finding:
    try:
        with ports.database.reading() as session:
            current = str(session.scalar(_REVISION) or "")
    except Unreachable as error:
        remedy = "Check DATABASE_URL and that the database server is running."
        return Finding("database", State.FAILED, str(error), remedy)
    except SchemaBehind as error:
        return Finding("schema", State.FAILED, str(error), _UPGRADE)
    newest = ports.schema.newest() or ""
    if current < newest:
        message = str(SchemaBehind(current or None, newest))
        return Finding("schema", State.FAILED, message, _UPGRADE)
    return Finding("database", State.FINE, f"Responding; its revision is {current}.")


def _signing_keys(ports: Ports) -> Finding:
    subject = "signing keys"
    try:
        signer = ring(ports).signer
        ports.keys.sign(signer, {})
    except KeyUnreadable as error:
        return Finding(subject, State.FAILED, str(error), "Restore SECRET_KEY.")
    except Unreachable as error:
        return Finding(subject, State.FAILED, str(error), "Check DATABASE_URL.")
    return Finding(subject, State.FINE, f"{signer.public.kid} signs.")


def _throttle(ports: Ports) -> Finding:
    subject = "login throttle"
    try:
        ports.throttle.eviction()  # one short command; none without REDIS_URL
    except ThrottleUnavailable as error:
        remedy = "Check REDIS_URL and that Redis is running."
        return Finding(subject, State.FAILED, str(error), remedy)
    return Finding(subject, State.FINE, "Responding.")
