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
    description = "A cart has become an order."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderConfirmed(Event):
    type = EventType.ORDER_CONFIRMED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "The staff has confirmed an order."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderPaid(Event):
    type = EventType.ORDER_PAID
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "An order has been paid."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderUpdated(Event):
    type = EventType.ORDER_UPDATED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "An order has changed in any way; beside the event that says how."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderCancelled(Event):
    type = EventType.ORDER_CANCELLED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "An order has been cancelled."
    selection = _ORDER


@dataclass(frozen=True, slots=True)
class OrderFulfilled(Event):
    type = EventType.ORDER_FULFILLED
    subject = "Order"
    permission = Permission.MANAGE_ORDERS
    description = "Everything that was ordered has been sent."
    selection = _ORDER
