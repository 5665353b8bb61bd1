"""Replays of much: in steps, each of which is short, and which begin where they stopped."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import ReplayResult, ReplayScope
from app.domain.events import EventType, ProductUpdated
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries import replays
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.replays import (
    Resent,
    preview_replay,
    replay_deliveries,
    retry_deliveries,
    retry_delivery,
)
from app.services.outbox.publisher import add_event
from tests.builders.apps import change_app, make_app
from tests.builders.webhooks import (
    change_webhook,
    make_delivery,
    make_many_deliveries,
    make_webhook,
)
from tests.fakes.clock import START, FakeClock
from tests.fakes.payloads import FakePayloads
from tests.fixtures.statements import recorded_statements
from tests.services.error_codes import codes

BATCH, MANY = 10, 21


@pytest.fixture
def telling(ports: Ports) -> Ports:
    return replace(ports, payloads=FakePayloads(ports.database))


@pytest.fixture
def webhook(ports: Ports) -> int:
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    return make_webhook(ports, app, EventType.PRODUCT_UPDATED)


def _states(ports: Ports) -> dict[str, int]:
    by_status = select(models.Delivery.status, func.count()).group_by(models.Delivery.status)
    with ports.database.reading() as session:
        return {row[0]: row[1] for row in session.execute(by_status)}


@pytest.mark.both_databases
def test_failed_deliveries_are_rescheduled_in_batches(
    telling: Ports, webhook: int, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "_DUE_AT_ONCE", BATCH)
    make_many_deliveries(telling, webhook, 1)
    make_many_deliveries(telling, webhook, MANY, status="FAILED")
    before = START - timedelta(hours=2)
    make_many_deliveries(telling, webhook, 1, status="FAILED", created_at=before)

    with recorded_statements() as statements:
        done = replay_deliveries(telling, OPERATOR, webhook, START - timedelta(hours=1))

    assert done == ReplayResult(MANY, 0)
    assert _states(telling) == {"FAILED": 1, "SUCCESS": 1, "PENDING": MANY}
    # The last finds nothing more.
    made_due = [statement for statement in statements if statement.startswith("UPDATE deliveries")]
    assert len(made_due) == 3 + 1
    replayed = replay_deliveries(telling, OPERATOR, webhook, START - timedelta(hours=1))
    assert replayed == ReplayResult(0, 0)


def test_missing_deliveries_are_replayed_in_limited_steps(
    telling: Ports, webhook: int, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MAX_MISSING", 100)
    with telling.database.transaction() as session:
        for number in range(130):
            add_event(telling, OPERATOR, session, ProductUpdated(number))
    change_webhook(telling, webhook, is_active=False)
    while fan_out_events(telling, WORKER):
        pass
    change_webhook(telling, webhook, is_active=True)
    assert _states(telling) == {}

    since = clock.now()
    rounds = [replay_deliveries(telling, OPERATOR, webhook, since) for _ in range(3)]

    assert rounds == [ReplayResult(0, 100, has_more=True), ReplayResult(0, 30), ReplayResult(0, 0)]
    assert _states(telling) == {"PENDING": 130}
    with telling.database.reading() as session:
        audited = session.scalars(
            select(models.AuditEntry).where(models.AuditEntry.action == "webhook.replay")
        ).all()
    assert [entry.subject_name for entry in audited] == ["hook"] * 3


def test_events_from_before_the_webhook_are_replayed_only_on_demand(
    telling: Ports, clock: FakeClock
) -> None:
    app, _ = make_app(telling, "warehouse", Permission.MANAGE_PRODUCTS)
    since = clock.now()

    def happen() -> None:
        with telling.database.transaction() as session:
            add_event(telling, OPERATOR, session, ProductUpdated(1))
        while fan_out_events(telling, WORKER):
            pass

    happen()
    happen()
    clock.pass_(minutes=1)
    webhook = make_webhook(telling, app, EventType.PRODUCT_UPDATED)
    change_webhook(telling, webhook, is_active=False)
    happen()
    change_webhook(telling, webhook, is_active=True)
    everything = ReplayScope(before_creation=True)

    counted = preview_replay(telling, OPERATOR, webhook, since)
    assert counted == ReplayResult(0, 1, earlier=2)
    assert preview_replay(telling, OPERATOR, webhook, since, everything) == ReplayResult(0, 3)
    assert _states(telling) == {}
    assert replay_deliveries(telling, OPERATOR, webhook, since) == ReplayResult(0, 1)
    assert replay_deliveries(telling, OPERATOR, webhook, since, everything) == ReplayResult(0, 2)


@pytest.mark.parametrize("disables_app", [False, True])
def test_nothing_is_resent_to_a_disabled_webhook(
    telling: Ports, webhook: int, disables_app: bool
) -> None:
    key = make_delivery(telling, webhook)
    with telling.database.transaction() as session:
        session.get_one(models.Delivery, key).status = "FAILED"
        owner = session.get_one(models.Webhook, webhook).app_id
    if disables_app:
        change_app(telling, owner, is_active=False)
    else:
        change_webhook(telling, webhook, is_active=False)

    with pytest.raises(Refused) as refused:
        retry_delivery(telling, OPERATOR, to_global_id("EventDelivery", key))
    assert codes(refused) == [("id", "INVALID")]
    with pytest.raises(Refused) as refused:
        replay_deliveries(telling, OPERATOR, webhook, START)
    assert codes(refused) == [("id", "INVALID")]
    assert retry_deliveries(telling, OPERATOR, [key]) == Resent(0, disabled=1)
    assert _states(telling) == {"FAILED": 1}
