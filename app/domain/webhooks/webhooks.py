"""Webhooks: their events and fields."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.errors import Problem
from app.domain.values.text_rules import is_storable, prose_problem, turns_text_around
from app.domain.webhooks.permissions import UNKNOWN_SAVER, Saver

MAX_HEADERS = 5
MAX_HEADER_LENGTH = 998
MAX_QUERY_LENGTH = 100_000

_HEADER = re.compile(
    r"X-[!#$%&'*+.^_`|~0-9A-Z-]+|Authorization[0-9A-Z-]*|BrokerProperties",
    re.IGNORECASE | re.ASCII,
)
_VALUE = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?")


ALL_EVENTS_DESCRIPTION = "All events, including those of later versions."
"""What ``ANY_EVENTS`` tells."""


class SyncEvent(StrEnum):
    """Synchronous events: names that clients know, and that nothing here sends."""

    PAYMENT_LIST_GATEWAYS = "PAYMENT_LIST_GATEWAYS"
    PAYMENT_AUTHORIZE = "PAYMENT_AUTHORIZE"
    PAYMENT_CAPTURE = "PAYMENT_CAPTURE"
    PAYMENT_REFUND = "PAYMENT_REFUND"
    PAYMENT_VOID = "PAYMENT_VOID"
    PAYMENT_CONFIRM = "PAYMENT_CONFIRM"
    PAYMENT_PROCESS = "PAYMENT_PROCESS"
    CHECKOUT_CALCULATE_TAXES = "CHECKOUT_CALCULATE_TAXES"
    ORDER_CALCULATE_TAXES = "ORDER_CALCULATE_TAXES"
    TRANSACTION_CHARGE_REQUESTED = "TRANSACTION_CHARGE_REQUESTED"
    TRANSACTION_REFUND_REQUESTED = "TRANSACTION_REFUND_REQUESTED"
    TRANSACTION_CANCELATION_REQUESTED = "TRANSACTION_CANCELATION_REQUESTED"
    SHIPPING_LIST_METHODS_FOR_CHECKOUT = "SHIPPING_LIST_METHODS_FOR_CHECKOUT"
    CHECKOUT_FILTER_SHIPPING_METHODS = "CHECKOUT_FILTER_SHIPPING_METHODS"
    ORDER_FILTER_SHIPPING_METHODS = "ORDER_FILTER_SHIPPING_METHODS"
    PAYMENT_GATEWAY_INITIALIZE_SESSION = "PAYMENT_GATEWAY_INITIALIZE_SESSION"
    TRANSACTION_INITIALIZE_SESSION = "TRANSACTION_INITIALIZE_SESSION"
    TRANSACTION_PROCESS_SESSION = "TRANSACTION_PROCESS_SESSION"
    LIST_STORED_PAYMENT_METHODS = "LIST_STORED_PAYMENT_METHODS"
    STORED_PAYMENT_METHOD_DELETE_REQUESTED = "STORED_PAYMENT_METHOD_DELETE_REQUESTED"
    PAYMENT_GATEWAY_INITIALIZE_TOKENIZATION_SESSION = (
        "PAYMENT_GATEWAY_INITIALIZE_TOKENIZATION_SESSION"
    )
    PAYMENT_METHOD_INITIALIZE_TOKENIZATION_SESSION = (
        "PAYMENT_METHOD_INITIALIZE_TOKENIZATION_SESSION"
    )
    PAYMENT_METHOD_PROCESS_TOKENIZATION_SESSION = "PAYMENT_METHOD_PROCESS_TOKENIZATION_SESSION"

    @property
    def label(self) -> str:
        """The event in plain words."""
        return self.value.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook of an app subscribed to ``events``, with an optional ``query``.

    ``reveal`` returns the secret that signs deliveries instead of the shop's keys, or ``""``,
    ``reveal_headers`` the custom headers. ``saver`` saved it last. ``lacking`` are the app's
    permissions that its reader lacks, who can't see secrets then: both raise
    ``PermissionDenied``.
    """

    id: int
    app_id: int
    name: str
    identifier: str
    target_url: str
    is_active: bool
    query: str
    events: tuple[EventType, ...]
    header_names: tuple[str, ...]
    created_at: datetime
    has_secret: bool = False
    saver: Saver = UNKNOWN_SAVER
    lacking: tuple[Permission, ...] = ()
    reveal: Callable[[], str] = field(default=str, repr=False, compare=False)
    reveal_headers: Callable[[], Mapping[str, str]] = field(
        default=dict, repr=False, compare=False
    )


@dataclass(frozen=True, slots=True)
class WebhookQuery:
    """A subscription query that can be run: the events it is about, in the catalogue's order."""

    text: str
    events: tuple[EventType, ...]


def sync_events_problem(names: Iterable[str], field: str = "syncEvents") -> Problem | None:
    """Return why these synchronous events can't be subscribed to, or ``None`` if there are none.

    Contract, "Webhooks": they exist as names only; subscribing to one is never silently accepted.
    """
    listed = ", ".join(names)
    if not listed:
        return None
    return Problem(
        "INVALID",
        "Synchronous events are not sent here: {names}.",
        field,
        values={"names": listed},
    )


def unsent_events_problem(names: Iterable[str], field: str = "asyncEvents") -> Problem | None:
    """Return why these events of Saleor can't be subscribed to, or ``None`` if there are none."""
    listed = ", ".join(names)
    if not listed:
        return None
    return Problem(
        "INVALID", "These events aren't sent: {names}.", field, values={"names": listed}
    )


def query_problem(query: str) -> Problem | None:
    """Why ``query`` can't be stored; whether it can be run is for the port ``Payloads``."""
    if is_storable(query) and turns_text_around(query):
        message = "Characters that change the text direction are not allowed."
        return Problem("SYNTAX", message, "query")
    return prose_problem(query, "query", max_length=MAX_QUERY_LENGTH)


def headers_problem(headers: Mapping[str, object], field: str = "customHeaders") -> Problem | None:
    """Return why deliveries can't carry ``headers``, or ``None``.

    Names are limited as clients know it, so that none replaces one of ours; case doesn't matter
    (RFC 9110, 5.1).
    """
    problems = [_header_problem(name, value, field) for name, value in headers.items()]
    wrong = [problem for problem in problems if problem is not None]
    if wrong:
        return wrong[-1]
    if len(headers) > MAX_HEADERS:
        message = "Use at most {most} headers; this has {count}."
        values = {"most": MAX_HEADERS, "count": len(headers)}
        return Problem("INVALID_CUSTOM_HEADERS", message, field, values=values)
    if len({name.lower() for name in headers}) < len(headers):
        message = "A header name appears twice. Header names aren't case-sensitive."
        return Problem("INVALID_CUSTOM_HEADERS", message, field)
    return None


def _header_problem(name: str, value: object, field: str) -> Problem | None:
    if not _HEADER.fullmatch(name):
        message = "{name} is not allowed: use X-*, Authorization* or BrokerProperties."
        values: dict[str, object] = {"name": repr(name[:80])}
    elif not isinstance(value, str) or not _VALUE.fullmatch(value):
        message = "The value of {name} must be a line of printable ASCII characters."
        values = {"name": name[:80]}
    elif len(name) + len(value) > MAX_HEADER_LENGTH:
        message = "{name} is longer than {longest} characters."
        values = {"name": name[:80], "longest": MAX_HEADER_LENGTH}
    else:
        return None
    return Problem("INVALID_CUSTOM_HEADERS", message, field, values=values)


def facts_of(webhook: Webhook) -> dict[str, object]:
    """Return a webhook's audit log fields; of secret and headers only whether there are any."""
    return {
        "name": webhook.name,
        "identifier": webhook.identifier,
        "target_url": webhook.target_url,
        "is_active": webhook.is_active,
        "query": webhook.query,
        "events": [event.value for event in webhook.events],
        "custom_headers": sorted(webhook.header_names),
        "has_secret": webhook.has_secret,
    }
