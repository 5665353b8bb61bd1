"""Making, changing and deleting webhooks."""

import json
from datetime import datetime
from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.domain.values.errors import Problem, Refused
from app.domain.values.ranges import in_utc
from app.domain.values.unset import ABSENT
from app.graphql.context import RequestContext
from app.graphql.global_ids import key_in
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of
from app.services.deliveries.replays import replay_deliveries, retry_delivery
from app.services.webhooks.changes import (
    WebhookInput,
    create_webhook,
    delete_webhook,
    update_webhook,
)

_TYPES = "app.graphql.types.webhooks"
_WEBHOOK = f"{_TYPES}.Webhook"
_ID = graphene.NonNull(graphene.ID)


class _WebhookInput(graphene.InputObjectType):
    class Meta:
        abstract = True

    name = graphene.String()
    identifier = graphene.String(description="The app's own name for it.")
    target_url = graphene.String(description="Where deliveries go.")
    events = graphene.List(
        graphene.NonNull(f"{_TYPES}.WebhookEventTypeEnum"), description="As asyncEvents."
    )
    async_events = graphene.List(
        graphene.NonNull(f"{_TYPES}.WebhookEventTypeAsyncEnum"),
        description="What it hears of, where no query says so.",
    )
    sync_events = graphene.List(
        graphene.NonNull(f"{_TYPES}.WebhookEventTypeSyncEnum"), description="None can be had."
    )
    app = graphene.ID(description="For staff: the app it belongs to.")
    is_active = graphene.Boolean()
    query = graphene.String(description="A subscription: what it wants to be told.")
    custom_headers = graphene.JSONString(
        description="Sent with each delivery: X-*, Authorization* or BrokerProperties, five."
    )
    secret_key = graphene.String(description="Signs deliveries in place of the shop's keys.")


class WebhookCreateInput(_WebhookInput):
    """A new webhook."""


class WebhookUpdateInput(_WebhookInput):
    """What is to change; what is left out stays as it is."""


class WebhookPayload(MutationPayload):
    """``errors``: what was wrong with the input."""

    class Meta:
        abstract = True

    errors = errors_of("webhook_problems.WebhookError")


class WebhookCreate(WebhookPayload):
    """The new webhook."""

    webhook = graphene.Field(_WEBHOOK)


class WebhookUpdate(WebhookPayload):
    """The webhook as it is now."""

    webhook = graphene.Field(_WEBHOOK)


class WebhookDelete(WebhookPayload):
    """The webhook as it was."""

    webhook = graphene.Field(_WEBHOOK)


class EventDeliveryRetry(WebhookPayload):
    """The delivery, due again at once."""

    delivery = graphene.Field("app.graphql.types.deliveries.EventDelivery")


class WebhookReplay(WebhookPayload):
    """How many deliveries are on their way again."""

    failed = graphene.Int(description="Those that had failed.")
    missing = graphene.Int(description="Those of events that it had never been told of.")
    has_more = graphene.Boolean(description="Whether more are missing: ask again for the next.")


class WebhookMutations(graphene.ObjectType):
    """Webhooks: an app manages its own; staff need MANAGE_APPS."""

    webhook_create = graphene.Field(
        WebhookCreate,
        description=(
            "Makes a webhook: an app its own, staff with MANAGE_APPS any app's. Only events whose "
            "permission the app holds are delivered. A limited app token can subscribe to events "
            "whose permission it holds, and payloads are read with the token's permissions."
        ),
        input=graphene.NonNull(WebhookCreateInput),
    )
    webhook_update = graphene.Field(
        WebhookUpdate,
        description=(
            "Changes a webhook: an app its own, staff with MANAGE_APPS any. For a day, a replaced "
            "secret signs deliveries beside the new one. A limited app token can change webhooks "
            "that were saved with no more than its own permissions."
        ),
        id=graphene.ID(),
        identifier=graphene.String(),
        input=graphene.NonNull(WebhookUpdateInput),
    )
    event_delivery_retry = graphene.Field(
        EventDeliveryRetry,
        description=(
            "Makes a delivery again at once, with the same `webhook-id`: an app its own, staff "
            "with MANAGE_APPS any."
        ),
        id=_ID,
    )
    webhook_replay = graphene.Field(
        WebhookReplay,
        description=(
            "Makes deliveries since a moment again: those that failed and those that the webhook "
            "never got. For people with MANAGE_APPS, not for apps."
        ),
        id=_ID,
        since=graphene.NonNull(graphene.DateTime),
        failed=graphene.Boolean(description="Those that failed; all when left out."),
        missing=graphene.Boolean(description="Those it never got; all when left out."),
    )
    webhook_delete = graphene.Field(
        WebhookDelete,
        description=(
            "Removes a webhook and its deliveries: an app its own, staff with MANAGE_APPS any."
        ),
        id=graphene.ID(),
        identifier=graphene.String(),
    )

    @staticmethod
    @answers(WebhookCreate)
    def resolve_webhook_create(
        _root: object, info: GraphQLResolveInfo, input: dict[str, Any]
    ) -> WebhookCreate:
        context: RequestContext = info.context
        owner = input.get("app")
        app = None if owner is None else key_in(owner, "App")
        webhook = create_webhook(context.ports, context.actor, _webhook_input(input), app)
        return WebhookCreate(webhook=webhook)

    @staticmethod
    @answers(WebhookUpdate)
    def resolve_webhook_update(
        _root: object,
        info: GraphQLResolveInfo,
        input: dict[str, Any],
        id: str | None = None,
        identifier: str | None = None,
    ) -> WebhookUpdate:
        context: RequestContext = info.context
        webhook = update_webhook(
            context.ports, context.actor, id, identifier or "", _webhook_input(input)
        )
        return WebhookUpdate(webhook=webhook)

    @staticmethod
    @answers(WebhookDelete)
    def resolve_webhook_delete(
        _root: object,
        info: GraphQLResolveInfo,
        id: str | None = None,
        identifier: str | None = None,
    ) -> WebhookDelete:
        context: RequestContext = info.context
        webhook = delete_webhook(context.ports, context.actor, id, identifier or "")
        return WebhookDelete(webhook=webhook)

    @staticmethod
    @answers(EventDeliveryRetry)
    def resolve_event_delivery_retry(
        _root: object, info: GraphQLResolveInfo, id: str
    ) -> EventDeliveryRetry:
        context: RequestContext = info.context
        return EventDeliveryRetry(delivery=retry_delivery(context.ports, context.actor, id))

    @staticmethod
    @answers(WebhookReplay)
    def resolve_webhook_replay(
        _root: object,
        info: GraphQLResolveInfo,
        id: str,
        since: datetime,
        *,
        failed: bool | None = None,
        missing: bool | None = None,
    ) -> WebhookReplay:
        context: RequestContext = info.context
        ran = replay_deliveries(
            context.ports,
            context.actor,
            key_in(id, "Webhook"),
            in_utc(since),
            failed=failed is not False,
            missing=missing is not False,
        )
        return WebhookReplay(failed=ran.failed, missing=ran.missing, has_more=ran.has_more)


def _webhook_input(fields: dict[str, Any]) -> WebhookInput:
    """What was sent; null counts as left out."""
    sent = {name: value for name, value in fields.items() if value is not None}
    events = sent.get("async_events", sent.get("events"))
    return WebhookInput(
        name=sent.get("name", ABSENT),
        identifier=sent.get("identifier", ABSENT),
        target_url=sent.get("target_url", ABSENT),
        events=ABSENT if events is None else tuple(dict.fromkeys(events)),
        sync_events=tuple(event.value for event in sent.get("sync_events", ())),
        is_active=sent.get("is_active", ABSENT),
        query=sent.get("query", ABSENT),
        custom_headers=_headers(sent["custom_headers"]) if "custom_headers" in sent else ABSENT,
        secret_key=sent.get("secret_key", ABSENT),
    )


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
