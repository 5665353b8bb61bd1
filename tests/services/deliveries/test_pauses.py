"""Webhooks that are paused or limited: what waits, and how it is sent afterwards."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import (
    CATCH_UP_RATE,
    MAX_RATE,
    MOST_ATTEMPTS_RELEASED,
    RATE_BURST,
    RETENTION,
    DeliveryStatus,
    ReplayScope,
)
from app.domain.events import EventType, ProductUpdated
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.console.reverts import revert_change, show_revert
from app.services.deliveries.backlog import read_endpoint_backlogs, read_waiting
from app.services.deliveries.dispatch import lease_due_deliveries, seconds_to_next_slot
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.replays import (
    Resent,
    replay_deliveries,
    retry_deliveries,
    send_waiting_deliveries,
)
from app.services.deliveries.sending import send_deliveries
from app.services.operations.background_work import find_waiting_work, read_worker_status
from app.services.operations.cleanup import clean_up
from app.services.operations.environment_checks import endpoint_findings
from app.services.outbox.publisher import add_event
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import make_app
from tests.builders.deliveries import stored_delivery, stored_webhook, work_off
from tests.builders.webhooks import change_webhook, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp

MANY = 1000


@pytest.fixture
def ports(ports: Ports) -> Ports:
    http = FakeHttp(ports.database, lambda _request: HttpResponse(200))
    return replace(ports, http=http)


def _sent(ports: Ports) -> int:
    http = ports.http
    assert isinstance(http, FakeHttp)
    return len(http.requests)


def _webhook(ports: Ports, *events: EventType, name: str = "hook") -> int:
    app, _ = make_app(ports, name, Permission.MANAGE_PRODUCTS)
    return make_webhook(ports, app, *events, name=name)


def _change(ports: Ports, webhook: int, change: WebhookInput) -> None:
    update_webhook(ports, OPERATOR, to_global_id("Webhook", webhook), "", change)


def _pause(ports: Ports, webhook: int) -> None:
    _change(ports, webhook, WebhookInput(is_paused=True))


def _resume(ports: Ports, webhook: int) -> None:
    _change(ports, webhook, WebhookInput(is_paused=False))


def _publish(ports: Ports, *products: int) -> None:
    with ports.database.transaction() as session:
        for product in products:
            add_event(ports, OPERATOR, session, ProductUpdated(product))
    fan_out_events(ports, WORKER)


def _statuses(ports: Ports, webhook: int) -> list[str]:
    query = select(models.Delivery.status).where(models.Delivery.webhook_id == webhook)
    with ports.database.reading() as session:
        return list(session.scalars(query.order_by(models.Delivery.id)))


def test_events_of_a_paused_webhook_wait_and_are_sent_once_it_is_resumed(
    ports: Ports, clock: FakeClock
) -> None:
    paused, disabled, other = (
        _webhook(ports, EventType.PRODUCT_UPDATED, name=name) for name in ("a", "b", "c")
    )
    _pause(ports, paused)
    _change(ports, disabled, WebhookInput(is_active=False))
    _publish(ports, 1, 2)
    assert work_off(ports) == 2, "only those of the other webhook"
    assert _statuses(ports, paused) == [DeliveryStatus.PENDING] * 2
    assert _statuses(ports, disabled) == [], "a disabled webhook drops them"
    assert _statuses(ports, other) == [DeliveryStatus.SUCCESS] * 2
    clock.pass_(hours=5)
    assert lease_due_deliveries(ports, WORKER) == ()
    assert "dispatch" not in find_waiting_work(ports, WORKER)

    _resume(ports, paused)
    _change(ports, disabled, WebhookInput(is_active=True))
    assert "dispatch" in find_waiting_work(ports, WORKER)
    assert work_off(ports) == 2
    assert _statuses(ports, paused) == [DeliveryStatus.SUCCESS] * 2


@pytest.mark.both_databases
def test_what_was_leased_before_a_pause_goes_back(ports: Ports) -> None:
    webhook = _webhook(ports)
    delivery = make_delivery(ports, webhook)
    [batch] = lease_due_deliveries(ports, WORKER)
    _pause(ports, webhook)
    assert send_deliveries(ports, WORKER, batch) == 0
    stored = stored_delivery(ports, delivery)
    assert (stored.status, stored.attempts, stored.lease) == ("PENDING", 0, "")
    assert _sent(ports) == 0


def test_backlog_is_sent_in_order_at_a_bounded_rate(ports: Ports, clock: FakeClock) -> None:
    webhook = _webhook(ports)
    _pause(ports, webhook)
    waiting = []
    for _ in range(CATCH_UP_RATE):
        waiting.append(make_delivery(ports, webhook))
        clock.pass_(seconds=1)
    _resume(ports, webhook)
    clock.pass_(seconds=1)
    later = make_delivery(ports, webhook)
    sent: list[int] = []
    rounds = 0
    while len(sent) < len(waiting):
        batches = lease_due_deliveries(ports, WORKER)
        assert len(batches) <= 1, "one batch at a time keeps the order"
        for batch in batches:
            assert len(batch.deliveries) <= CATCH_UP_RATE * RATE_BURST
            sent += batch.deliveries
            clock.pass_(seconds=RATE_BURST)
            if len(sent) < len(waiting):
                assert lease_due_deliveries(ports, WORKER) == (), "the batch is still being sent"
            send_deliveries(ports, WORKER, batch)
        rounds += 1
    assert sent == waiting, "events since then come afterwards"
    assert rounds == 1 / RATE_BURST, "a second for what is sent in a second"
    [batch] = lease_due_deliveries(ports, WORKER)
    assert batch.deliveries == (later,)
    assert seconds_to_next_slot(ports, WORKER) is None


@pytest.mark.both_databases
def test_retries_from_before_a_pause_are_sent_in_the_order_of_their_events(
    ports: Ports, clock: FakeClock
) -> None:
    webhook = _webhook(ports)
    failing = replace(ports, http=FakeHttp(ports.database, lambda _request: HttpResponse(503)))
    waiting = []
    for _ in range(2):
        waiting.append(make_delivery(ports, webhook))
        work_off(failing)
        clock.pass_(seconds=1)
    with ports.database.transaction() as session:
        session.get_one(models.Delivery, waiting[0]).attempts = 9
    resent = make_delivery(ports, webhook)
    _pause(ports, webhook)
    clock.pass_(seconds=1)
    waiting += [resent, make_delivery(ports, webhook)]
    clock.pass_(seconds=1)
    assert retry_deliveries(ports, OPERATOR, [resent]).paused == 1
    retried_at = stored_delivery(ports, waiting[1]).next_attempt_at
    assert retried_at is not None
    assert retried_at > clock.now()
    _resume(ports, webhook)
    with ports.database.reading() as session:
        due = select(models.Delivery.id).order_by(
            models.Delivery.next_attempt_at, models.Delivery.id
        )
        assert list(session.scalars(due)) == waiting
    [batch] = lease_due_deliveries(ports, WORKER)
    assert batch.deliveries == tuple(waiting)
    assert stored_delivery(ports, waiting[0]).attempts == MOST_ATTEMPTS_RELEASED


def test_paused_webhooks_do_not_hide_failing_ones_in_the_doctors_findings(
    ports: Ports, clock: FakeClock
) -> None:
    for number in range(6):
        paused = _webhook(ports, name=f"paused {number}")
        for _ in range(3):
            make_delivery(ports, paused)
        _pause(ports, paused)
    for number in range(6):
        busy = _webhook(ports, name=f"busy {number}")
        for _ in range(2):
            make_delivery(ports, busy)
    failing = _webhook(ports, name="failing")
    make_delivery(ports, failing)
    change_webhook(ports, failing, failing_since=clock.now(), last_failure="HTTP 503")
    found = {finding.subject: finding.message for finding in endpoint_findings(ports, OPERATOR)}
    assert found.pop("webhook failing").startswith("Failing for ")
    assert len(found) == 5
    assert all(message.startswith("Paused for ") for message in found.values())


def test_what_waits_for_the_end_of_a_pause_counts_as_neither_due_nor_held_up(
    ports: Ports, clock: FakeClock
) -> None:
    webhook = _webhook(ports)
    make_delivery(ports, webhook)
    control = read_waiting(ports, MANY)
    assert (control.due, control.held_up_since) == (1, clock.now())
    _pause(ports, webhook)
    clock.pass_(minutes=30)
    waiting = read_waiting(ports, MANY)
    assert (waiting.due, waiting.due_since, waiting.held_up_since) == (0, None, None)
    [backlog] = read_endpoint_backlogs(ports, OPERATOR)
    assert (backlog.due, backlog.paused_since) == (1, clock.now() - timedelta(minutes=30))
    [finding] = endpoint_findings(ports, OPERATOR)
    assert finding.message == (
        "Paused for 30 minutes: 1 delivery waiting. Those older than 14 days are deleted."
    )
    assert "flask webhook resume" in finding.remedy
    _resume(ports, webhook)
    clock.pass_(seconds=10)
    since = read_worker_status(ports).delivery_since
    assert since == clock.now() - timedelta(seconds=10), "no worker was missing before"


def test_waiting_deliveries_of_a_paused_webhook_end_with_their_retention(
    ports: Ports, clock: FakeClock
) -> None:
    paused, other = _webhook(ports, name="a"), _webhook(ports, name="b")
    make_delivery(ports, paused)
    make_delivery(ports, other)
    _pause(ports, paused)
    clock.pass_(seconds=RETENTION.total_seconds() + 1)
    clean_up(ports, WORKER)
    assert (_statuses(ports, paused), _statuses(ports, other)) == ([], ["PENDING"])


def test_pause_and_limit_are_audited_and_reverted(ports: Ports, clock: FakeClock) -> None:
    webhook = _webhook(ports)
    _change(ports, webhook, WebhookInput(is_paused=True, max_rate=5))
    began = clock.now()
    clock.pass_(minutes=5)
    _pause(ports, webhook)
    assert stored_webhook(ports, webhook).paused_at == began, "a second pause changes nothing"
    query = select(models.AuditEntry).where(models.AuditEntry.action == "webhook.update")
    with ports.database.reading() as session:
        entry = session.scalars(query.order_by(models.AuditEntry.id)).first()
    assert entry is not None
    assert (entry.before, entry.after) == (
        {"is_paused": False, "max_rate": 0},
        {"is_paused": True, "max_rate": 5},
    )
    found = show_revert(ports, OPERATOR, entry.id)
    assert found is not None
    revert_change(ports, OPERATOR, entry.id, ["is_paused", "max_rate"], found.current)
    stored = stored_webhook(ports, webhook)
    assert (stored.paused_at, stored.max_rate, stored.resumed_at) == (None, 0, clock.now())


def test_impossible_limit_is_refused(ports: Ports) -> None:
    webhook = _webhook(ports)
    for rate in (-1, MAX_RATE + 1):
        with pytest.raises(Refused, match="requests a second"):
            _change(ports, webhook, WebhookInput(max_rate=rate))
    for allowed in (MAX_RATE, None):
        _change(ports, webhook, WebhookInput(max_rate=allowed))
        assert stored_webhook(ports, webhook).max_rate == (allowed or 0)


def _leased(ports: Ports, webhook: int) -> int:
    batches = lease_due_deliveries(ports, WORKER)
    return sum(len(batch.deliveries) for batch in batches if batch.webhook_id == webhook)


def test_limited_endpoint_gets_its_rate_and_others_are_not_slowed_down(
    ports: Ports, clock: FakeClock
) -> None:
    limited, other = _webhook(ports, name="a"), _webhook(ports, name="b")
    change_webhook(ports, limited, max_rate=2)
    for _ in range(8):
        make_delivery(ports, limited)
    for _ in range(30):
        make_delivery(ports, other)
    first = lease_due_deliveries(ports, WORKER)
    sizes = {limited: 0, other: 0}
    for batch in first:
        sizes[batch.webhook_id] += len(batch.deliveries)
    assert sizes == {limited: 1, other: 30}
    assert _leased(ports, limited) == 0, "its second isn't over"
    assert "dispatch" not in find_waiting_work(ports, WORKER), "so no worker looks for nothing"
    assert seconds_to_next_slot(ports, WORKER) == 0.5
    clock.pass_(seconds=0.5)
    assert "dispatch" in find_waiting_work(ports, WORKER)
    assert _leased(ports, limited) == 1
    clock.pass_(minutes=10)
    assert _leased(ports, limited) == 1, "an idle time is not made up for"
    since = read_worker_status(ports).delivery_since
    assert since is None, "what waits for its rate doesn't wait for a worker"
    change_webhook(ports, limited, max_rate=0, next_slot_at=None)
    assert _leased(ports, limited) == 7, "those whose lease ended, too"


@pytest.mark.both_databases
def test_several_workers_keep_one_rate_together(ports: Ports, clock: FakeClock) -> None:
    webhook = _webhook(ports)
    change_webhook(ports, webhook, max_rate=20)
    for _ in range(40):
        make_delivery(ports, webhook)
    begin = Barrier(4, timeout=30)

    def lease() -> int:
        begin.wait()
        return _leased(ports, webhook)

    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(lease) for _ in range(4)]
        together = sum(run.result(timeout=60) for run in runs)
    assert together == 20 * RATE_BURST


def test_nothing_that_waits_is_called_sent_while_it_is_paused(ports: Ports) -> None:
    webhook = _webhook(ports)
    failing = replace(ports, http=FakeHttp(ports.database, lambda _request: HttpResponse(503)))
    delivery = make_delivery(ports, webhook)
    work_off(failing)
    retried_at = stored_delivery(ports, delivery).next_attempt_at
    _pause(ports, webhook)
    assert send_waiting_deliveries(ports, OPERATOR, webhook) == 0
    assert stored_delivery(ports, delivery).next_attempt_at == retried_at
    assert retry_deliveries(ports, OPERATOR, [delivery]) == Resent(1, paused=1)
    scope, since = ReplayScope(missing=False), ports.clock.now() - timedelta(hours=1)
    assert replay_deliveries(ports, OPERATOR, webhook, since, scope).is_paused
    assert work_off(ports) == 0
    _resume(ports, webhook)
    assert retry_deliveries(ports, OPERATOR, [delivery]) == Resent(1)
    assert work_off(ports) == 1
