"""What a webhook would be told: shown to staff, or sent by hand to one webhook."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.actor import Actor, ActorKind
from app.domain.deliveries import EventDelivery
from app.domain.errors import PermissionDenied, Problem, Refused
from app.domain.events import EVENTS, Deletion, Event, EventType
from app.domain.events.occurrence import Occurrence
from app.domain.ids import key_of, parse_global_id
from app.domain.webhooks import AsyncEvent
from app.models import (
    AppRecord,
    CheckoutRecord,
    DeliveryRecord,
    GroupRecord,
    OrderRecord,
    ProductRecord,
    UserRecord,
    WebhookRecord,
)
from app.ports import Ports
from app.services.access import staff_only
from app.services.audit import Change, record
from app.services.delivery_lists import DELIVERY_COLUMNS, to_delivery
from app.services.occurrences import subject_of
from app.services.payloads import make_payload
from app.services.stored_apps import stored_app
from app.services.stored_checkouts import token_in
from app.services.stored_deliveries import NewDelivery, store_delivery

_NEWEST: dict[str, InstrumentedAttribute[int]] = {
    "User": UserRecord.id,
    "Group": GroupRecord.id,
    "App": AppRecord.id,
    "Product": ProductRecord.id,
    "Checkout": CheckoutRecord.id,
    "Order": OrderRecord.id,
}


@dataclass(frozen=True, slots=True)
class DryRun:
    """The payload that a delivery would carry now, and the event it would be about."""

    event: EventType
    subject_id: int
    payload: str = field(repr=False)


@staff_only
def dry_run_webhook(
    ports: Ports,
    actor: Actor,
    *,
    object_id: str | None = None,
    query: str | None = None,
    app: str | None = None,
) -> DryRun:
    """What a webhook with ``query`` would be told of the object (`webhookDryRun`).

    A query alone is run on the newest object that its event can be about; an id alone runs the
    default query of an event that fits it. Refuses the codes of the port ``Payloads`` on
    ``query``, INVALID_ID and NOT_FOUND on ``objectId``, NOT_FOUND on ``app``, MISSING_PERMISSION
    where the caller lacks the event's. Sends and writes nothing.
    """
    if query is None and object_id is None:
        raise Refused(Problem("GRAPHQL_ERROR", "Give a query or an object's id.", "query"))
    events = _fitting(object_id) if query is None else ports.payloads.check(query).events
    reader = actor if app is None else _app_actor(ports, actor, app)
    return _run(ports, actor, reader, events, object_id, query or "")


@staff_only
def trigger_webhook(ports: Ports, actor: Actor, webhook_id: str, object_id: str) -> EventDelivery:
    """Send a webhook's payload of that object once more (`webhookTrigger`), as its app sees it.

    Refuses NOT_FOUND on ``webhookId``, MISSING_QUERY on it where it has none, else as
    ``dry_run_webhook`` does.
    """
    key = key_of(webhook_id, "Webhook", field="webhookId")
    with ports.database.reading() as session:
        webhook = session.get(WebhookRecord, key)
    if webhook is None:
        raise Refused(Problem("NOT_FOUND", "There is no such webhook.", "webhookId"))
    if not webhook.query:
        message = "The webhook has no subscription query."
        raise Refused(Problem("MISSING_QUERY", message, "webhookId"))
    events = ports.payloads.check(webhook.query).events
    reader = _app_of(ports, actor, webhook.app_id)
    ran = _run(ports, actor, reader, events, object_id, webhook.query)
    new = NewDelivery(key, ran.event.value, ran.subject_id, ran.payload, actor.issuer)
    with ports.database.transaction() as session:
        made = store_delivery(ports, session, new, ports.clock.now())
        wanted = select(*DELIVERY_COLUMNS).where(DeliveryRecord.id == made)
        row = session.execute(wanted).one()
        delivery = to_delivery(row)
        change = Change("webhook.trigger", "Webhook", key, webhook.name)
        record(ports, actor, session, change)
    return delivery


def _run(
    ports: Ports,
    actor: Actor,
    reader: Actor,
    events: Sequence[AsyncEvent],
    object_id: str | None,
    query: str,
) -> DryRun:
    kind = EVENTS[EventType(events[0].value)]
    if object_id is not None:
        kind = _about(events, object_id)
    if not actor.holds(kind.permission):
        message = f"You need {kind.permission.value} for this event."
        raise Refused(Problem("MISSING_PERMISSION", message))
    if issubclass(kind, Deletion) or kind.subject not in _NEWEST:
        message = "There is nothing to try this event with: what it is about is gone."
        raise Refused(Problem("TYPE_NOT_SUPPORTED", message, "query"))
    key = _newest(ports, kind) if object_id is None else _key(ports, kind, object_id)
    event = kind(subject_id=key)
    now = ports.clock.now()
    if subject_of(ports, actor, Occurrence(event, now)) is None:
        raise Refused(Problem("NOT_FOUND", "There is no such object.", "objectId"))
    try:
        made = make_payload(
            ports,
            reader,
            event,
            query,
            issued_at=now,
            principal=("User", actor.user_id) if actor.is_user else ("", None),
        )
    except PermissionDenied as denied:
        raise Refused(Problem("MISSING_PERMISSION", str(denied))) from None
    if made.problem:
        raise Refused(Problem("GRAPHQL_ERROR", made.problem, "query"))
    return DryRun(kind.type, key, made.text)


def _fitting(object_id: str | None) -> tuple[AsyncEvent, ...]:
    """The events that can be about an object of that type; refuses INVALID_ID."""
    parsed = parse_global_id(object_id or "")
    events = tuple(
        AsyncEvent(kind.value)
        for kind, event in EVENTS.items()
        if parsed is not None and event.subject == parsed[0] and not issubclass(event, Deletion)
    )
    if not events:
        raise Refused(Problem("INVALID_ID", "No event is about that.", "objectId"))
    return events


def _about(events: Sequence[AsyncEvent], object_id: str) -> type[Event]:
    """The first of ``events`` that can be about the object; refuses INVALID_ID."""
    parsed = parse_global_id(object_id)
    for one in events:
        kind = EVENTS[EventType(one.value)]
        if parsed is not None and kind.subject == parsed[0]:
            return kind
    message = "That is no id of an object that the query is about."
    raise Refused(Problem("INVALID_ID", message, "objectId"))


def _key(ports: Ports, kind: type[Event], object_id: str) -> int:
    """The key of that object; of none for a cart that there is not: its id holds no key."""
    if kind.subject != "Checkout":
        return key_of(object_id, kind.subject, field="objectId", code="INVALID_ID")
    wanted = select(CheckoutRecord.id).where(CheckoutRecord.token == token_in(object_id))
    with ports.database.reading() as session:
        return session.scalar(wanted) or 0


def _newest(ports: Ports, kind: type[Event]) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.max(_NEWEST[kind.subject]))) or 0


def _app_actor(ports: Ports, actor: Actor, app: str) -> Actor:
    return _app_of(ports, actor, key_of(app, "App", field="app"))


def _app_of(ports: Ports, actor: Actor, app_id: int) -> Actor:
    with ports.database.reading() as session:
        app = stored_app(session, app_id, "app")
    return Actor(
        ActorKind.APP,
        app_id=app.id,
        name=app.name,
        permissions=app.permissions,
        issuer=actor.issuer,
    )
