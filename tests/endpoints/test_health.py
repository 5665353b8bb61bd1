"""The probes of load balancers: quick, without reasons, never counted."""

from dataclasses import replace
from threading import Event, Thread
from types import SimpleNamespace

import pytest
from flask import Flask
from sqlalchemy import text

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR
from app.domain.sign_in.rate_limits import RATE_LIMITS, RateLimitPolicy, parse_rates
from app.domain.values.installation import CheckState
from app.ports import Ports
from app.ports.monitoring import MIGRATION_PENDING
from app.services.operations.environment_checks import check_readiness
from app.web.operations_server import OperationsApp, Readiness, is_ready
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.kept_application import AppOn
from tests.fixtures.ports import fake_ports

NEWER = "9999_of_a_newer_version"


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


@pytest.fixture
def application(ports: Ports, app_on: AppOn) -> Flask:
    return app_on(ports)


def set_revision(ports: Ports, revision: str) -> None:
    with ports.database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": revision})


@cases(("path", "body"), [("/healthz", b'{"status":"ok"}'), ("/readyz", b'{"status":"ready"}')])
def test_probe_of_a_running_installation(application: Flask, path: str, body: bytes) -> None:
    client = application.test_client()
    client.set_cookie("latchkey", "something")
    response = client.get(path)
    assert (response.status_code, response.data) == (200, body)
    assert response.content_type == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in response.headers
    assert client.head(path).status_code == 200
    assert client.post(path).status_code == 405


def test_probes_have_no_rate_limit(ports: Ports) -> None:
    policy = RateLimitPolicy(dict.fromkeys(RATE_LIMITS, parse_rates("1/hour")))
    limited = replace(ports, configuration=replace(ports.configuration, rate_limits=policy))
    client = create_app(limited, Settings()).test_client()
    for probe in ("/healthz", "/readyz"):
        assert [client.get(probe).status_code for _ in range(3)] == [200] * 3


def test_alive_without_a_database(clock: FakeClock) -> None:
    ports = connect(Settings(database_url="postgresql://nobody@127.0.0.1:1/none"))
    client = create_app(ports, Settings()).test_client()
    assert client.get("/healthz").status_code == 200
    response = client.get("/readyz")
    assert (response.status_code, response.data) == (503, b'{"status":"not ready"}')
    [finding] = check_readiness(ports, OPERATOR)
    assert (finding.subject, finding.state) == ("database", CheckState.FAILED)
    assert "127.0.0.1" in finding.message


def test_degraded_without_redis(ports: Ports) -> None:
    """Sessions and tokens work without it: taking every process out would be an outage."""
    url = "redis://127.0.0.1:1/0"
    without = connect(Settings(database_url="sqlite://", redis_url=url)).throttle
    client = create_app(replace(ports, throttle=without), Settings()).test_client()
    response = client.get("/readyz")
    assert (response.status_code, response.data) == (200, b'{"status":"degraded"}')
    findings = check_readiness(replace(ports, throttle=without), OPERATOR)
    assert [finding.state for finding in findings] == [
        CheckState.FINE,
        CheckState.FINE,
        CheckState.WARNING,
    ]
    assert findings[-1].subject == "login throttle"


@pytest.mark.parametrize(
    ("revision", "ready"), [("0001_base", False), (NEWER, True)], ids=["older", "newer"]
)
def test_older_tables_are_not_ready(ports: Ports, revision: str, ready: bool) -> None:
    set_revision(ports, revision)
    findings = check_readiness(ports, OPERATOR)
    assert is_ready(findings) is ready
    if not ready:
        assert [finding.subject for finding in findings] == ["schema"]


def test_database_without_tables_is_not_ready() -> None:
    [finding] = check_readiness(connect(Settings(database_url="sqlite://")), OPERATOR)
    assert (finding.subject, finding.remedy) == ("schema", "Run `flask db upgrade`.")


def test_readiness_is_checked_once_a_second(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(
        "app.web.operations_server.time", SimpleNamespace(monotonic=lambda: now[0])
    )
    readiness = Readiness(ports)
    first = readiness.findings()
    set_revision(ports, "0001_base")
    now[0] += 0.75
    assert readiness.findings() is first
    now[0] += 0.25
    assert not is_ready(readiness.findings())


def test_hanging_check_holds_up_one_probe(ports: Ports) -> None:
    began, go_on = Event(), Event()

    class Hanging:
        def __getattr__(self, name: str) -> object:
            began.set()
            assert go_on.wait(180)
            return getattr(ports.database, name)

    readiness = Readiness(replace(ports, database=Hanging()))  # type: ignore[arg-type]
    thread = Thread(target=readiness.findings)
    thread.start()
    assert began.wait(180)
    assert not is_ready(readiness.findings())
    go_on.set()
    thread.join(180)
    assert is_ready(readiness.findings())


def test_missing_migration_is_measured(ports: Ports) -> None:
    def pending() -> float:
        return {metric: value for metric, value, _ in OperationsApp(ports).measured()}[
            MIGRATION_PENDING
        ]

    assert pending() == 0
    set_revision(ports, "0070_sign_in_factors")
    assert pending() == 1
    set_revision(ports, NEWER)
    assert pending() == 0
