"""Show what a webhook would send, or send it to one webhook by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app import models
from app.domain import events
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.deliveries.deliveries import EventDelivery
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import key_of
from app.domain.values.text import Phrase, Phrases, translatable
from app.domain.webhooks import UNKNOWN_SAVER, Saver, Webhook, require_all_of_app
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import staff_and_apps, staff_only
from app.services.deliveries.fanout import NewDelivery, store_delivery
from app.services.identity.stored_apps import stored_app
from app.services.outbox.base_url import issuer_of
from app.services.webhooks.event_subjects import sample_event
from app.services.webhooks.payloads import make_payload
from app.services.webhooks.stored_webhooks import read_webhooks

Kinds = Sequence[type[events.Event]]


@dataclass(frozen=True, slots=True)
class DryRun:
    """The payload that a delivery would carry now, and the event it would be about."""

    event: events.EventType
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
    event: events.EventType | None = None,
) -> DryRun:
    """Return the payload that ``query`` would send for the object (`webhookDryRun`).

    A query alone runs on the newest object that fits its event; an id alone runs the default query
    of the update event of such an object. A deletion is shown as if the object were deleted now; a
    link has no token. With ``app`` its permissions count, else the caller's; its webhooks and
    their secrets need MANAGE_APPS. Raises ``PermissionDenied`` to people who lack one of the app's
    permissions. With ``event`` the query is run for that one of its events.

    Refuses MISSING_EVENT on ``event`` if the query isn't about it, the codes of the port
    ``Payloads`` on ``query``, INVALID_ID on ``objectId`` for an id of another type, NOT_FOUND if
    there is no such object (or none yet), NOT_FOUND on ``app``, MISSING_PERMISSION if caller or
    app lack the event's. Sends and writes nothing.
    """
    if query is None and object_id is None:
        raise Refused(Problem("GRAPHQL_ERROR", "Enter a query or an object ID.", "query"))
    reader = actor if app is None else _app_actor(ports, actor, key_of(app, "App", field="app"))
    kinds = events.default_kinds() if query is None else _kinds(ports, query)
    if event is not None:
        kinds = _kinds_of_event(kinds, event)
    return _run(ports, actor, reader, kinds, object_id, query or "")


@staff_only
def trigger_webhook(
    ports: Ports,
    actor: Actor,
    webhook_id: str,
    object_id: str | None = None,
    event: str | None = None,
) -> EventDelivery:
    """Send a webhook's payload of that object once more (`webhookTrigger`), as its app sees it.

    Without an id, the newest object that fits, as in ``dry_run_webhook``. A webhook without a
    query sends the default query of its first event that fits, or of ``event``. Raises
    ``PermissionDenied`` to people who lack a permission of the app. Refuses NOT_FOUND on
    ``webhookId``, MISSING_QUERY on it without subscribed events, else as ``dry_run_webhook``.
    """
    webhook = _webhook(ports, key_of(webhook_id, "Webhook", field="webhookId"))
    reader = _app_actor(ports, actor, webhook.app_id, webhook.saver)
    query = webhook.query
    kinds = _kinds(ports, query) if query else events.kinds_of(webhook.events)
    if not kinds:
        message = "The webhook has neither a subscription query nor events. Add one of them."
        raise Refused(Problem("MISSING_QUERY", message, "webhookId"))
    if event is not None:
        kinds = _kinds_of_event(kinds, event)
    ran = _run(ports, actor, reader, kinds, object_id, query)
    issuer = issuer_of(ports, actor.issuer)
    new = NewDelivery(webhook.id, ran.event.value, ran.subject_id, ran.payload, issuer)
    now = ports.shared_clock.now()
    with ports.database.transaction() as session:
        key = store_delivery(ports, session, new, now)
        change = Change("webhook.trigger", "Webhook", webhook.id, webhook.name)
        record(ports, actor, session, change)
    return EventDelivery(key, webhook.id, new.event, new.status, now, ran.payload)


@staff_and_apps
def sample_payload(ports: Ports, actor: Actor, event: str) -> str | None:
    """Return the payload of the default query of ``event`` (`webhookSamplePayload`), as JSON.

    It is about the newest object that the caller can see; ``None`` without one, and for an event
    that isn't sent. Raises ``PermissionDenied`` naming the event's permission.
    """
    if event not in events.EVENTS:
        return None
    kind = events.EVENTS[events.EventType(event)]
    if not actor.holds(kind.permission):
        raise PermissionDenied(kind.permission)
    try:
        return _run(ports, actor, actor, [kind], None, "").payload
    except Refused as refused:
        if all(problem.code == "NOT_FOUND" for problem in refused.problems):
            return None
        raise


def _kinds(ports: Ports, query: str) -> Kinds:
    """The events that a query is about; refuses what the port ``Payloads`` does, on ``query``."""
    try:
        return events.kinds_of(ports.payloads.check(query))
    except Refused as refused:
        # Trying has no code of its own for a query that asks for too much.
        raise Refused(
            *(
                replace(problem, code="GRAPHQL_ERROR") if problem.code == "INVALID" else problem
                for problem in refused.problems
            )
        ) from None


def _kinds_of_event(kinds: Kinds, event: str) -> Kinds:
    chosen = [kind for kind in kinds if kind.type == event]
    if not chosen:
        message = "The query doesn't subscribe to {event}, but to {subscribed}."
        subscribed = Phrases(kind.type.label for kind in kinds)
        values = {"event": Phrase(events.event_label(event)), "subscribed": subscribed}
        raise Refused(Problem("MISSING_EVENT", message, "event", values=values))
    return chosen


def _run(
    ports: Ports, actor: Actor, reader: Actor, kinds: Kinds, object_id: str | None, query: str
) -> DryRun:
    named = None if object_id is None else events.named_object(object_id)
    if named is not None:
        kinds = events.kinds_about(kinds, named)
    if not kinds:
        message = "This ID does not match the query's object type."
        raise Refused(Problem("INVALID_ID", message, "objectId"))
    event = _sample(ports, actor, _permitted(actor, reader, kinds), named)
    occurrence = events.Occurrence(
        event,
        issued_at=ports.clock.now(),
        principal_type="User" if actor.is_user else "",
        principal_id=actor.user_id if actor.is_user else None,
        recipient_id=reader.app_id,
    )
    try:
        payload = make_payload(ports, reader, query, occurrence)
    except PermissionDenied as denied:
        message = "{denied}"
        values = {"denied": Phrase(denied)}
        raise Refused(Problem("MISSING_PERMISSION", message, values=values)) from None
    if payload.problem:
        values = {"problem": Phrase(payload.problem)}
        raise Refused(Problem("GRAPHQL_ERROR", "{problem}", "query", values=values))
    return DryRun(event.type, event.subject_id, payload.text)


def _permitted(actor: Actor, reader: Actor, kinds: Kinds) -> Kinds:
    """Return the events that caller and app are permitted; refuses MISSING_PERMISSION."""
    for viewer in (actor, reader):
        needed = dict.fromkeys(kind.permission.value for kind in kinds)
        kinds = [kind for kind in kinds if viewer.holds(kind.permission)]
        if not kinds:
            message = "You need {needed} to preview this event."
            if viewer.is_app:
                message = "The app {app} needs {needed} to receive this event."
            values = {"app": viewer.name, "needed": ", ".join(needed)}
            raise Refused(Problem("MISSING_PERMISSION", message, values=values))
    return kinds


def _sample(
    ports: Ports, actor: Actor, kinds: Kinds, named: events.NamedObject | None
) -> events.Event:
    """Return the first of ``kinds`` with an object; refuses NOT_FOUND on ``objectId``."""
    for kind in kinds:
        event = sample_event(ports, actor, kind, named)
        if event is not None:
            return event
    if named is None:
        what = Phrases((kind.subject.name for kind in kinds), joint=translatable(" or "))
        message = "There is no {what} to preview yet. Create one first."
        raise Refused(Problem("NOT_FOUND", message, "objectId", values={"what": what}))
    message = "Object not found, or not an object of this event."
    raise Refused(Problem("NOT_FOUND", message, "objectId"))


def _webhook(ports: Ports, key: int) -> Webhook:
    with ports.database.reading() as session:
        stored = session.get(models.Webhook, key)
        if stored is None:
            raise Refused(Problem("NOT_FOUND", "There is no such webhook.", "webhookId"))
        return read_webhooks(ports, session, [stored])[0]


def _app_actor(ports: Ports, actor: Actor, app_id: int, saver: Saver = UNKNOWN_SAVER) -> Actor:
    """Return the app as payloads are read for it, those of a webhook that ``saver`` saved.

    Raises ``PermissionDenied`` to people who lack one of its permissions.
    """
    with ports.database.reading() as session:
        app = stored_app(session, app_id, "app")
    require_all_of_app(actor, app.permissions)
    return Actor(
        ActorKind.APP,
        app_id=app.id,
        name=app.name,
        permissions=saver.payload_permissions(app.permissions),
        token_limit=saver.token_limit,
        issuer=actor.issuer,
        previewed_by=actor,
    )
