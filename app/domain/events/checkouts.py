"""Carts, until they become orders."""

from dataclasses import dataclass

from app.domain.authorization.permissions import Permission
from app.domain.events.event import Event, EventType

_CHECKOUT = (
    "checkout { id email totalPrice { gross { amount currency } } created updatedAt lines "
    "{ id quantity product { id name } unitPrice { gross { amount currency } } } }"
)


@dataclass(frozen=True, slots=True)
class CheckoutCreated(Event):
    type = EventType.CHECKOUT_CREATED
    subject = "Checkout"
    permission = Permission.MANAGE_CHECKOUTS
    description = "A cart is created."
    selection = _CHECKOUT


@dataclass(frozen=True, slots=True)
class CheckoutUpdated(Event):
    type = EventType.CHECKOUT_UPDATED
    subject = "Checkout"
    permission = Permission.MANAGE_CHECKOUTS
    description = "A cart's items, customer or address change."
    selection = _CHECKOUT
