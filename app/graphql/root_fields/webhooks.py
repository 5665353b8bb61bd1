"""Find, create, change and delete webhooks, try their queries, and send events by hand."""

import json
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

import graphene

from app.domain.deliveries.deliveries import ReplayScope
from app.domain.events import EventType
from app.domain.values.errors import Problem, Refused
from app.domain.values.inputs import ABSENT
from app.domain.values.pages import in_utc
from app.domain.webhooks import Webhook
from app.graphql.context import Info
from app.graphql.fields import key_in
from app.graphql.root_fields.payloads import (
    MutationPayload,
    errors_of,
    former_errors_of,
    mutation,
    query,
)
from app.services.deliveries.dry_runs import dry_run_webhook, sample_payload, trigger_webhook
from app.services.deliveries.replays import (
    preview_replay,
    replay_deliveries,
    retry_delivery,
    send_waiting_deliveries,
)
from app.services.webhooks.changes import (
    WebhookInput,
    create_webhook,
    delete_webhook,
    update_webhook,
)
from app.services.webhooks.lists import list_webhook_events, show_webhook

_TYPES = "app.graphql.types.webhooks"
_WEBHOOK = f"{_TYPES}.Webhook"
_ID = graphene.NonNull(graphene.ID)


class _WebhookInput(graphene.InputObjectType):
    class Meta:
        abstract = True

    name = graphene.String()
    identifier = graphene.String(description="The app's own identifier for the webhook.")
    target_url = graphene.String(description="The endpoint URL.")
    events = graphene.List(
        graphene.NonNull(f"{_TYPES}.WebhookEventTypeEnum"),
        description="Same as asyncEvents.",
        deprecation_reason="Use `asyncEvents` or `syncEvents`.",
    )
    async_events = graphene.List(
        graphene.NonNull(f"{_TYPES}.WebhookEventTypeAsyncEnum"),
        description="Subscribed events, if there is no query.",
    )
    sync_events = graphene.List(
        graphene.NonNull(f"{_TYPES}.WebhookEventTypeSyncEnum"), description="Not supported."
    )
    app = graphene.ID(description="For staff: the app that owns the webhook.")
    is_active = graphene.Boolean()
    is_paused = graphene.Boolean(
        description="Whether events wait instead of being sent. An inactive webhook gets none."
    )
    max_rate = graphene.Int(
        description="Requests a second that are sent at most, from 1 to 1000; 0 for no limit."
    )
    query = graphene.String(description="A subscription query that defines events and payload.")
    custom_headers = graphene.JSONString(
        description="Headers sent with each delivery: up to five of X-*, Authorization* or "
        "BrokerProperties."
    )
    secret_key = graphene.String(
        description="Secret that signs deliveries instead of the shop's keys."
    )


class WebhookCreateInput(_WebhookInput):
    """A new webhook."""


class WebhookUpdateInput(_WebhookInput):
    """Fields to update. Omitted fields keep their values."""


class WebhookPayload(MutationPayload, abstract=True):
    """``errors``: what was wrong with the input."""

    errors = errors_of("problems.WebhookError")
    webhook_errors = former_errors_of("problems.WebhookError")


class _ChangedWebhook(WebhookPayload, abstract=True):
    webhook = graphene.Field(_WEBHOOK)


class WebhookCreate(_ChangedWebhook):
    """The new webhook."""


class WebhookUpdate(_ChangedWebhook):
    """The updated webhook."""


class WebhookDelete(_ChangedWebhook):
    """The deleted webhook."""


class EventDeliveryRetry(WebhookPayload):
    """The delivery that is being resent."""

    delivery = graphene.Field("app.graphql.types.deliveries.EventDelivery")


class WebhookReplay(WebhookPayload):
    """The number of deliveries that are being sent."""

    failed = graphene.Int(description="Number of failed deliveries.")
    missing = graphene.Int(description="Events this webhook never received.")
    has_more = graphene.Boolean(
        description="Whether more events are missing. Call again to send the next ones."
    )
    earlier = graphene.Int(
        description="With `preview`: events from before the webhook was created, which aren't "
        "sent."
    )


class WebhookSendWaiting(WebhookPayload):
    """The number of waiting deliveries that are sent now."""

    count = graphene.Int(description="Number of deliveries that waited for a later attempt.")


class WebhookMutations(graphene.ObjectType):
    """Webhooks: an app manages its own; staff need MANAGE_APPS."""

    @mutation(
        "Creates a webhook. Apps can create their own; staff with MANAGE_APPS can "
        "create webhooks of apps whose permissions they all have. Only events the app "
        "has the permission for are delivered. A limited app token can subscribe to "
        "events it has the permission for, and payloads are limited to the token's "
        "permissions.",
        input=graphene.NonNull(WebhookCreateInput),
    )
    def webhook_create(_root: object, info: Info, input: dict[str, Any]) -> WebhookCreate:
        owner = input.get("app")
        app = None if owner is None else key_in(owner, "App")
        webhook = create_webhook(*info.context.caller, _webhook_input(input), app)
        return WebhookCreate(webhook=webhook)

    @mutation(
        "Updates a webhook. Apps can update their own; staff with MANAGE_APPS can "
        "update those of apps whose permissions they all have. A replaced secret also "
        "signs deliveries for one more day. A limited app token can update webhooks "
        "that were saved with no more than its own permissions.",
        id=graphene.ID(),
        identifier=graphene.String(),
        input=graphene.NonNull(WebhookUpdateInput),
    )
    def webhook_update(
        _root: object,
        info: Info,
        input: dict[str, Any],
        id: str | None = None,
        identifier: str | None = None,
    ) -> WebhookUpdate:
        webhook = update_webhook(*info.context.caller, id, identifier or "", _webhook_input(input))
        return WebhookUpdate(webhook=webhook)

    @mutation(
        "Resends a delivery now, with the same `webhook-id`. Apps can resend their own; "
        "staff with MANAGE_APPS can resend those of apps whose permissions they all have.",
        id=_ID,
    )
    def event_delivery_retry(_root: object, info: Info, id: str) -> EventDeliveryRetry:
        return EventDeliveryRetry(delivery=retry_delivery(*info.context.caller, id))

    @mutation(
        "Resends failed deliveries and sends missed events since a point in time. For "
        "staff with MANAGE_APPS and all permissions of the app, not for apps.",
        id=_ID,
        since=graphene.NonNull(graphene.DateTime),
        failed=graphene.Boolean(
            description="Resend failed deliveries. By default, both kinds are sent."
        ),
        missing=graphene.Boolean(
            description="Send events the webhook never received. By default, both kinds are sent."
        ),
        before_creation=graphene.Boolean(
            description="Also send events from before the webhook was created."
        ),
        preview=graphene.Boolean(description="Only count what would be sent."),
    )
    def webhook_replay(
        _root: object,
        info: Info,
        id: str,
        since: datetime,
        *,
        failed: bool | None = None,
        missing: bool | None = None,
        before_creation: bool | None = None,
        preview: bool | None = None,
    ) -> WebhookReplay:
        run = preview_replay if preview else replay_deliveries
        scope = ReplayScope(failed is not False, missing is not False, bool(before_creation))
        key = key_in(id, "Webhook")
        ran = run(*info.context.caller, key, in_utc(since), scope)
        return WebhookReplay(
            failed=ran.failed,
            missing=ran.missing,
            has_more=ran.has_more,
            earlier=ran.earlier if preview else None,
        )

    @mutation(
        "Sends the deliveries now that wait for a later attempt, for example after the "
        "endpoint was repaired. For staff with MANAGE_APPS and all permissions of the app, "
        "not for apps.",
        id=_ID,
    )
    def webhook_send_waiting(_root: object, info: Info, id: str) -> WebhookSendWaiting:
        count = send_waiting_deliveries(*info.context.caller, key_in(id, "Webhook"))
        return WebhookSendWaiting(count=count)

    @mutation(
        "Deletes a webhook and its deliveries. Apps can delete their own; staff with "
        "MANAGE_APPS can delete those of apps whose permissions they all have.",
        id=graphene.ID(),
        identifier=graphene.String(),
    )
    def webhook_delete(
        _root: object, info: Info, id: str | None = None, identifier: str | None = None
    ) -> WebhookDelete:
        webhook = delete_webhook(*info.context.caller, id, identifier or "")
        return WebhookDelete(webhook=webhook)


def _webhook_input(fields: dict[str, Any]) -> WebhookInput:
    """What was sent; null counts as left out."""
    sent = {name: value for name, value in fields.items() if value is not None}
    events = sent.get("async_events", sent.get("events"))
    unsent = {
        argument: tuple(
            event.value for event in sent[name] if event.value not in EventType.__members__
        )
        for name, argument in (("events", "events"), ("async_events", "asyncEvents"))
        if name in sent
    }
    return WebhookInput(
        name=sent.get("name", ABSENT),
        identifier=sent.get("identifier", ABSENT),
        target_url=sent.get("target_url", ABSENT),
        events=ABSENT if events is None else _sent_events(events),
        unsent_events=unsent,
        sync_events=tuple(event.value for event in sent.get("sync_events", ())),
        is_active=sent.get("is_active", ABSENT),
        is_paused=sent.get("is_paused", ABSENT),
        max_rate=sent.get("max_rate", ABSENT),
        query=sent.get("query", ABSENT),
        custom_headers=_headers(sent["custom_headers"]) if "custom_headers" in sent else ABSENT,
        secret_key=sent.get("secret_key", ABSENT),
    )


def _sent_events(events: Iterable[StrEnum]) -> tuple[EventType, ...]:
    names = dict.fromkeys(event.value for event in events)
    return tuple(EventType(name) for name in names if name in EventType.__members__)


def _headers(value: object) -> dict[str, object]:
    value = _decoded(value) if isinstance(value, str) else value
    if not isinstance(value, dict):
        message = 'Headers are a JSON object: {"X-Key": "value"}.'
        raise Refused(Problem("INVALID_CUSTOM_HEADERS", message, "customHeaders"))
    return value


def _decoded(text: str) -> object:
    """What some clients encode twice; ``None`` for what was no JSON the second time."""
    try:
        return json.loads(text)
    except ValueError:
        return None


class WebhookDryRun(MutationPayload):
    """The preview of a webhook's payload."""

    payload = graphene.JSONString(description="The exact body of a delivery.")
    errors = errors_of("problems.WebhookDryRunError")


class WebhookTrigger(MutationPayload):
    """The new delivery."""

    delivery = graphene.Field("app.graphql.types.deliveries.EventDelivery")
    errors = errors_of("problems.WebhookTriggerError")


class DryRunMutations(graphene.ObjectType):
    """For staff who hold the event's permission."""

    @mutation(
        "Previews a webhook's payload for a query, an object or both, without sending "
        "it. For staff with the event's permission.",
        object_id=graphene.ID(),
        query=graphene.String(),
        app=graphene.ID(
            description="The app to run as. Needs all of its permissions. Default: the caller."
        ),
    )
    def webhook_dry_run(
        _root: object,
        info: Info,
        object_id: str | None = None,
        query: str | None = None,
        app: str | None = None,
    ) -> WebhookDryRun:
        ran = dry_run_webhook(*info.context.caller, object_id=object_id, query=query, app=app)
        return WebhookDryRun(payload=json.loads(ran.payload))

    @mutation(
        "Sends a webhook the payload of an object now, with the permissions of its app. "
        "For staff with all permissions of the app.",
        object_id=graphene.ID(description="Default: the newest matching object."),
        webhook_id=graphene.ID(required=True),
        event=graphene.Argument(
            "app.graphql.types.webhooks.WebhookEventTypeAsyncEnum",
            description="One of the webhook's events. Default: its first event with a matching "
            "object.",
        ),
    )
    def webhook_trigger(
        _root: object,
        info: Info,
        webhook_id: str,
        object_id: str | None = None,
        event: StrEnum | None = None,
    ) -> WebhookTrigger:
        delivery = trigger_webhook(*info.context.caller, webhook_id, object_id, event)
        return WebhookTrigger(delivery=delivery)


class WebhookQueries(graphene.ObjectType):
    """Where apps want to hear of events."""

    @query(
        "app.graphql.types.webhooks.Webhook",
        id=graphene.ID(required=True),
        description="A webhook by ID. Visible to its app and to staff with MANAGE_APPS.",
    )
    def webhook(_root: object, info: Info, id: str) -> Webhook | None:
        return show_webhook(*info.context.caller, key_in(id, "Webhook"))

    @query(
        graphene.List(graphene.NonNull(f"{_TYPES}.WebhookEvent")),
        description="The events that webhooks can subscribe to. Requires MANAGE_APPS.",
        deprecation_reason="The enums of events list them.",
    )
    def webhook_events(_root: object, info: Info) -> tuple[EventType, ...]:
        return list_webhook_events(*info.context.caller)

    @query(
        graphene.JSONString,
        event_type=graphene.Argument(
            graphene.NonNull(f"{_TYPES}.WebhookSampleEventTypeEnum"), description="The event."
        ),
        description="The payload of an event's default query for the newest object that the "
        "caller can see; null without one. Requires the event's permission, such as "
        "MANAGE_ORDERS.",
    )
    def webhook_sample_payload(_root: object, info: Info, event_type: StrEnum) -> object | None:
        payload = sample_payload(*info.context.caller, event_type)
        return None if payload is None else json.loads(payload)
