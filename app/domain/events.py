"""The events: what each is called, what it is about, and what an app needs to receive it.

The names are the catalogue of the public interface (``WebhookEventTypeAsyncEnum``). ``SUBJECTS``
lists what events can be about, ``EVENTS`` the events. An event names its subject by key; a
deletion carries a snapshot, because its subject can't be read any more.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

from typing_extensions import override

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import parse_global_id, parse_key
from app.domain.values.text import Sentence
from app.domain.values.text_rules import is_storable

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def event_label(name: str) -> str:
    """Return an event in plain words: ``APP_STATUS_CHANGED`` is "App status changed".

    Saleor spells ``ORDER_CANCELLED`` with another L than the order's status.
    """
    return name.replace("_", " ").capitalize().replace("cancelled", "canceled")


class EventType(StrEnum):
    """The asynchronous events in the catalogue's order: the one list of them, by name.

    Webhooks subscribe to each or to ``ANY_EVENTS``, which is no event and so not in ``EVENTS``.
    """

    ANY_EVENTS = "ANY_EVENTS"
    ACCOUNT_CONFIRMATION_REQUESTED = "ACCOUNT_CONFIRMATION_REQUESTED"
    ACCOUNT_CHANGE_EMAIL_REQUESTED = "ACCOUNT_CHANGE_EMAIL_REQUESTED"
    ACCOUNT_EMAIL_CHANGED = "ACCOUNT_EMAIL_CHANGED"
    ACCOUNT_SET_PASSWORD_REQUESTED = "ACCOUNT_SET_PASSWORD_REQUESTED"
    ACCOUNT_CONFIRMED = "ACCOUNT_CONFIRMED"
    ACCOUNT_DELETE_REQUESTED = "ACCOUNT_DELETE_REQUESTED"
    ACCOUNT_DELETED = "ACCOUNT_DELETED"
    ADDRESS_CREATED = "ADDRESS_CREATED"
    ADDRESS_UPDATED = "ADDRESS_UPDATED"
    ADDRESS_DELETED = "ADDRESS_DELETED"
    APP_INSTALLED = "APP_INSTALLED"
    APP_UPDATED = "APP_UPDATED"
    APP_DELETED = "APP_DELETED"
    APP_STATUS_CHANGED = "APP_STATUS_CHANGED"
    CHANNEL_CREATED = "CHANNEL_CREATED"
    CHANNEL_UPDATED = "CHANNEL_UPDATED"
    CHANNEL_DELETED = "CHANNEL_DELETED"
    CHANNEL_STATUS_CHANGED = "CHANNEL_STATUS_CHANGED"
    CHANNEL_METADATA_UPDATED = "CHANNEL_METADATA_UPDATED"
    SHOP_METADATA_UPDATED = "SHOP_METADATA_UPDATED"
    ORDER_CREATED = "ORDER_CREATED"
    ORDER_CONFIRMED = "ORDER_CONFIRMED"
    ORDER_PAID = "ORDER_PAID"
    ORDER_UPDATED = "ORDER_UPDATED"
    ORDER_CANCELLED = "ORDER_CANCELLED"
    ORDER_FULFILLED = "ORDER_FULFILLED"
    CUSTOMER_CREATED = "CUSTOMER_CREATED"
    CUSTOMER_UPDATED = "CUSTOMER_UPDATED"
    CUSTOMER_DELETED = "CUSTOMER_DELETED"
    CUSTOMER_METADATA_UPDATED = "CUSTOMER_METADATA_UPDATED"
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
        return event_label(self)

    @property
    def description(self) -> str:
        """When it happens."""
        return _ALL_EVENTS if self is EventType.ANY_EVENTS else EVENTS[self].description


_ALL_EVENTS: Sentence = "All events, including those of later versions."
NEVER_SENT: Sentence = "Kept for compatibility; never sent."
"""How the API describes such an event, by which commands of another instance leave it out."""


_UNSENT = """
ATTRIBUTE_CREATED ATTRIBUTE_UPDATED ATTRIBUTE_DELETED ATTRIBUTE_VALUE_CREATED
ATTRIBUTE_VALUE_UPDATED ATTRIBUTE_VALUE_DELETED CATEGORY_CREATED CATEGORY_UPDATED CATEGORY_DELETED
GIFT_CARD_CREATED GIFT_CARD_UPDATED GIFT_CARD_DELETED GIFT_CARD_SENT GIFT_CARD_STATUS_CHANGED
GIFT_CARD_METADATA_UPDATED GIFT_CARD_EXPORT_COMPLETED MENU_CREATED MENU_UPDATED MENU_DELETED
MENU_ITEM_CREATED MENU_ITEM_UPDATED MENU_ITEM_DELETED ORDER_FULLY_PAID ORDER_REFUNDED
ORDER_FULLY_REFUNDED ORDER_EXPIRED ORDER_METADATA_UPDATED ORDER_BULK_CREATED FULFILLMENT_CREATED
FULFILLMENT_CANCELED FULFILLMENT_APPROVED FULFILLMENT_METADATA_UPDATED
FULFILLMENT_TRACKING_NUMBER_UPDATED DRAFT_ORDER_CREATED DRAFT_ORDER_UPDATED DRAFT_ORDER_DELETED
SALE_CREATED SALE_UPDATED SALE_DELETED SALE_TOGGLE PROMOTION_CREATED PROMOTION_UPDATED
PROMOTION_DELETED PROMOTION_STARTED PROMOTION_ENDED PROMOTION_RULE_CREATED PROMOTION_RULE_UPDATED
PROMOTION_RULE_DELETED INVOICE_REQUESTED INVOICE_DELETED INVOICE_SENT COLLECTION_CREATED
COLLECTION_UPDATED COLLECTION_DELETED COLLECTION_METADATA_UPDATED PRODUCT_METADATA_UPDATED
PRODUCT_EXPORT_COMPLETED PRODUCT_MEDIA_CREATED PRODUCT_MEDIA_UPDATED PRODUCT_MEDIA_DELETED
PRODUCT_VARIANT_CREATED PRODUCT_VARIANT_UPDATED PRODUCT_VARIANT_DELETED
PRODUCT_VARIANT_METADATA_UPDATED PRODUCT_VARIANT_OUT_OF_STOCK PRODUCT_VARIANT_BACK_IN_STOCK
PRODUCT_VARIANT_STOCK_UPDATED PRODUCT_VARIANT_OUT_OF_STOCK_IN_CHANNEL
PRODUCT_VARIANT_BACK_IN_STOCK_IN_CHANNEL PRODUCT_VARIANT_OUT_OF_STOCK_FOR_CLICK_AND_COLLECT
PRODUCT_VARIANT_BACK_IN_STOCK_FOR_CLICK_AND_COLLECT PRODUCT_VARIANT_DISCOUNTED_PRICE_UPDATED
CHECKOUT_FULLY_AUTHORIZED CHECKOUT_FULLY_PAID CHECKOUT_METADATA_UPDATED NOTIFY_USER PAGE_CREATED
PAGE_UPDATED PAGE_DELETED PAGE_TYPE_CREATED PAGE_TYPE_UPDATED PAGE_TYPE_DELETED
SHIPPING_PRICE_CREATED SHIPPING_PRICE_UPDATED SHIPPING_PRICE_DELETED SHIPPING_ZONE_CREATED
SHIPPING_ZONE_UPDATED SHIPPING_ZONE_DELETED SHIPPING_ZONE_METADATA_UPDATED
TRANSACTION_ACTION_REQUEST TRANSACTION_ITEM_METADATA_UPDATED TRANSLATION_CREATED
TRANSLATION_UPDATED WAREHOUSE_CREATED WAREHOUSE_UPDATED WAREHOUSE_DELETED
WAREHOUSE_METADATA_UPDATED VOUCHER_CREATED VOUCHER_UPDATED VOUCHER_DELETED VOUCHER_CODES_CREATED
VOUCHER_CODES_DELETED VOUCHER_METADATA_UPDATED VOUCHER_CODE_EXPORT_COMPLETED OBSERVABILITY
THUMBNAIL_CREATED
"""
UNSENT_EVENTS = tuple(_UNSENT.split())
"""Saleor's asynchronous events that this service doesn't have: names that clients know."""

_SYNC = """
PAYMENT_LIST_GATEWAYS PAYMENT_AUTHORIZE PAYMENT_CAPTURE PAYMENT_REFUND PAYMENT_VOID PAYMENT_CONFIRM
PAYMENT_PROCESS CHECKOUT_CALCULATE_TAXES ORDER_CALCULATE_TAXES TRANSACTION_CHARGE_REQUESTED
TRANSACTION_REFUND_REQUESTED TRANSACTION_CANCELATION_REQUESTED SHIPPING_LIST_METHODS_FOR_CHECKOUT
CHECKOUT_FILTER_SHIPPING_METHODS ORDER_FILTER_SHIPPING_METHODS PAYMENT_GATEWAY_INITIALIZE_SESSION
TRANSACTION_INITIALIZE_SESSION TRANSACTION_PROCESS_SESSION LIST_STORED_PAYMENT_METHODS
STORED_PAYMENT_METHOD_DELETE_REQUESTED PAYMENT_GATEWAY_INITIALIZE_TOKENIZATION_SESSION
PAYMENT_METHOD_INITIALIZE_TOKENIZATION_SESSION PAYMENT_METHOD_PROCESS_TOKENIZATION_SESSION
"""
SYNC_EVENTS = tuple(_SYNC.split())
"""Saleor's synchronous events: names that clients know, and that nothing here sends."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What events can be about.

    ``type`` is its type in the API and ``field`` the field of an event that shows it;
    ``selection`` are the fields of it that default queries select. ``name`` is what it is called
    in a sentence, ``heading`` heads lists of its events. ``of_staff`` says which people it means:
    staff, customers, or (``None``) either. ``has_token`` says that its global ID holds a token
    instead of its key.
    """

    type: str
    field: str
    permission: Permission
    selection: str
    name: Sentence
    heading: Sentence
    of_staff: bool | None = None
    has_token: bool = False


_USER = "id email firstName lastName isActive isConfirmed"
_PRICE = "{ gross { amount currency } }"

PERSON = Subject("User", "user", Permission.MANAGE_USERS, _USER, "customer", "Accounts")
CUSTOMER = Subject(
    "User", "user", Permission.MANAGE_USERS, _USER, "customer", "Customers", of_staff=False
)
STAFF = Subject(
    "User", "user", Permission.MANAGE_STAFF, _USER, "member of the staff", "Staff", of_staff=True
)
GROUP = Subject(
    "Group",
    "permissionGroup",
    Permission.MANAGE_STAFF,
    "id name",
    "permission group",
    "Permission groups",
)
APP = Subject("App", "app", Permission.MANAGE_APPS, "id name type isActive", "app", "Apps")
PRODUCT = Subject(
    "Product",
    "product",
    Permission.MANAGE_PRODUCTS,
    "id name slug isPublished price { amount currency } created updatedAt",
    "product",
    "Products",
)
ORDER = Subject(
    "Order",
    "order",
    Permission.MANAGE_ORDERS,
    f"id number status isPaid userEmail total {_PRICE} created updatedAt "
    f"lines {{ id productName quantity unitPrice {_PRICE} }}",
    "order",
    "Orders",
)
CHECKOUT = Subject(
    "Checkout",
    "checkout",
    Permission.MANAGE_CHECKOUTS,
    f"id email totalPrice {_PRICE} created updatedAt "
    f"lines {{ id quantity product {{ id name }} unitPrice {_PRICE} }}",
    "cart",
    "Checkouts",
    has_token=True,
)
ADDRESS = Subject(
    "Address",
    "address",
    Permission.MANAGE_USERS,
    "id firstName lastName companyName streetAddress1 streetAddress2 city cityArea postalCode "
    "country { code } countryArea phone",
    "address",
    "Addresses",
)
CHANNEL = Subject(
    "Channel",
    "channel",
    Permission.MANAGE_CHANNELS,
    "id name slug isActive currencyCode defaultCountry { code }",
    "channel",
    "Channels",
)
SHOP = Subject(
    "Shop", "shop", Permission.MANAGE_SETTINGS, "id name metadata { key value }", "shop", "Shop"
)
SUBJECTS = (PERSON, CUSTOMER, STAFF, GROUP, APP, PRODUCT, ORDER, CHECKOUT, ADDRESS, CHANNEL, SHOP)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the subject of that key.

    Each event is a class below, a line long, named like its ``EventType``: what it is about
    (``subject``), when it happens (``when``), and what the default query selects besides the
    subject (``selects``). An app needs ``permission`` to receive it.
    """

    type: ClassVar[EventType]
    subject: ClassVar[Subject]
    permission: ClassVar[Permission]
    description: ClassVar[str]
    selection: ClassVar[str]

    subject_id: int

    @override
    def __init_subclass__(
        cls, subject: Subject | None = None, when: Sentence = "", selects: str = ""
    ) -> None:
        if subject is None:  # a kind of events, such as deletions
            return
        cls.type = EventType[_CAPITAL.sub("_", cls.__name__).upper()]
        cls.subject = subject
        cls.permission = subject.permission
        cls.description = when
        extra = "token redirectUrl" if issubclass(cls, LinkRequested) else ""
        selected = f"{subject.field} {{ {subject.selection} }}"
        cls.selection = " ".join(part for part in (selected, extra, selects) if part)
        _EVENTS[cls.type] = cls


_EVENTS: dict[EventType, type[Event]] = {}


@dataclass(frozen=True, slots=True)
class Deletion(Event):
    """The subject was deleted; ``snapshot`` has the fields of its value, by name."""

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


class AccountConfirmationRequested(
    LinkRequested, subject=PERSON, when="A new customer must confirm their account with a link."
): ...


class AccountChangeEmailRequested(
    LinkRequested,
    subject=PERSON,
    when="A person must confirm their new email with a link.",
    selects="newEmail",
): ...


class AccountEmailChanged(Event, subject=PERSON, when="An account has a new email."): ...


class AccountSetPasswordRequested(
    LinkRequested, subject=PERSON, when="A customer is sent a link to set a password."
): ...


class AccountConfirmed(Event, subject=PERSON, when="An account is confirmed."): ...


class AccountDeleteRequested(
    LinkRequested,
    subject=PERSON,
    when="A customer must confirm the deletion of their account with a link.",
): ...


class AccountDeleted(Deletion, subject=PERSON, when="A person deletes their account."): ...


class AddressCreated(Event, subject=ADDRESS, when="A person has a new address."): ...


class AddressUpdated(Event, subject=ADDRESS, when="An address or its metadata changes."): ...


class AddressDeleted(Deletion, subject=ADDRESS, when="An address is deleted."): ...


class AppInstalled(Event, subject=APP, when="An app is created or installed."): ...


class AppUpdated(Event, subject=APP, when="An app's name or permissions change."): ...


class AppDeleted(Deletion, subject=APP, when="An app is deleted."): ...


class AppStatusChanged(Event, subject=APP, when="An app is activated or deactivated."): ...


class ChannelCreated(Event, subject=CHANNEL, when="A channel is created."): ...


class ChannelUpdated(Event, subject=CHANNEL, when="A channel's details change."): ...


class ChannelDeleted(Deletion, subject=CHANNEL, when="A channel is deleted."): ...


class ChannelStatusChanged(
    Event, subject=CHANNEL, when="A channel is activated or deactivated."
): ...


class ChannelMetadataUpdated(Event, subject=CHANNEL, when="A channel's metadata changes."): ...


class ShopMetadataUpdated(Event, subject=SHOP, when="The shop's metadata changes."): ...


class OrderCreated(Event, subject=ORDER, when="An order is placed."): ...


class OrderConfirmed(Event, subject=ORDER, when="An order is confirmed by staff."): ...


class OrderPaid(Event, subject=ORDER, when="An order is fully paid."): ...


class OrderUpdated(
    Event,
    subject=ORDER,
    when="An order changes in any way. The event for that change is sent, too.",
): ...


class OrderCancelled(Event, subject=ORDER, when="An order is canceled."): ...


class OrderFulfilled(Event, subject=ORDER, when="All items of an order have shipped."): ...


class CustomerCreated(Event, subject=CUSTOMER, when="A customer account is created."): ...


class CustomerUpdated(Event, subject=CUSTOMER, when="A customer's details change."): ...


class CustomerDeleted(Deletion, subject=CUSTOMER, when="A customer account is deleted."): ...


class CustomerMetadataUpdated(Event, subject=CUSTOMER, when="A customer's metadata changes."): ...


class ProductCreated(Event, subject=PRODUCT, when="A product is added."): ...


class ProductUpdated(
    Event, subject=PRODUCT, when="A product changes, or is published or unpublished."
): ...


class ProductDeleted(Deletion, subject=PRODUCT, when="A product is deleted."): ...


class CheckoutCreated(Event, subject=CHECKOUT, when="A cart is created."): ...


class CheckoutUpdated(
    Event, subject=CHECKOUT, when="A cart's items, customer or address change."
): ...


class PermissionGroupCreated(Event, subject=GROUP, when="A permission group is created."): ...


class PermissionGroupUpdated(
    Event, subject=GROUP, when="A permission group's name, permissions or members change."
): ...


class PermissionGroupDeleted(Deletion, subject=GROUP, when="A permission group is deleted."): ...


class StaffCreated(Event, subject=STAFF, when="A staff member is added."): ...


class StaffUpdated(Event, subject=STAFF, when="A staff member's details change."): ...


class StaffDeleted(Deletion, subject=STAFF, when="A staff member is removed."): ...


class StaffSetPasswordRequested(
    LinkRequested, subject=STAFF, when="A staff member is sent a link to set a password."
): ...


EVENTS: Mapping[EventType, type[Event]] = MappingProxyType(_EVENTS)
"""Every event by its type, in the catalogue's order; a test holds it complete."""

ACCOUNT_EVENTS = tuple(
    event
    for event in EVENTS.values()
    if event.subject is PERSON or issubclass(event, LinkRequested)
)
"""What happens to a person's own account: these events tell of the shop, too."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """``event`` happened at that time.

    The principal is named by kind (``User``, ``App``) and key. ``recipient_id`` is the receiving
    app, ``None`` in a dry run without one.
    """

    event: Event
    issued_at: datetime
    principal_type: str = ""
    principal_id: int | None = None
    recipient_id: int | None = None


def default_query(event: type[Event]) -> str:
    """Return the subscription for a webhook that has this event and no query."""
    return f"subscription {{ event {{ ... on {event.__name__} {{ {event.selection} }} }} }}"


def kinds_of(events: Iterable[EventType]) -> tuple[type[Event], ...]:
    """Return the classes of these events; ``ANY_EVENTS`` is all of them."""
    selected = set(events)
    return tuple(
        kind
        for name, kind in EVENTS.items()
        if EventType.ANY_EVENTS in selected or name in selected
    )


def default_kinds() -> tuple[type[Event], ...]:
    """Return the update event of each type of object: what a sample is of unless it is said."""
    return tuple(
        kind
        for name, kind in EVENTS.items()
        if name.value.endswith("_UPDATED") and not name.value.endswith("_METADATA_UPDATED")
    )


@dataclass(frozen=True, slots=True)
class NamedObject:
    """The object that a global ID names: by its ``key``, or by its ``token`` if it has one."""

    type: str
    key: int | None
    token: str


def named_object(object_id: str) -> NamedObject:
    """Parse a global ID; the type of anything else is empty."""
    type_, key = parse_global_id(object_id) or ("", "")
    return NamedObject(type_, parse_key(key), key if is_storable(key) else "")


def kinds_about(kinds: Iterable[type[Event]], named: NamedObject) -> tuple[type[Event], ...]:
    """Return those of ``kinds`` that can be about the object."""
    return tuple(
        kind
        for kind in kinds
        if kind.subject.type == named.type and (kind.subject.has_token or named.key is not None)
    )
