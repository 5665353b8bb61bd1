"""Orders go through their states by the hands of those who manage them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.sales import Order, OrderStatus
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.commerce.orders import (
    cancel_order,
    confirm_order,
    fulfill_order,
    mark_order_paid,
)
from tests.builders.audit import trail
from tests.builders.orders import make_order, order_id
from tests.builders.outbox import events
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.services.error_codes import codes

UseCase = Callable[[Ports, Actor, str], Order]

ORDERS = frozenset({Permission.MANAGE_ORDERS})
STAFF = Actor(ActorKind.USER, user_id=1, is_staff=True, permissions=ORDERS)
APP = Actor(ActorKind.APP, app_id=1, permissions=ORDERS)
STEPS: dict[UseCase, tuple[str, str]] = {
    confirm_order: ("id", "INVALID"),
    mark_order_paid: ("id", "PAYMENT_ERROR"),
    cancel_order: ("id", "CANNOT_CANCEL_ORDER"),
    fulfill_order: ("order", "INVALID"),
}
WITHOUT = [
    anonymous(),
    Actor(ActorKind.USER, user_id=2),
    Actor(ActorKind.USER, user_id=3, is_staff=True, permissions=ALL_PERMISSIONS - ORDERS),
    Actor(ActorKind.APP, app_id=2, permissions=ALL_PERMISSIONS - ORDERS),
]


def sent_events(ports: Ports) -> list[str]:
    return [event.type for event in events(ports) if event.type.startswith("ORDER_")]


def state(ports: Ports, order: Order) -> tuple[str, bool]:
    with ports.database.reading() as session:
        stored = session.get_one(models.Order, order.id)
        return stored.status, stored.is_paid


def test_order_is_confirmed_paid_and_fulfilled(ports: Ports, clock: FakeClock) -> None:
    id_ = order_id(make_order(ports))
    clock.pass_(seconds=5)
    assert confirm_order(ports, STAFF, id_).status is OrderStatus.UNFULFILLED
    assert mark_order_paid(ports, APP, id_).is_paid
    done = fulfill_order(ports, OPERATOR, id_)
    assert (done.status, done.is_paid) == (OrderStatus.FULFILLED, True)
    assert done.updated_at == clock.now()
    assert len(done.lines) == 1
    assert sent_events(ports) == [
        "ORDER_CREATED",
        "ORDER_CONFIRMED",
        "ORDER_UPDATED",
        "ORDER_PAID",
        "ORDER_UPDATED",
        "ORDER_FULFILLED",
        "ORDER_UPDATED",
    ]


def test_order_can_be_cancelled_until_fulfilled(ports: Ports) -> None:
    for status in (OrderStatus.UNCONFIRMED, OrderStatus.UNFULFILLED):
        order = make_order(ports, status=status)
        assert cancel_order(ports, STAFF, order_id(order)).status is OrderStatus.CANCELED
    assert sent_events(ports)[-2:] == ["ORDER_CANCELLED", "ORDER_UPDATED"]


def test_forbidden_transition_changes_nothing(ports: Ports) -> None:
    order = make_order(ports, status=OrderStatus.CANCELED)
    before = len(events(ports))
    for step, expected in STEPS.items():
        with pytest.raises(Refused) as excinfo:
            step(ports, STAFF, order_id(order))
        assert codes(excinfo) == [expected], step
    assert state(ports, order) == ("CANCELED", False)
    assert len(events(ports)) == before
    assert trail(ports, "order.cancel") == []


def test_an_order_is_paid_once(ports: Ports) -> None:
    order = make_order(ports, is_paid=True)
    with pytest.raises(Refused) as excinfo:
        mark_order_paid(ports, STAFF, order_id(order))
    assert codes(excinfo) == [("id", "PAYMENT_ERROR")]


def test_order_transitions_require_manage_orders(ports: Ports) -> None:
    order = make_order(ports)

    @cases("step", STEPS)
    @cases("actor", WITHOUT)
    def check(step: UseCase, actor: Actor) -> None:
        with pytest.raises(PermissionDenied) as denied:
            step(ports, actor, order_id(order))
        assert denied.value.required == (Permission.MANAGE_ORDERS,)
        assert state(ports, order) == ("UNCONFIRMED", False)

    check()


@cases("step", STEPS)
def test_unknown_order_is_not_found(ports: Ports, step: UseCase) -> None:
    for id_ in ("", "nonsense", order_id(4711), order_id(2**80), to_global_id("Product", 1)):
        with pytest.raises(Refused) as excinfo:
            step(ports, STAFF, id_)
        assert codes(excinfo) == [(STEPS[step][0], "NOT_FOUND")]


def test_order_steps_are_audited(ports: Ports) -> None:
    order = make_order(ports)
    confirm_order(ports, STAFF, order_id(order))
    mark_order_paid(ports, APP, order_id(order))
    (confirmed,) = trail(ports, "order.confirm")
    (paid,) = trail(ports, "order.pay")
    assert (confirmed.before, confirmed.after) == (
        {"status": "UNCONFIRMED"},
        {"status": "UNFULFILLED"},
    )
    assert (paid.actor_kind, paid.before, paid.after) == (
        "app",
        {"is_paid": False},
        {"is_paid": True},
    )
    assert (paid.subject_type, paid.subject_id) == ("Order", str(order.id))


@pytest.mark.both_databases
def test_second_of_two_conflicting_steps_is_refused(ports: Ports, second_process: Ports) -> None:
    order = make_order(ports, status=OrderStatus.UNFULFILLED)
    together = Barrier(2, timeout=60)

    def decide(where: Ports, step: UseCase) -> Order | None:
        together.wait()
        try:
            return step(where, STAFF, order_id(order))
        except Refused:
            return None

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(decide, (ports, second_process), (fulfill_order, cancel_order)))
    (done,) = [outcome for outcome in outcomes if outcome is not None]
    assert state(ports, order) == (done.status.value, False)
    assert sent_events(ports)[-1] == "ORDER_UPDATED"
    assert len(sent_events(ports)) == 3
