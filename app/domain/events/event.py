"""The base of all events: a frozen value that names its subject by key."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from app.domain.authorization.permissions import Permission


class EventType(StrEnum):
    """The asynchronous events in the catalogue's order: the one list of them, by name.

    Webhooks subscribe to each or to ``ANY_EVENTS``, which is no event itself and so not in
    ``EVENTS``.
    """

    ANY_EVENTS = "ANY_EVENTS"
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
    ORDER_CREATED = "ORDER_CREATED"
    ORDER_CONFIRMED = "ORDER_CONFIRMED"
    ORDER_PAID = "ORDER_PAID"
    ORDER_UPDATED = "ORDER_UPDATED"
    ORDER_CANCELLED = "ORDER_CANCELLED"
    ORDER_FULFILLED = "ORDER_FULFILLED"
    CUSTOMER_CREATED = "CUSTOMER_CREATED"
    CUSTOMER_UPDATED = "CUSTOMER_UPDATED"
    CUSTOMER_DELETED = "CUSTOMER_DELETED"
    PRODUCT_CREATED = "PRODUCT_CREATED"
    PRODUCT_UPDATED = "PRODUCT_UPDATED"
    PRODUCT_DELETED = "PRODUCT_DELETED"
    CHECKOUT_CREATED = "CHECKOUT_CREATED"
    CHECKOUT_UPDATED = "CHECKOUT_UPDATED"
    PERMISSION_GROUP_CREATED = "PERMISSION_GROUP_CREATED"
    PERMISSION_GROUP_UPDATED = "PERMISSION_GROUP_UPDATED"
    PERMISSION_GROUP_DELETED = "PERMISSION_GROUP_DELETED"
    STAFF_CREATED = "STAFF_CREATED"
    STAFF_UPDATED = "STAFF_UPDATED"
    STAFF_DELETED = "STAFF_DELETED"
    STAFF_SET_PASSWORD_REQUESTED = "STAFF_SET_PASSWORD_REQUESTED"

    @property
    def label(self) -> str:
        """The event in plain words: ``APP_STATUS_CHANGED`` is "App status changed"."""
        return self.value.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the subject of that key.

    An app needs ``permission`` to receive it; ``subject`` is the subject's GraphQL type;
    ``description`` says when it happens. ``selection`` is the default query's: fields of the
    GraphQL type named like the class. ``of_staff`` says which people it can be about: staff,
    customers, or (``None``) either.
    """

    type: ClassVar[EventType]
    subject: ClassVar[str]
    permission: ClassVar[Permission]
    description: ClassVar[str]
    selection: ClassVar[str]
    of_staff: ClassVar[bool | None] = None

    subject_id: int


@dataclass(frozen=True, slots=True)
class Deletion(Event):
    """The subject is gone; ``snapshot`` is what it was, by the names of its value's fields."""

    snapshot: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkRequested(Event):
    """A link was requested; ``token`` is its secret, encrypted wherever it is stored.

    It is ``None`` for a webhook that must not receive it. ``mail_kind`` is the kind of the email
    with the link, ``mail_sender`` who was to send it then; "" in events of earlier versions.
    """

    token: str | None = field(default="", repr=False)
    redirect_url: str = ""
    new_email: str = ""
    mail_kind: str = ""
    mail_sender: str = ""


def default_query(event: type[Event]) -> str:
    """Return the subscription for a webhook that has this event and no query."""
    return f"subscription {{ event {{ ... on {event.__name__} {{ {event.selection} }} }} }}"
