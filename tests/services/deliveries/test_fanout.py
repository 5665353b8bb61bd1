"""Whatever happened becomes one delivery for each webhook that hears of it."""

import json
from dataclasses import replace

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import WORKER, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import Event, EventType, ProductUpdated, StaffUpdated
from app.ports import Ports
from app.services.deliveries.fanout import BATCH_SIZE, fan_out_events
from app.services.outbox.publisher import add_event
from tests.builders.apps import make_app
from tests.builders.people import ISSUER
from tests.builders.webhooks import make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.payloads import FakePayloads
from tests.fixtures.ports import fake_ports

CALLER = Actor(ActorKind.USER, user_id=7, issuer=ISSUER)


@pytest.fixture
def payloads(ports: Ports) -> FakePayloads:
    return FakePayloads(ports.database)


@pytest.fixture
def telling(ports: Ports, payloads: FakePayloads) -> Ports:
    return replace(ports, payloads=payloads)


@pytest.fixture
def warehouse(ports: Ports) -> int:
    return make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)[0]


def happen(ports: Ports, event: Event) -> None:
    with ports.database.transaction() as session:
        add_event(ports, CALLER, session, event)


def deliveries(ports: Ports) -> list[models.Delivery]:
    with ports.database.reading() as session:
        return list(session.scalars(select(models.Delivery).order_by(models.Delivery.id)))


def open_notes(ports: Ports) -> int:
    query = select(models.OutboxEvent).where(models.OutboxEvent.closed_at.is_(None))
    with ports.database.reading() as session:
        return len(session.scalars(query).all())


def test_change_creates_a_due_delivery(telling: Ports, warehouse: int) -> None:
    webhook = make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED)
    happen(telling, ProductUpdated(3))

    assert fan_out_events(telling, WORKER) == 1

    (delivery,) = deliveries(telling)
    assert (delivery.webhook_id, delivery.event, delivery.issuer) == (
        webhook,
        "PRODUCT_UPDATED",
        ISSUER,
    )
    assert json.loads(delivery.payload) == {"app": warehouse, "subject": 3}
    assert (delivery.status, delivery.next_attempt_at) == ("PENDING", telling.clock.now())
    assert delivery.message_id.startswith("msg_")
    assert open_notes(telling) == 0


def test_processed_events_are_not_delivered_again(telling: Ports, warehouse: int) -> None:
    make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED)
    happen(telling, ProductUpdated(3))
    fan_out_events(telling, WORKER)

    assert fan_out_events(telling, WORKER) == 0
    assert len(deliveries(telling)) == 1


def test_worker_killed_midway_leads_to_one_delivery(
    telling: Ports, payloads: FakePayloads, warehouse: int, clock: FakeClock
) -> None:
    make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED)
    happen(telling, ProductUpdated(3))

    class Killed(BaseException):
        pass

    def die(_query: str) -> bool:
        raise Killed

    payloads.fails = die
    with pytest.raises(Killed):
        fan_out_events(telling, WORKER)
    payloads.fails = lambda _query: False
    assert fan_out_events(telling, WORKER) == 0
    clock.pass_(minutes=3)

    assert fan_out_events(telling, WORKER) == 1
    assert len(deliveries(telling)) == 1


def test_concurrent_fan_out_keeps_one_delivery_with_the_first_id(
    telling: Ports, payloads: FakePayloads, warehouse: int, clock: FakeClock, database_url: str
) -> None:
    make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED)
    happen(telling, ProductUpdated(3))
    other = replace(fake_ports(database_url, clock, first_key=10), payloads=payloads)
    ids: list[str] = []

    def meanwhile(_query: str) -> bool:
        payloads.fails = lambda _query: False
        clock.pass_(minutes=3)
        fan_out_events(other, WORKER)
        ids.extend(delivery.message_id for delivery in deliveries(other))
        return False

    payloads.fails = meanwhile
    fan_out_events(telling, WORKER)

    assert [delivery.message_id for delivery in deliveries(telling)] == ids
    assert len(ids) == 1


def test_webhook_with_all_events_gets_each_once(telling: Ports, warehouse: int) -> None:
    make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED, EventType.ANY_EVENTS)
    happen(telling, ProductUpdated(3))
    fan_out_events(telling, WORKER)

    assert len(deliveries(telling)) == 1


def test_event_is_delivered_only_to_apps_with_its_permission(
    telling: Ports, warehouse: int
) -> None:
    make_webhook(telling, warehouse, EventType.ANY_EVENTS)
    happen(telling, StaffUpdated(7))

    assert fan_out_events(telling, WORKER) == 1
    assert deliveries(telling) == []
    assert open_notes(telling) == 0


def test_disabled_webhook_or_app_receives_nothing(telling: Ports, warehouse: int) -> None:
    webhook = make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED)
    sleeping, _ = make_app(telling, "sleeping", Permission.MANAGE_PRODUCTS)
    make_webhook(telling, sleeping, EventType.PRODUCT_UPDATED)
    with telling.database.transaction() as session:
        session.get_one(models.Webhook, webhook).is_active = False
        session.get_one(models.App, sleeping).is_active = False
    happen(telling, ProductUpdated(3))
    fan_out_events(telling, WORKER)

    assert deliveries(telling) == []


def test_unbuildable_payload_fails_only_its_delivery_with_a_reason(
    telling: Ports, payloads: FakePayloads, warehouse: int
) -> None:
    make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED, query="broken")
    make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED)
    payloads.fails = lambda query: query == "broken"
    happen(telling, ProductUpdated(3))
    fan_out_events(telling, WORKER)

    failed, made = deliveries(telling)
    assert (failed.status, failed.next_attempt_at) == ("FAILED", None)
    assert failed.given_up == "There is no such field."
    assert made.status == "PENDING"


def test_identical_queries_of_one_app_run_once(
    telling: Ports, payloads: FakePayloads, warehouse: int
) -> None:
    for _ in range(3):
        make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED)
    happen(telling, ProductUpdated(3))
    fan_out_events(telling, WORKER)

    assert len(payloads.queries) == 1
    assert len(deliveries(telling)) == 3


def test_long_backlog_is_processed_in_batches(telling: Ports, warehouse: int) -> None:
    make_webhook(telling, warehouse, EventType.PRODUCT_UPDATED)
    with telling.database.transaction() as session:
        for key in range(BATCH_SIZE + 1):
            add_event(telling, CALLER, session, ProductUpdated(key + 1))

    assert [fan_out_events(telling, WORKER) for _ in range(3)] == [BATCH_SIZE, 1, 0]
    assert [delivery.subject_id for delivery in deliveries(telling)] == list(
        range(1, BATCH_SIZE + 2)
    )
