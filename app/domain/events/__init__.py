"""The events: one frozen class each, all of them in ``EVENTS``.

The names are the catalogue of the public interface (``WebhookEventTypeAsyncEnum``). An event names
its subject by key; a deletion carries a snapshot, because its subject can't be read any more.
"""

from collections.abc import Mapping
from types import MappingProxyType

from app.domain.events.accounts import (
    AccountChangeEmailRequested,
    AccountConfirmationRequested,
    AccountConfirmed,
    AccountDeleted,
    AccountEmailChanged,
    AccountSetPasswordRequested,
)
from app.domain.events.apps import (
    AppDeleted,
    AppInstalled,
    AppStatusChanged,
    AppUpdated,
)
from app.domain.events.checkouts import (
    CheckoutCreated,
    CheckoutUpdated,
)
from app.domain.events.event import (
    Deletion,
    Event,
    EventType,
    LinkRequested,
    UnsentEvent,
    default_query,
    event_named,
)
from app.domain.events.orders import (
    OrderCancelled,
    OrderConfirmed,
    OrderCreated,
    OrderFulfilled,
    OrderPaid,
    OrderUpdated,
)
from app.domain.events.products import (
    ProductCreated,
    ProductDeleted,
    ProductUpdated,
)
from app.domain.events.users import (
    CustomerCreated,
    CustomerDeleted,
    CustomerUpdated,
    PermissionGroupCreated,
    PermissionGroupDeleted,
    PermissionGroupUpdated,
    StaffCreated,
    StaffDeleted,
    StaffSetPasswordRequested,
    StaffUpdated,
)

__all__ = [
    "EVENTS",
    "AccountChangeEmailRequested",
    "AccountConfirmationRequested",
    "AccountConfirmed",
    "AccountDeleted",
    "AccountEmailChanged",
    "AccountSetPasswordRequested",
    "AppDeleted",
    "AppInstalled",
    "AppStatusChanged",
    "AppUpdated",
    "CheckoutCreated",
    "CheckoutUpdated",
    "CustomerCreated",
    "CustomerDeleted",
    "CustomerUpdated",
    "Deletion",
    "Event",
    "EventType",
    "LinkRequested",
    "OrderCancelled",
    "OrderConfirmed",
    "OrderCreated",
    "OrderFulfilled",
    "OrderPaid",
    "OrderUpdated",
    "PermissionGroupCreated",
    "PermissionGroupDeleted",
    "PermissionGroupUpdated",
    "ProductCreated",
    "ProductDeleted",
    "ProductUpdated",
    "StaffCreated",
    "StaffDeleted",
    "StaffSetPasswordRequested",
    "StaffUpdated",
    "UnsentEvent",
    "default_query",
    "event_named",
]

EVENTS: Mapping[EventType, type[Event]] = MappingProxyType(
    {
        event.type: event
        for event in (
            AccountConfirmationRequested,
            AccountChangeEmailRequested,
            AccountEmailChanged,
            AccountSetPasswordRequested,
            AccountConfirmed,
            AccountDeleted,
            AppInstalled,
            AppUpdated,
            AppDeleted,
            AppStatusChanged,
            OrderCreated,
            OrderConfirmed,
            OrderPaid,
            OrderUpdated,
            OrderCancelled,
            OrderFulfilled,
            CustomerCreated,
            CustomerUpdated,
            CustomerDeleted,
            ProductCreated,
            ProductUpdated,
            ProductDeleted,
            CheckoutCreated,
            CheckoutUpdated,
            PermissionGroupCreated,
            PermissionGroupUpdated,
            PermissionGroupDeleted,
            StaffCreated,
            StaffUpdated,
            StaffDeleted,
            StaffSetPasswordRequested,
        )
    }
)
"""Every event by its type, in the catalogue's order; a test holds it complete."""
