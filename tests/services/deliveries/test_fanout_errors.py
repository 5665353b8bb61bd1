"""Faults of ours hold up nobody else, come to an end, and tell no more than their number."""

from dataclasses import replace

import pytest
from sqlalchemy import select, update
from typing_extensions import override

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType, Occurrence, ProductUpdated
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.times import FAULT_DELAYS
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.replays import (
    Resent,
    replay_deliveries,
    retry_deliveries,
    retry_delivery,
)
from app.services.deliveries.sending import send_deliveries
from tests.builders.apps import make_app
from tests.builders.webhooks import change_webhook, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.fakes.payloads import FakePayloads
from tests.services.deliveries.test_fanout import deliveries, happen, open_notes
from tests.services.error_codes import codes

SECRET = "postgresql://shop:hunter2@db.internal/shop"


class Broken(FakePayloads):
    """Payloads with a defect, for queries that say so."""

    is_broken = True

    @override
    def make(self, asking: object, actor: Actor, query: str, occurrence: Occurrence) -> str:
        if query == "broken" and self.is_broken:
            raise ZeroDivisionError(SECRET)
        return super().make(asking, actor, query, occurrence)


@pytest.fixture
def payloads(ports: Ports) -> Broken:
    return Broken(ports.database)


@pytest.fixture
def telling(ports: Ports, payloads: Broken) -> Ports:
    return replace(ports, payloads=payloads)


@pytest.fixture
def broken(ports: Ports) -> int:
    """A webhook whose payloads cannot be made; the app has another one, too."""
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    key = make_webhook(ports, app, EventType.PRODUCT_UPDATED, query="broken")
    make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    return key


def until_the_end(ports: Ports, clock: FakeClock) -> list[BaseException]:
    """Let every round come that is due; the faults that were raised for the log."""
    raised: list[BaseException] = []
    for delay in FAULT_DELAYS:
        clock.pass_(seconds=delay)
        with pytest.raises(ExceptionGroup) as group:
            fan_out_events(ports, WORKER)
        raised += group.value.exceptions
    return raised


def test_failing_webhook_does_not_delay_others_of_the_same_event(
    telling: Ports, broken: int
) -> None:
    happen(telling, ProductUpdated(3))
    with pytest.raises(ExceptionGroup):
        fan_out_events(telling, WORKER)

    waiting, made = sorted(deliveries(telling), key=lambda row: row.webhook_id != broken)
    assert (made.status, made.next_attempt_at is None) == ("PENDING", False)
    assert (waiting.status, waiting.payload, waiting.next_attempt_at) == ("PENDING", "", None)
    assert waiting.given_up.startswith("A fault of ours kept the payload from being made.")
    assert open_notes(telling) == 1


def test_delivery_fails_if_its_webhook_is_disabled_while_the_payload_is_tried_again(
    telling: Ports, broken: int, clock: FakeClock
) -> None:
    happen(telling, ProductUpdated(3))
    with pytest.raises(ExceptionGroup):
        fan_out_events(telling, WORKER)
    change_webhook(telling, broken, is_active=False)
    clock.pass_(seconds=FAULT_DELAYS[1])
    assert fan_out_events(telling, WORKER) == 1
    (failed,) = [row for row in deliveries(telling) if row.webhook_id == broken]
    assert failed.status == "FAILED"


def test_temporary_fault_causes_neither_loss_nor_duplicates(
    telling: Ports, payloads: Broken, broken: int, clock: FakeClock
) -> None:
    happen(telling, ProductUpdated(3))
    with pytest.raises(ExceptionGroup):
        fan_out_events(telling, WORKER)
    payloads.is_broken = False
    assert fan_out_events(telling, WORKER) == 0
    clock.pass_(seconds=FAULT_DELAYS[1])

    assert fan_out_events(telling, WORKER) == 1
    assert sorted(delivery.status for delivery in deliveries(telling)) == ["PENDING", "PENDING"]
    assert all(delivery.payload and not delivery.given_up for delivery in deliveries(telling))
    assert open_notes(telling) == 0


def test_permanent_fault_fails_the_delivery_with_the_log_id(
    telling: Ports, broken: int, clock: FakeClock
) -> None:
    happen(telling, ProductUpdated(3))
    raised = until_the_end(telling, clock)
    clock.pass_(hours=24)

    assert fan_out_events(telling, WORKER) == 0
    assert open_notes(telling) == 0
    (failed,) = [delivery for delivery in deliveries(telling) if delivery.webhook_id == broken]
    assert (failed.status, failed.next_attempt_at) == ("FAILED", None)
    message, _, request_id = failed.given_up.rpartition(" ")
    assert message == "A fault of ours kept the payload from being made. Request id:"
    assert "hunter2" not in failed.given_up
    assert request_id in str(raised[-1].__notes__)


def test_deliveries_failed_by_a_fault_can_be_rebuilt(
    telling: Ports, payloads: Broken, broken: int, clock: FakeClock
) -> None:
    for key in (3, 4, 5):
        happen(telling, ProductUpdated(key))
    until_the_end(telling, clock)
    one, many, rest = (row.id for row in deliveries(telling) if row.webhook_id == broken)
    payloads.is_broken = False

    retry_delivery(telling, OPERATOR, to_global_id("EventDelivery", one))
    assert retry_deliveries(telling, OPERATOR, [many, 99999]) == Resent(due=1)
    replayed = replay_deliveries(telling, OPERATOR, broken, clock.now().replace(year=2020))

    assert (replayed.failed, replayed.missing) == (1, 0)
    made = [row for row in deliveries(telling) if row.webhook_id == broken]
    assert [row.id for row in made] == [one, many, rest]
    assert {(row.status, row.given_up) for row in made} == {("PENDING", "")}
    assert all('"subject"' in row.payload for row in made)


def test_unbuildable_payload_stays_failed_with_a_new_reason(
    telling: Ports, payloads: Broken, broken: int, clock: FakeClock
) -> None:
    happen(telling, ProductUpdated(3))
    until_the_end(telling, clock)
    (failed,) = [row for row in deliveries(telling) if row.webhook_id == broken]
    payloads.is_broken, payloads.fails = False, lambda query: query == "broken"

    with pytest.raises(Refused) as refused:
        retry_delivery(telling, OPERATOR, to_global_id("EventDelivery", failed.id))

    assert codes(refused) == [("id", "INVALID")]
    assert "There is no such field." in str(refused.value)


def test_unknown_event_stops_no_other_and_is_closed(
    telling: Ports, payloads: Broken, broken: int, clock: FakeClock
) -> None:
    payloads.is_broken = False
    for key in (3, 4):
        happen(telling, ProductUpdated(key))
    with telling.database.transaction() as session:
        first = select(models.OutboxEvent.id).order_by(models.OutboxEvent.id).limit(1)
        session.execute(
            update(models.OutboxEvent)
            .where(models.OutboxEvent.id == first.scalar_subquery())
            .values(type="SHOP_BLOWN_UP")
        )
    until_the_end(telling, clock)

    assert open_notes(telling) == 0
    assert [row.subject_id for row in deliveries(telling)] == [4, 4]


def test_at_most_a_hundred_deliveries_can_be_selected(telling: Ports) -> None:
    with pytest.raises(Refused) as refused:
        retry_deliveries(telling, OPERATOR, range(101))
    assert codes(refused) == [("ids", "INVALID")]


def test_undecryptable_payload_fails_only_its_delivery(ports: Ports, broken: int) -> None:
    sealed, good = (make_delivery(ports, broken, text) for text in ("sealed:nonsense", "{}"))
    trying = replace(ports, http=FakeHttp(ports.database, lambda _request: HttpResponse(200)))
    for batch in lease_due_deliveries(trying, WORKER):
        send_deliveries(trying, WORKER, batch)

    found = {row.id: row for row in deliveries(ports)}
    assert (found[sealed].status, found[good].status) == ("FAILED", "SUCCESS")
    assert found[sealed].given_up.startswith("The payload was encrypted with another SECRET_KEY")


def test_undecryptable_secret_fails_its_deliveries_with_the_remedy(
    ports: Ports, broken: int
) -> None:
    with ports.database.transaction() as session:
        session.get_one(models.Webhook, broken).secret = "sealed under another key"
    key = make_delivery(ports, broken)
    for batch in lease_due_deliveries(ports, WORKER):
        send_deliveries(ports, WORKER, batch)

    with ports.database.reading() as session:
        delivery = session.get_one(models.Delivery, key)
    assert (delivery.status, delivery.next_attempt_at) == ("FAILED", None)
    assert delivery.given_up.endswith("Set them again.")
