"""Which deliveries are made next: every endpoint has its share, and no more."""

import pytest

from app.domain.authorization.actor import WORKER
from app.ports import Ports
from app.services.deliveries.dispatch import (
    BATCH_SIZE,
    MAX_BATCHES,
    MAX_ENDPOINTS,
    MAX_FAILING_BATCHES,
    MAX_LEASES,
    lease_due_deliveries,
    release_batch,
)
from tests.builders.apps import make_app
from tests.builders.webhooks import (
    change_webhook,
    make_delivery,
    make_due_deliveries,
    make_webhook,
)
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.fixtures.statements import plans, recorded_statements, selects


def _webhook(ports: Ports) -> int:
    app, _ = make_app(ports, "warehouse")
    return make_webhook(ports, app)


def test_many_endpoints_of_one_app_do_not_delay_others(ports: Ports) -> None:
    app, _ = make_app(ports, "others")
    hooks = [_webhook(ports), *(make_webhook(ports, app) for _ in range(15))]
    share = MAX_BATCHES // len(hooks)
    assert share < MAX_LEASES
    for hook in hooks:
        make_due_deliveries(ports, hook, BATCH_SIZE * share + 1)

    batches = [batch.webhook_id for batch in lease_due_deliveries(ports, WORKER)]

    assert {hook: batches.count(hook) for hook in hooks} == dict.fromkeys(hooks, share)
    assert lease_due_deliveries(ports, WORKER) == ()


def test_endpoint_gets_a_limited_number_of_batches(ports: Ports) -> None:
    webhook = _webhook(ports)
    app, _ = make_app(ports, "another")
    other = make_webhook(ports, app)
    make_due_deliveries(ports, webhook, BATCH_SIZE * (MAX_LEASES + 2))
    make_delivery(ports, other)

    batches = lease_due_deliveries(ports, WORKER)

    assert [batch.webhook_id for batch in batches].count(webhook) == MAX_LEASES
    assert [batch.webhook_id for batch in batches].count(other) == 1
    assert lease_due_deliveries(ports, WORKER) == ()


def test_failing_endpoints_get_one_delivery_each_and_few_at_once(
    ports: Ports, clock: FakeClock
) -> None:
    app, _ = make_app(ports, "warehouse")
    hooks = [make_webhook(ports, app) for _ in range(MAX_FAILING_BATCHES + 2)]
    for hook in hooks[1:]:
        change_webhook(ports, hook, failing_since=clock.now())
    for hook in hooks:
        for _ in range(3):
            make_delivery(ports, hook)

    batches = lease_due_deliveries(ports, WORKER)

    sizes = {batch.webhook_id: len(batch.deliveries) for batch in batches}
    assert sizes.pop(hooks[0]) == 3
    assert [*sizes.values()] == [1] * MAX_FAILING_BATCHES
    assert lease_due_deliveries(ports, WORKER) == ()


@pytest.mark.both_databases
def test_dispatch_ignores_delivered_rows(sqlite_url: str, clock: FakeClock) -> None:
    ports = fake_ports(sqlite_url, clock)
    make_delivery(ports, _webhook(ports))
    with recorded_statements() as statements:
        assert lease_due_deliveries(ports, WORKER)
    about = [line for line in selects(statements) if "deliveries" in line]
    steps = plans(ports, about)
    assert any("ix_deliveries_leased" in line for line in steps), steps
    assert not any(line.startswith("SCAN deliveries") for line in steps), steps


@pytest.mark.both_databases
def test_endpoint_with_a_long_queue_does_not_keep_others_waiting(
    sqlite_url: str, clock: FakeClock
) -> None:
    ports = fake_ports(sqlite_url, clock)
    busy, other = _webhook(ports), _webhook(ports)
    for _ in range(MAX_LEASES * BATCH_SIZE + 1):
        make_delivery(ports, busy)
    lease_due_deliveries(ports, WORKER)
    late = make_delivery(ports, other)

    with recorded_statements() as statements:
        (batch,) = lease_due_deliveries(ports, WORKER)

    assert (batch.webhook_id, batch.deliveries) == (other, (late,))
    about = [line for line in selects(statements) if "FROM webhooks" in line]
    # Each endpoint's queue is read from its beginning, not the whole of it.
    steps = plans(ports, about)
    assert any("ix_deliveries_webhook_due (webhook_id=? AND next" in line for line in steps), steps


def test_every_endpoint_gets_its_turn_before_any_gets_another(
    ports: Ports, clock: FakeClock
) -> None:
    app, _ = make_app(ports, "warehouse")
    hooks = [make_webhook(ports, app) for _ in range(MAX_ENDPOINTS + 6)]
    for _ in range(BATCH_SIZE + 1):
        make_delivery(ports, hooks[0])
    clock.pass_(seconds=1)
    for hook in hooks[1:]:
        make_delivery(ports, hook)

    rounds = [lease_due_deliveries(ports, WORKER) for _ in range(3)]

    assert [len(batches) for batches in rounds] == [MAX_ENDPOINTS, 6, 0]
    assert sorted(batch.webhook_id for batches in rounds for batch in batches) == sorted(hooks)


def test_released_deliveries_are_due_at_once(ports: Ports) -> None:
    key = make_delivery(ports, _webhook(ports))
    [batch] = lease_due_deliveries(ports, WORKER)
    assert lease_due_deliveries(ports, WORKER) == ()
    release_batch(ports, WORKER, batch)
    [again] = lease_due_deliveries(ports, WORKER)
    assert again.deliveries == batch.deliveries == (key,)


def test_oldest_deliveries_are_leased_first(ports: Ports, clock: FakeClock) -> None:
    hook = _webhook(ports)
    keys = []
    for _ in range(BATCH_SIZE + 1):
        keys.append(make_delivery(ports, hook))
        clock.pass_(seconds=1)

    first, second = lease_due_deliveries(ports, WORKER)

    assert first.deliveries == tuple(keys[:BATCH_SIZE])
    assert second.deliveries == tuple(keys[BATCH_SIZE:])
