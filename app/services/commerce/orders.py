"""The steps that staff take with orders, each allowed in some states only."""

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.sales import Order, OrderStatus, OrderStep, take_step
from app.domain.events import (
    Event,
    OrderCancelled,
    OrderConfirmed,
    OrderFulfilled,
    OrderPaid,
    OrderUpdated,
)
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of
from app.models import OrderRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import requires
from app.services.commerce.stored_orders import load_order
from app.services.outbox.publisher import add_event

_EVENTS: dict[OrderStep, type[Event]] = {
    OrderStep.CONFIRM: OrderConfirmed,
    OrderStep.FULFILL: OrderFulfilled,
    OrderStep.CANCEL: OrderCancelled,
    OrderStep.PAY: OrderPaid,
}


@requires(Permission.MANAGE_ORDERS)
def confirm_order(ports: Ports, actor: Actor, order_id: str) -> Order:
    """Take an order on (`orderConfirm`); refuses NOT_FOUND, and INVALID unless it is new."""
    return _take(ports, actor, order_id, OrderStep.CONFIRM, "id")


@requires(Permission.MANAGE_ORDERS)
def mark_order_paid(ports: Ports, actor: Actor, order_id: str) -> Order:
    """Note that an order was paid elsewhere (`orderMarkAsPaid`).

    Refuses NOT_FOUND, and PAYMENT_ERROR when it is cancelled, or paid already.
    """
    return _take(ports, actor, order_id, OrderStep.PAY, "id")


@requires(Permission.MANAGE_ORDERS)
def cancel_order(ports: Ports, actor: Actor, order_id: str) -> Order:
    """Call an order off (`orderCancel`).

    Refuses NOT_FOUND, and CANNOT_CANCEL_ORDER when it is fulfilled or cancelled.
    """
    return _take(ports, actor, order_id, OrderStep.CANCEL, "id")


@requires(Permission.MANAGE_ORDERS)
def fulfill_order(ports: Ports, actor: Actor, order_id: str) -> Order:
    """Note that all of an order was sent (`orderFulfill`).

    Refuses, on ``order``, NOT_FOUND, and INVALID unless it is confirmed and waiting.
    """
    return _take(ports, actor, order_id, OrderStep.FULFILL, "order")


def _take(ports: Ports, actor: Actor, order_id: str, step: OrderStep, field: str) -> Order:
    """Take ``step`` and publish its event and ``OrderUpdated``."""
    key = key_of(order_id, "Order", field=field)
    with ports.database.transaction() as session:
        stored = session.get(OrderRecord, key, with_for_update=True)
        if stored is None:
            raise _unknown(field)
        before = _state(stored)
        status = take_step(OrderStatus(stored.status), step, is_paid=stored.is_paid, field=field)
        stored.status = status.value
        stored.is_paid = stored.is_paid or step is OrderStep.PAY
        stored.updated_at = ports.clock.now()
        session.flush()
        add_event(ports, actor, session, _EVENTS[step](key))
        add_event(ports, actor, session, OrderUpdated(key))
        change = Change(
            f"order.{step.value}", "Order", key, str(key), *_differing(before, _state(stored))
        )
        record(ports, actor, session, change)
        order = load_order(session, actor, key)
        if order is None:
            raise _unknown(field)
        return order


def _unknown(field: str) -> Refused:
    return Refused(Problem("NOT_FOUND", "There is no such order.", field))


def _state(stored: OrderRecord) -> dict[str, object]:
    return {"status": stored.status, "is_paid": stored.is_paid}


def _differing(*sides: dict[str, object]) -> list[dict[str, object]]:
    """Return the fields that differ."""
    before, after = sides
    return [{name: side[name] for name in before if before[name] != after[name]} for side in sides]
