"""Orders, from checkout to fulfilment."""

from dataclasses import dataclass

from app.domain.authorization.permissions import Permission
from app.domain.events.event import Event, EventType

_ORDER = (
    "order { id number status isPaid userEmail total { gross { amount currency } } created "
    "updatedAt lines { id productName quantity unitPrice { gross { amount currency } } } }"
)


@dataclass(frozen=True, slots=True)
class OrderCreated(Event):
    type = EventType.ORDER_CREATED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "An order is placed."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderConfirmed(Event):
    type = EventType.ORDER_CONFIRMED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "An order is confirmed by staff."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderPaid(Event):
    type = EventType.ORDER_PAID
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "An order is fully paid."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderUpdated(Event):
    type = EventType.ORDER_UPDATED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "An order changes in any way. The event for that change is sent, too."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderCancelled(Event):
    type = EventType.ORDER_CANCELLED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "An order is cancelled."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderFulfilled(Event):
    type = EventType.ORDER_FULFILLED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "All items of an order have shipped."
    selection = _ORDER
