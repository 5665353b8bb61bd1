"""Check whether this process can answer requests now, for a load balancer."""

from collections.abc import Iterator

from sqlalchemy import text

from app.domain.authorization.actor import Actor
from app.domain.values.installation import (
    CheckResult,
    CheckState,
    KeyUnreadable,
    SchemaBehind,
    Unreachable,
)
from app.ports import Ports
from app.ports.throttle import ThrottleUnavailable
from app.services.authorization.register import internal
from app.services.keys import ring
from app.services.operations.environment_checks import replica_findings

_REVISION = text("SELECT version_num FROM alembic_version")
_UPGRADE = "Run `flask db upgrade`."


@internal
def check_readiness(ports: Ports, actor: Actor) -> tuple[CheckResult, ...]:
    """Check database, tables, signing keys and Redis, each only if those before it haven't failed.

    A failure is what no request can be served without. The rest is a warning: the primary answers
    in place of a replica, and without Redis only passwords can't be checked.
    Tables of a newer version are fine: during an upgrade, the previous version keeps serving.
    """
    findings: list[CheckResult] = []
    for finding in _findings(ports):
        findings.append(finding)
        if finding.state is CheckState.FAILED:
            break
    return tuple(findings)


def _findings(ports: Ports) -> Iterator[CheckResult]:
    yield _database(ports)
    yield from replica_findings(ports)
    yield _signing_keys(ports)
    yield _throttle(ports)


def _database(ports: Ports) -> CheckResult:
    try:
        with ports.database.reading() as session:
            current = str(session.scalar(_REVISION) or "")
    except Unreachable as error:
        remedy = "Check DATABASE_URL and that the database server is running."
        return CheckResult("database", CheckState.FAILED, str(error), remedy)
    except SchemaBehind as error:
        return CheckResult("schema", CheckState.FAILED, str(error), _UPGRADE)
    newest = ports.schema.newest() or ""
    if current < newest:
        message = str(SchemaBehind(current or None, newest))
        return CheckResult("schema", CheckState.FAILED, message, _UPGRADE)
    return CheckResult("database", CheckState.FINE, f"Responding; its revision is {current}.")


def _signing_keys(ports: Ports) -> CheckResult:
    subject = "signing keys"
    try:
        signer = ring(ports).signer
        ports.keys.sign(signer, {})
    except KeyUnreadable as error:
        return CheckResult(subject, CheckState.FAILED, str(error), "Restore SECRET_KEY.")
    except Unreachable as error:
        return CheckResult(subject, CheckState.FAILED, str(error), "Check DATABASE_URL.")
    return CheckResult(subject, CheckState.FINE, f"{signer.public.kid} signs.")


def _throttle(ports: Ports) -> CheckResult:
    subject = "login throttle"
    try:
        ports.throttle.eviction()  # one short command; none without REDIS_URL
    except ThrottleUnavailable as error:
        message = f"{error} Until it responds, nobody can sign in with a password."
        remedy = "Check REDIS_URL and that Redis is running."
        return CheckResult(subject, CheckState.WARNING, message, remedy)
    return CheckResult(subject, CheckState.FINE, "Responding.")
