"""Whether an installation is fit to serve, and what is wrong with it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from app import models
from app.adapters.database.schema import AlembicSchema
from app.adapters.keys.signing_keys import RsaKeyStore
from app.adapters.queue.throttle_redis import connect_redis_throttle
from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR, WORKER, anonymous
from app.domain.values.errors import PermissionDenied
from app.domain.values.installation import (
    CheckResult,
    CheckState,
    KeyUnreadable,
    SchemaBehind,
    Unreachable,
)
from app.ports import Ports, ProcessCache
from app.services.keys import ring, withdraw_keys
from app.services.operations.background_work import record_heartbeat
from app.services.operations.health_checks import require_ready, run_checks
from app.services.people.groups import NewGroup, create_group
from tests.builders.people import make_user
from tests.fakes.clock import FakeClock
from tests.fakes.keys import ReadyKeyStore, pem, private_key

_LAST = models.AuditEntry.id == select(func.max(models.AuditEntry.id)).scalar_subquery()
NOWHERE = "postgresql://nobody:geheim@127.0.0.1:1/nowhere"


@pytest.fixture
def ports(ports: Ports) -> Ports:
    """With the real time: the database has its own, and the two are compared."""
    return replace(ports, clock=SystemClock())


def found(ports: Ports, subject: str) -> CheckResult:
    [finding] = [check for check in run_checks(ports, OPERATOR) if check.subject == subject]
    return finding


def with_another_secret(ports: Ports) -> Ports:
    ring(ports)
    stranger = RsaKeyStore("a secret that the keys were not made with")
    return replace(ports, keys=stranger, cache=ProcessCache())


def test_healthy_installation_passes_all_checks(ports: Ports) -> None:
    require_ready(ports, OPERATOR)
    record_heartbeat(ports, WORKER)
    make_user(ports, "admin@example.com", is_superuser=True, is_staff=True)
    findings = run_checks(ports, OPERATOR)
    subjects = [finding.subject for finding in findings]
    assert subjects == [
        *("database", "signing keys", "login throttle", "clock", "worker", "mail", "sign-in")
    ]
    assert {finding.state for finding in findings} == {CheckState.FINE}


def test_database_without_tables_is_unhealthy_with_a_remedy(
    ports: Ports, empty_database_url: str
) -> None:
    bare = replace(ports, schema=AlembicSchema(empty_database_url))
    with pytest.raises(SchemaBehind, match="has no tables yet"):
        require_ready(bare, OPERATOR)
    [finding] = run_checks(bare, OPERATOR)
    assert (finding.subject, finding.state) == ("database", CheckState.FAILED)
    assert finding.remedy == "Run `flask db upgrade`."


def test_unreachable_database_is_reported_without_its_password(ports: Ports) -> None:
    lost = replace(ports, schema=AlembicSchema(NOWHERE))
    with pytest.raises(Unreachable):
        require_ready(lost, OPERATOR)
    [finding] = run_checks(lost, OPERATOR)
    assert finding.state is CheckState.FAILED
    assert "port 1 failed" in finding.message
    assert "DATABASE_URL" in finding.remedy
    assert "geheim" not in repr(finding)


def test_undecryptable_keys_are_reported(ports: Ports) -> None:
    locked = with_another_secret(ports)
    with pytest.raises(KeyUnreadable):
        require_ready(locked, OPERATOR)
    finding = found(locked, "signing keys")
    assert finding.state is CheckState.FAILED
    assert "flask keys rotate --force" in finding.remedy


def test_configured_key_that_was_withdrawn_is_reported(ports: Ports) -> None:
    store = ReadyKeyStore(60, configured=pem(private_key(50)))
    pair = store.fixed()
    assert pair is not None
    fixed = replace(ports, keys=store, cache=ProcessCache())
    assert found(fixed, "signing keys").state is CheckState.FINE
    withdraw_keys(fixed, OPERATOR, [pair.public.kid])
    finding = found(fixed, "signing keys")
    assert finding.state is CheckState.WARNING
    assert "RSA_PRIVATE_KEY" in finding.remedy


def test_unreachable_throttle_is_reported(ports: Ports) -> None:
    deaf = replace(ports, throttle=connect_redis_throttle("redis://127.0.0.1:1/0"))
    finding = found(deaf, "login throttle")
    assert finding.state is CheckState.FAILED
    assert "REDIS_URL" in finding.remedy


@pytest.mark.parametrize("gap", [timedelta(minutes=-2), timedelta(minutes=2)])
def test_clock_difference_to_the_database_is_reported(ports: Ports, gap: timedelta) -> None:
    adrift = replace(ports, clock=FakeClock(SystemClock().now() + gap))
    finding = found(adrift, "clock")
    assert finding.state is CheckState.FAILED
    assert "NTP" in finding.remedy


def test_clock_set_back_is_reported(ports: Ports) -> None:
    ahead = replace(ports, clock=FakeClock(SystemClock().now() + timedelta(hours=1)))
    create_group(ahead, OPERATOR, NewGroup("made in the future"))
    finding = found(ports, "clock")
    assert finding.state is CheckState.FAILED
    assert "a record has the time" in finding.message


def test_long_audit_log_that_is_kept_forever_is_a_warning(ports: Ports) -> None:
    make_user(ports, "admin@example.com", is_superuser=True, is_staff=True)
    create_group(ports, OPERATOR, NewGroup("noted"))
    assert "audit log" not in [check.subject for check in run_checks(ports, OPERATOR)]
    with ports.database.transaction() as session:
        session.execute(
            update(models.AuditEntry).values(id=models.AuditEntry.id + 5_000_000).where(_LAST)
        )
    finding = found(ports, "audit log")
    assert finding.state is CheckState.WARNING
    assert " entries, since " in finding.message
    assert "flask audit prune" in finding.remedy
    limited = replace(ports, configuration=replace(ports.configuration, audit_log_days=400))
    assert "audit log" not in [check.subject for check in run_checks(limited, OPERATOR)]


@pytest.mark.parametrize("use_case", [require_ready, run_checks])
def test_health_details_are_for_the_operator(
    ports: Ports, use_case: Callable[..., object]
) -> None:
    with pytest.raises(PermissionDenied):
        use_case(ports, anonymous())
