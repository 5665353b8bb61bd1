"""Webhooks: their fields, permissions, and events that can't be subscribed to.

A webhook has its app's permissions, limited by those of a limited token that saved it. The API
reads deliveries of temporary endpoints instead of their being sent. Events are in ``events``.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission, in_order
from app.domain.deliveries.deliveries import MAX_RATE
from app.domain.events import EVENTS, EventType
from app.domain.values.errors import PermissionDenied, Problem
from app.domain.values.text import Sentence
from app.domain.values.text_rules import is_storable, prose_problem, turns_text_around


@dataclass(frozen=True, slots=True)
class Saver:
    """The last saver of a webhook, and the permissions they held; ``None`` for no limit.

    ``kind`` is empty if unknown: the webhook is older than this record.
    """

    kind: ActorKind | None = None
    name: str = ""
    permissions: frozenset[Permission] | None = None

    @property
    def token_limit(self) -> frozenset[Permission] | None:
        """The limit of the app token that saved it; ``None`` for a token without one, or people.

        People hold all permissions of the app when they save, and what it is granted later is
        confirmed for their webhooks (``services/webhooks/app_reach``).
        """
        return self.permissions if self.kind is ActorKind.APP else None

    def payload_permissions(self, of_app: frozenset[Permission]) -> frozenset[Permission]:
        """Return the permissions that the webhook's payloads are read with."""
        limit = self.token_limit
        return of_app if limit is None else of_app & limit

    def link_permissions(self, of_app: frozenset[Permission]) -> frozenset[Permission]:
        """Return the permissions that count for receiving a link's secret.

        The saver chose the target, so what they lacked counts too.
        """
        return of_app if self.permissions is None else of_app & self.permissions


UNKNOWN_SAVER = Saver()


def saver_of(actor: Actor) -> Saver:
    """Return ``actor`` as the saver of a webhook."""
    if actor.is_trusted:
        return Saver(actor.kind, actor.name)
    permissions = actor.token_limit if actor.is_app else actor.held_everywhere
    return Saver(actor.kind, actor.name, permissions)


def is_within_limit(actor: Actor, saver: Saver) -> bool:
    """Whether ``actor`` gains nothing by a webhook that ``saver`` saved.

    A limited app token does by every webhook that was saved with more than its limit: it could
    read what that was sent, or have it sent elsewhere.
    """
    if actor.token_limit is None:
        return True
    return saver.token_limit is not None and saver.token_limit <= actor.token_limit


def lacking_of_app(actor: Actor, of_app: frozenset[Permission]) -> tuple[Permission, ...]:
    """Return the permissions of an app, ``of_app``, that ``actor`` lacks; none for an app.

    A webhook receives all that its app can read. So only people who hold all of the app's
    permissions, in all channels, manage its webhooks, and see their payloads and secrets.
    """
    viewer = actor.viewer
    return () if viewer.is_app else in_order(of_app - viewer.held_everywhere)


def require_all_of_app(actor: Actor, of_app: frozenset[Permission]) -> None:
    """Raise ``PermissionDenied`` unless ``actor`` can manage webhooks of such an app."""
    lacking = lacking_of_app(actor, of_app)
    if lacking:
        raise app_permissions_denied(lacking)


def app_permissions_denied(lacking: tuple[str, ...]) -> PermissionDenied:
    """Return the error for a person who lacks these permissions of a webhook's app."""
    names = ", ".join(lacking)
    message = f"For this app's webhooks, you need all permissions of the app. You lack: {names}"
    return PermissionDenied(*lacking, message=message, needs_all=True)


def may_receive_link(
    permissions: frozenset[Permission], needed: Permission | None, subject: User | None
) -> bool:
    """Whether a webhook with the permissions ``permissions`` can receive a link's secret.

    ``needed`` is the event's permission. ``subject`` is the link's user with all permissions; a
    deleted one holds none, and the link opens nothing. No app holds all of a superuser's
    permissions, so a superuser's link goes to no webhook.
    """
    rights = set() if subject is None else set(subject.permissions)
    if subject is not None and subject.is_staff:
        rights.add(Permission.MANAGE_STAFF)
    if needed is not None:
        rights.add(needed)
    return rights <= permissions


MAX_HEADERS = 5
MAX_HEADER_LENGTH = 998
MAX_QUERY_LENGTH = 100_000

_HEADER = re.compile(
    r"X-[!#$%&'*+.^_`|~0-9A-Z-]+|Authorization[0-9A-Z-]*|BrokerProperties",
    re.IGNORECASE | re.ASCII,
)
_VALUE = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?")


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook of an app subscribed to ``events``, with an optional ``query``.

    ``reveal`` returns the secret that signs deliveries instead of the shop's keys, or ``""``,
    ``reveal_headers`` the custom headers, ``sealed`` both as they are stored. ``saver`` saved it
    last. ``paused_at`` is set while events wait, ``max_rate`` is requests a second, 0 for any.
    ``lacking`` are the app's permissions that its reader lacks, who can't see secrets then:
    both functions raise ``PermissionDenied``.
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
    paused_at: datetime | None = None
    max_rate: int = 0
    lacking: tuple[Permission, ...] = ()
    sealed: str = field(default="", repr=False, compare=False)
    reveal: Callable[[], str] = field(default=str, repr=False, compare=False)
    reveal_headers: Callable[[], Mapping[str, str]] = field(
        default=dict, repr=False, compare=False
    )

    @property
    def is_paused(self) -> bool:
        return self.paused_at is not None


def sync_events_problem(names: Iterable[str]) -> Problem | None:
    """Return why these synchronous events can't be subscribed to, or ``None`` if there are none.

    Contract, "Webhooks": they exist as names only; subscribing to one is never silently accepted.
    """
    return _names_problem("Synchronous events are not sent here: {names}.", names, "syncEvents")


def unsent_events_problem(names: Iterable[str], field: str = "asyncEvents") -> Problem | None:
    """Return why these events of Saleor can't be subscribed to, or ``None`` if there are none."""
    return _names_problem("These events aren't sent: {names}.", names, field)


def _names_problem(message: Sentence, names: Iterable[str], field: str) -> Problem | None:
    listed = ", ".join(names)
    return Problem("INVALID", message, field, values={"names": listed}) if listed else None


def query_problem(query: str) -> Problem | None:
    """Return why ``query`` can't be stored; whether it can be run is for the port ``Payloads``."""
    if is_storable(query) and turns_text_around(query):
        message = "Characters that change the text direction are not allowed."
        return Problem("SYNTAX", message, "query")
    return prose_problem(query, "query", max_length=MAX_QUERY_LENGTH)


def rate_problem(rate: int | None) -> Problem | None:
    """Return why an endpoint's rate can't be ``rate``, or ``None``; no rate is no limit."""
    if rate is None or 0 <= rate <= MAX_RATE:
        return None
    message = "Enter a number of requests a second from 1 to {most}, or 0 for no limit."
    return Problem("INVALID", message, "maxRate", values={"most": MAX_RATE})


def headers_problem(headers: Mapping[str, object]) -> Problem | None:
    """Return why deliveries can't carry ``headers``, or ``None``.

    Names are limited as clients know it, so that they can't replace Latchkey's. Case doesn't
    matter (RFC 9110, 5.1).
    """
    problems = [_header_problem(name, value) for name, value in headers.items()]
    wrong = [problem for problem in problems if problem is not None]
    if wrong:
        return wrong[-1]
    if len(headers) > MAX_HEADERS:
        message = "Use at most {most} headers; this has {count}."
        return _invalid_headers(message, {"most": MAX_HEADERS, "count": len(headers)})
    if len({name.lower() for name in headers}) < len(headers):
        message = "A header name appears twice. Header names aren't case-sensitive."
        return _invalid_headers(message, {})
    return None


def _header_problem(name: str, value: object) -> Problem | None:
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
    return _invalid_headers(message, values)


def _invalid_headers(message: Sentence, values: Mapping[str, object]) -> Problem:
    return Problem("INVALID_CUSTOM_HEADERS", message, "customHeaders", values=values)


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
        "is_paused": webhook.is_paused,
        "max_rate": webhook.max_rate,
    }


def editable_facts(webhook: Webhook) -> dict[str, object]:
    """Return what can be edited of a webhook, to compare: secrets are encrypted in it."""
    return {**facts_of(webhook), "custom_headers": webhook.sealed}


def required_permission(event: str) -> Permission | None:
    """Return the permission that an app needs to receive an event; ``None`` if unknown.

    ``ANY_EVENTS`` needs none: it means the events that the app is permitted.
    """
    return EVENTS[EventType(event)].permission if event in EVENTS else None


def not_permitted(
    events: Collection[str], permissions: Collection[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return those of ``events`` that an app isn't permitted, by the missing permission.

    An event is delivered only while the app holds its permission (contract, "Webhooks"). Unknown
    events of other versions are left out. ``ANY_EVENTS`` means the permitted ones, and is reported
    only if there are none.
    """
    is_any = EventType.ANY_EVENTS.value in events
    found: dict[str, tuple[str, ...]] = {}
    for name, event in EVENTS.items():
        permission = event.permission.value
        if not (is_any or name.value in events):
            continue
        if permission not in permissions:
            found[permission] = (*found.get(permission, ()), name.value)
        elif is_any:
            return {}
    return found


def receives_nothing(events: Collection[str], permissions: Collection[str]) -> bool:
    """Whether an app with those permissions receives none of these events."""
    names = {name for group in not_permitted(events, permissions).values() for name in group}
    return bool(names) and (EventType.ANY_EVENTS.value in events or names.issuperset(events))


TEMPORARY_URL = "https://listen.invalid/"
"""The endpoint URL that marks one; RFC 2606 reserves ``.invalid``, so nothing answers there."""

MAX_TEMPORARY_AGE = timedelta(hours=24)
"""The age at which a temporary endpoint is deleted if its command hasn't deleted it."""


def is_temporary(target_url: str) -> bool:
    """Return whether the webhook with that endpoint URL is a temporary endpoint."""
    return target_url == TEMPORARY_URL


TEMPORARY_NAME = re.compile(r"flask webhook listen \(temporary, ([0-9a-f]{8})-(\d{1,9})\)")
"""The name of a temporary endpoint and of the app created for it: a machine and a process."""


def has_own_app(webhook_name: str, app_name: str) -> bool:
    """Return whether the app was created for the endpoint, and so ends with it.

    Who can create a webhook for an app can't always delete the app, so a webhook that only takes
    the app's name must not be enough.
    """
    return app_name == webhook_name and TEMPORARY_NAME.fullmatch(app_name) is not None
