"""What happened: one frozen class an event, all of them in ``EVENTS``.

The names are the catalogue of the public interface (``WebhookEventTypeAsyncEnum``). An event names
its subject by key; a deletion carries a snapshot, because there is nothing left to read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

from app.domain.permissions import Permission


class EventType(StrEnum):
    """The asynchronous events that have a class; the catalogue's order."""

    ACCOUNT_CONFIRMATION_REQUESTED = "ACCOUNT_CONFIRMATION_REQUESTED"
    ACCOUNT_CHANGE_EMAIL_REQUESTED = "ACCOUNT_CHANGE_EMAIL_REQUESTED"
    ACCOUNT_EMAIL_CHANGED = "ACCOUNT_EMAIL_CHANGED"
    ACCOUNT_SET_PASSWORD_REQUESTED = "ACCOUNT_SET_PASSWORD_REQUESTED"
    ACCOUNT_CONFIRMED = "ACCOUNT_CONFIRMED"
    ACCOUNT_DELETED = "ACCOUNT_DELETED"
    APP_INSTALLED = "APP_INSTALLED"
    APP_UPDATED = "APP_UPDATED"
    APP_DELETED = "APP_DELETED"
    APP_STATUS_CHANGED = "APP_STATUS_CHANGED"
    CUSTOMER_CREATED = "CUSTOMER_CREATED"
    CUSTOMER_UPDATED = "CUSTOMER_UPDATED"
    CUSTOMER_DELETED = "CUSTOMER_DELETED"
    PERMISSION_GROUP_CREATED = "PERMISSION_GROUP_CREATED"
    PERMISSION_GROUP_UPDATED = "PERMISSION_GROUP_UPDATED"
    PERMISSION_GROUP_DELETED = "PERMISSION_GROUP_DELETED"
    STAFF_CREATED = "STAFF_CREATED"
    STAFF_UPDATED = "STAFF_UPDATED"
    STAFF_DELETED = "STAFF_DELETED"
    STAFF_SET_PASSWORD_REQUESTED = "STAFF_SET_PASSWORD_REQUESTED"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the subject of that key.

    ``permission`` is what an app must hold to hear of it; ``subject`` is the subject's GraphQL
    type.
    """

    type: ClassVar[EventType]
    subject: ClassVar[str]
    permission: ClassVar[Permission]

    subject_id: int


@dataclass(frozen=True, slots=True)
class Deletion(Event):
    """The subject is gone; ``snapshot`` is what it was, by the names of its value's fields."""

    snapshot: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkRequested(Event):
    """Somebody asked for a link; ``token`` is the secret in it, kept sealed wherever it waits."""

    token: str = field(default="", repr=False)
    redirect_url: str = ""
    new_email: str = ""


@dataclass(frozen=True, slots=True)
class AccountConfirmationRequested(LinkRequested):
    type = EventType.ACCOUNT_CONFIRMATION_REQUESTED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class AccountChangeEmailRequested(LinkRequested):
    type = EventType.ACCOUNT_CHANGE_EMAIL_REQUESTED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class AccountEmailChanged(Event):
    type = EventType.ACCOUNT_EMAIL_CHANGED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class AccountSetPasswordRequested(LinkRequested):
    type = EventType.ACCOUNT_SET_PASSWORD_REQUESTED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class AccountConfirmed(Event):
    type = EventType.ACCOUNT_CONFIRMED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class AccountDeleted(Deletion):
    type = EventType.ACCOUNT_DELETED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class AppInstalled(Event):
    type = EventType.APP_INSTALLED
    subject = "App"
    permission = Permission.MANAGE_APPS


@dataclass(frozen=True, slots=True)
class AppUpdated(Event):
    type = EventType.APP_UPDATED
    subject = "App"
    permission = Permission.MANAGE_APPS


@dataclass(frozen=True, slots=True)
class AppDeleted(Deletion):
    type = EventType.APP_DELETED
    subject = "App"
    permission = Permission.MANAGE_APPS


@dataclass(frozen=True, slots=True)
class AppStatusChanged(Event):
    type = EventType.APP_STATUS_CHANGED
    subject = "App"
    permission = Permission.MANAGE_APPS


@dataclass(frozen=True, slots=True)
class CustomerCreated(Event):
    type = EventType.CUSTOMER_CREATED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class CustomerUpdated(Event):
    type = EventType.CUSTOMER_UPDATED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class CustomerDeleted(Deletion):
    type = EventType.CUSTOMER_DELETED
    subject = "User"
    permission = Permission.MANAGE_USERS


@dataclass(frozen=True, slots=True)
class PermissionGroupCreated(Event):
    type = EventType.PERMISSION_GROUP_CREATED
    subject = "Group"
    permission = Permission.MANAGE_STAFF


@dataclass(frozen=True, slots=True)
class PermissionGroupUpdated(Event):
    type = EventType.PERMISSION_GROUP_UPDATED
    subject = "Group"
    permission = Permission.MANAGE_STAFF


@dataclass(frozen=True, slots=True)
class PermissionGroupDeleted(Deletion):
    type = EventType.PERMISSION_GROUP_DELETED
    subject = "Group"
    permission = Permission.MANAGE_STAFF


@dataclass(frozen=True, slots=True)
class StaffCreated(Event):
    type = EventType.STAFF_CREATED
    subject = "User"
    permission = Permission.MANAGE_STAFF


@dataclass(frozen=True, slots=True)
class StaffUpdated(Event):
    type = EventType.STAFF_UPDATED
    subject = "User"
    permission = Permission.MANAGE_STAFF


@dataclass(frozen=True, slots=True)
class StaffDeleted(Deletion):
    type = EventType.STAFF_DELETED
    subject = "User"
    permission = Permission.MANAGE_STAFF


@dataclass(frozen=True, slots=True)
class StaffSetPasswordRequested(LinkRequested):
    type = EventType.STAFF_SET_PASSWORD_REQUESTED
    subject = "User"
    permission = Permission.MANAGE_STAFF


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
            CustomerCreated,
            CustomerUpdated,
            CustomerDeleted,
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
"""Every event by its type; a test holds it complete."""
