"""A webhook's deliveries by hour and day, with response times."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.deliveries.statistics import ChartPeriod
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.deliveries import statistics
from app.services.deliveries.statistics import chart_webhook
from tests.builders.apps import make_app
from tests.builders.people import NOBODY
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.fixtures.statements import plans, recorded_statements, selects


@pytest.fixture
def hook(ports: Ports) -> int:
    app, _ = make_app(ports, "Labels")
    return make_webhook(ports, app)


def answer(ports: Ports, delivery: int, duration: float, status: int | None = 200) -> None:
    with ports.database.transaction() as session:
        session.execute(
            insert(models.DeliveryAttempt).values(
                delivery_id=delivery,
                created_at=ports.clock.now(),
                duration=duration,
                status="SUCCESS",
                request_headers={},
                response_headers={},
                response="",
                response_status=status,
            )
        )


@pytest.mark.both_databases
def test_deliveries_are_counted_by_state_and_hour(
    ports: Ports, hook: int, clock: FakeClock
) -> None:
    states = [
        {"status": "SUCCESS", "attempts": 1},
        {"status": "SUCCESS", "attempts": 3},
        {"status": "FAILED", "attempts": 10},
        {"status": "PENDING", "attempts": 2},
        {"status": "PENDING", "attempts": 0},
    ]
    for state in states:
        change_delivery(ports, make_delivery(ports, hook), **state)
    midnight = clock.now().replace(hour=0)
    edges = (midnight - timedelta(microseconds=1), midnight)
    for edge in edges:
        delivery = make_delivery(ports, hook)
        change_delivery(ports, delivery, status="SUCCESS", attempts=1, created_at=edge)
    make_delivery(ports, make_webhook(ports, 1))
    with recorded_statements() as statements:
        *_, last = chart_webhook(ports, OPERATOR, hook, ChartPeriod.DAY)
    assert len(selects(statements)) == 1
    assert (last.delivered, last.failed, last.waiting) == (2, 2, 1)
    *_, yesterday, today = chart_webhook(ports, OPERATOR, hook, ChartPeriod.TWO_WEEKS)
    assert (yesterday.delivered, today.delivered) == (1, 3)
    assert (yesterday.began, today.began) == (midnight - timedelta(days=1), midnight)


def test_response_times_are_those_of_the_newest(
    ports: Ports, hook: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "MAX_TIMED", 2)
    for duration in (9.0, 0.1, 0.3):
        delivery = make_delivery(ports, hook)
        change_delivery(ports, delivery, status="SUCCESS", attempts=1)
        answer(ports, delivery, duration)
        answer(ports, delivery, 10.0, status=None)
    *empty, last = chart_webhook(ports, OPERATOR, hook, ChartPeriod.DAY)
    assert sorted(last.durations) == [0.1, 0.3]
    assert {span.durations for span in empty} == {()}


@pytest.mark.both_databases
def test_counts_read_an_index_only(sqlite_url: str, clock: FakeClock) -> None:
    ports = fake_ports(sqlite_url, clock)
    with recorded_statements() as statements:
        chart_webhook(ports, OPERATOR, 1, ChartPeriod.TWO_WEEKS)
    steps = plans(ports, selects(statements))
    by_time = [step for step in steps if "COVERING INDEX ix_deliveries_webhook_time" in step]
    assert len(by_time) == 28
    assert not [step for step in steps if step.startswith("SCAN deliver")]


def test_figures_require_manage_apps(ports: Ports, hook: int) -> None:
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    for actor in (NOBODY, app):
        with pytest.raises(PermissionDenied):
            chart_webhook(ports, actor, hook, ChartPeriod.DAY)
