"""What waits for endpoints: told apart from what waits for a worker, and sent when they work."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import CATCH_UP_RATE, RECOVERED_AFTER
from app.domain.values.errors import Refused
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.deliveries import backlog
from app.services.deliveries.backlog import (
    EndpointBacklog,
    count_retrying,
    read_endpoint_backlogs,
    read_waiting,
)
from app.services.deliveries.dispatch import BATCH_SIZE, MAX_LEASES, lease_due_deliveries
from app.services.deliveries.replays import send_waiting_deliveries
from app.services.operations.background_work import read_worker_status, record_heartbeat
from app.services.operations.environment_checks import endpoint_findings, worker_findings
from tests.builders.apps import make_app
from tests.builders.deliveries import stored_delivery, work_off
from tests.builders.webhooks import (
    change_delivery,
    change_webhook,
    make_delivery,
    make_many_deliveries,
    make_webhook,
)
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp

MANY = 1000
HOUR = timedelta(hours=1)


def _retry_later(ports: Ports, webhook: int, *, after: timedelta = HOUR) -> int:
    delivery = make_delivery(ports, webhook)
    change_delivery(ports, delivery, attempts=2, next_attempt_at=ports.clock.now() + after)
    return delivery


def make_many_due(ports: Ports, webhook: int) -> None:
    """Store a batch more than can be under way to one endpoint."""
    due = {"status": "PENDING", "next_attempt_at": ports.clock.now()}
    make_many_deliveries(ports, webhook, BATCH_SIZE * (MAX_LEASES + 1), **due)


@pytest.mark.both_databases
def test_each_endpoint_tells_what_is_due_and_what_is_retried(
    ports: Ports, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _ = make_app(ports, "Feed")
    dead, healthy, idle = (make_webhook(ports, app, name=name) for name in ("dead", "ok", "idle"))
    began = clock.now()
    change_webhook(ports, dead, failing_since=began, last_failure="503 Service Unavailable")
    for _ in range(3):
        _retry_later(ports, dead)
    clock.pass_(minutes=10)
    make_delivery(ports, dead)
    make_delivery(ports, healthy)
    clock.pass_(minutes=2)
    first, second = read_endpoint_backlogs(ports, OPERATOR)
    assert first == EndpointBacklog(
        dead, "dead", "Feed", began, "503 Service Unavailable", 1, 120.0, 3, 720.0
    )
    assert (second.webhook_id, second.due, second.retrying) == (healthy, 1, 0)
    assert second.oldest_retrying == 0.0
    assert idle not in {first.webhook_id, second.webhook_id}
    monkeypatch.setattr(backlog, "_MAX_LISTED", 1)
    assert read_endpoint_backlogs(ports, OPERATOR) == (first,)
    waiting = read_waiting(ports, 2)
    assert (waiting.due, waiting.retrying) == (2, 2)
    assert waiting.due_since == began + timedelta(minutes=10)


def test_what_waits_for_an_endpoint_does_not_wait_for_a_worker(
    ports: Ports, clock: FakeClock
) -> None:
    app, _ = make_app(ports, "Feed")
    dead, slow, other = (make_webhook(ports, app, name=name) for name in ("dead", "slow", "ok"))
    change_webhook(ports, dead, failing_since=clock.now())
    make_delivery(ports, dead)
    make_many_due(ports, slow)
    assert read_waiting(ports, MANY).held_up_since == clock.now(), "nothing is under way yet"
    lease_due_deliveries(ports, WORKER)
    clock.pass_(seconds=50)
    assert read_waiting(ports, MANY).held_up_since is None
    assert read_waiting(ports, MANY).due == BATCH_SIZE
    make_delivery(ports, other)
    clock.pass_(seconds=5)
    assert read_worker_status(ports).delivery_since == clock.now() - timedelta(seconds=5)


def test_doctor_names_the_webhook_that_holds_deliveries_up(ports: Ports, clock: FakeClock) -> None:
    app, _ = make_app(ports, "Feed")
    dead, slow = (make_webhook(ports, app, name=name) for name in ("Orders", "Stock"))
    record_heartbeat(ports, WORKER)
    assert [finding.message for finding in worker_findings(ports)] == [
        "Running; the queue is empty."
    ]
    assert list(endpoint_findings(ports, OPERATOR)) == []
    change_webhook(ports, dead, failing_since=clock.now(), last_failure="503 Service Unavailable")
    for _ in range(2):
        _retry_later(ports, dead)
    make_many_due(ports, slow)
    lease_due_deliveries(ports, WORKER)
    clock.pass_(seconds=70)
    for _ in range(MAX_LEASES):
        lease_due_deliveries(ports, WORKER)
    record_heartbeat(ports, WORKER)
    failing, late = endpoint_findings(ports, OPERATOR)
    assert late.subject == "webhook Stock"
    assert late.message.startswith("Responds too slowly: 80 deliveries due, 0 waiting")
    assert failing.subject == "webhook Orders"
    assert failing.message == (
        "Failing for 70 seconds: 0 deliveries due, 2 waiting for a retry. "
        "Last: 503 Service Unavailable."
    )
    assert "send-waiting" in failing.remedy
    [worker] = worker_findings(ports)
    assert worker.message == (
        "Running; 16 deliveries due at endpoints that are slow or fail, "
        "2 deliveries waiting for another attempt."
    )


def _failing(ports: Ports, clock: FakeClock, lasted: timedelta) -> tuple[Ports, int]:
    """Return a webhook that has failed for so long, and works again."""
    app, _ = make_app(ports, "Feed", Permission.MANAGE_PRODUCTS)
    webhook = make_webhook(ports, app)
    change_webhook(ports, webhook, failing_since=clock.now() - lasted)
    http = FakeHttp(ports.database, lambda _request: HttpResponse(200))
    return replace(ports, http=http), webhook


def _next_attempts(ports: Ports, webhook: int) -> list[datetime | None]:
    query = select(models.Delivery.next_attempt_at).where(models.Delivery.webhook_id == webhook)
    with ports.database.reading() as session:
        return list(session.scalars(query.order_by(models.Delivery.id)))


@pytest.mark.first
@pytest.mark.both_databases
def test_backlog_of_an_endpoint_that_works_again_is_sent_at_a_bounded_rate(
    ports: Ports, clock: FakeClock
) -> None:
    delivering, webhook = _failing(ports, clock, RECOVERED_AFTER)
    soon = _retry_later(delivering, webhook, after=timedelta(seconds=1))
    retried = {"status": "PENDING", "attempts": 2, "next_attempt_at": clock.now() + HOUR}
    make_many_deliveries(delivering, webhook, CATCH_UP_RATE * 12, **retried)
    tried_often = _retry_later(delivering, webhook)
    change_delivery(delivering, tried_often, attempts=9)
    make_delivery(delivering, webhook)
    assert work_off(delivering) == 1
    due = _next_attempts(delivering, webhook)
    at = clock.now()
    assert due[0] == at, "it is brought forward, too"
    assert due[-1] is None, "this one was delivered"
    waits = [(moment - at).total_seconds() for moment in due[:-1] if moment is not None]
    assert waits == sorted(waits)
    assert max(waits) == 10.0
    for second in range(0, 11, 5):
        assert waits.count(float(second)) <= CATCH_UP_RATE * 5
    assert stored_delivery(delivering, tried_often).attempts == 8, "two attempts are left"
    assert stored_delivery(delivering, soon).attempts == 2


@pytest.mark.parametrize("lasted", [timedelta(), RECOVERED_AFTER - timedelta(seconds=1)])
def test_short_failure_brings_nothing_forward(
    ports: Ports, clock: FakeClock, lasted: timedelta
) -> None:
    delivering, webhook = _failing(ports, clock, lasted)
    _retry_later(delivering, webhook)
    make_delivery(delivering, webhook)
    work_off(delivering)
    assert _next_attempts(delivering, webhook) == [clock.now() + HOUR, None]


def test_waiting_deliveries_are_sent_now_on_demand(ports: Ports, clock: FakeClock) -> None:
    app, _ = make_app(ports, "Feed")
    webhook, other = make_webhook(ports, app), make_webhook(ports, app)
    _retry_later(ports, webhook)
    untouched = _retry_later(ports, other)
    assert count_retrying(ports, OPERATOR, webhook) == 1
    assert send_waiting_deliveries(ports, OPERATOR, webhook) == 1
    assert _next_attempts(ports, webhook) == [clock.now()]
    assert stored_delivery(ports, untouched).next_attempt_at == clock.now() + HOUR
    assert send_waiting_deliveries(ports, OPERATOR, webhook) == 0
    with ports.database.reading() as session:
        entries = session.scalars(
            select(models.AuditEntry.after)
            .where(models.AuditEntry.action == "webhook.send_waiting")
            .order_by(models.AuditEntry.id)
        ).all()
    assert entries == [{"deliveries": 1}, {"deliveries": 0}]
    change_webhook(ports, webhook, is_active=False)
    for key, problem in ((webhook, "INVALID"), (999, "NOT_FOUND")):
        with pytest.raises(Refused) as refused:
            send_waiting_deliveries(ports, OPERATOR, key)
        assert [found.code for found in refused.value.problems] == [problem]
