"""Webhooks and their events."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import graphene

from app.domain import webhooks as domain
from app.domain.deliveries.deliveries import EventDelivery
from app.domain.events import EVENTS, NEVER_SENT, SYNC_EVENTS, UNSENT_EVENTS, EventType
from app.domain.values.pages import Page
from app.graphql.app_nodes import AppNode, WebhookNode, app_node
from app.graphql.connections import (
    Node,
    connection_arguments,
    is_ascending,
    make_connection,
    page_request,
)
from app.graphql.context import Info
from app.graphql.fields import ObjectType, attribute, itself, own_id, text_or_null
from app.services.apps.app_lists import show_app
from app.services.deliveries.lists import DeliveryFilter

EventDeliveryCountableConnection = make_connection(
    "EventDelivery", "app.graphql.types.deliveries.EventDelivery"
)


def _description(event: StrEnum | None) -> str:
    if event is None:
        return "Events. Webhooks can subscribe to those that are sent."
    return EventType(event).description if event in EventType.__members__ else NEVER_SENT


def _sync_description(event: StrEnum | None) -> str:
    return NEVER_SENT if event else "Synchronous events. Webhooks can't subscribe to them."


def _enum(
    name: str, *events: str, description: Callable[[StrEnum | None], str] = _description
) -> Any:
    """Return the enum of ``events``; a resolver gets its members, which are texts."""
    names = {str(event): str(event) for event in events}
    return graphene.Enum.from_enum(StrEnum(name, names), name=name, description=description)


WebhookEventTypeAsyncEnum = _enum("WebhookEventTypeAsyncEnum", *EventType, *UNSENT_EVENTS)
WebhookEventTypeEnum = _enum("WebhookEventTypeEnum", *EventType, *UNSENT_EVENTS, *SYNC_EVENTS)
WebhookSampleEventTypeEnum = _enum("WebhookSampleEventTypeEnum", *EVENTS, *UNSENT_EVENTS)
WebhookEventTypeSyncEnum = _enum(
    "WebhookEventTypeSyncEnum", *SYNC_EVENTS, description=_sync_description
)


class WebhookEvent(graphene.ObjectType):
    """An event a webhook subscribes to."""

    name = graphene.NonNull(graphene.String, resolver=attribute("label"))
    event_type = graphene.NonNull(WebhookEventTypeEnum, resolver=itself)


class WebhookEventAsync(graphene.ObjectType):
    """An asynchronous event a webhook subscribes to."""

    name = graphene.NonNull(graphene.String, resolver=attribute("label"))
    event_type = graphene.NonNull(WebhookEventTypeAsyncEnum, resolver=itself)


class WebhookEventSync(graphene.ObjectType):
    """A synchronous event. Webhooks don't receive these."""

    name = graphene.NonNull(graphene.String)
    event_type = graphene.NonNull(WebhookEventTypeSyncEnum)


class Webhook(ObjectType, interfaces=(Node,)):
    """A webhook of an app."""

    id = own_id("Webhook")
    name = text_or_null("name")
    identifier = text_or_null(
        "identifier", description="The app's own identifier for the webhook."
    )
    events = graphene.NonNull(
        graphene.List(graphene.NonNull(WebhookEvent)),
        deprecation_reason="Use `asyncEvents` or `syncEvents`.",
    )
    sync_events = graphene.NonNull(graphene.List(graphene.NonNull(WebhookEventSync)))
    async_events = graphene.NonNull(
        graphene.List(graphene.NonNull(WebhookEventAsync)), resolver=attribute("events")
    )
    app = graphene.NonNull("app.graphql.types.apps.App")
    event_deliveries = graphene.Field(
        EventDeliveryCountableConnection,
        filter=graphene.Argument("app.graphql.types.deliveries.EventDeliveryFilterInput"),
        sort_by=graphene.Argument("app.graphql.types.deliveries.EventDeliverySortingInput"),
        **connection_arguments(),
        description="Deliveries of the last 14 days, newest first unless sorted otherwise.",
    )
    target_url = graphene.NonNull(graphene.String)
    is_active = graphene.NonNull(graphene.Boolean)
    is_paused = graphene.NonNull(
        graphene.Boolean,
        description="Whether events wait, for up to 14 days, instead of being sent.",
    )
    paused_at = graphene.DateTime(description="Since when events wait, if they do.")
    max_rate = graphene.NonNull(
        graphene.Int, description="Requests a second that are sent at most; 0 for no limit."
    )
    subscription_query = text_or_null("query", description="The subscription query, if any.")
    custom_headers = graphene.JSONString()
    secret_key = graphene.String(
        description="Secret that signs deliveries instead of the shop's keys."
    )

    def resolve_sync_events(self: domain.Webhook, _info: Info) -> tuple[()]:
        return ()

    def resolve_app(self: domain.Webhook, info: Info) -> AppNode | None:
        if isinstance(self, WebhookNode):
            return self.app
        app = show_app(*info.context.caller, self.app_id)
        return None if app is None else app_node(info.context, app)

    def resolve_event_deliveries(
        self: domain.Webhook, info: Info, **arguments: Any
    ) -> Page[EventDelivery]:
        filter_ = arguments.get("filter") or {}
        event = filter_.get("event_type")
        delivery_filter = DeliveryFilter(
            filter_.get("status"), "" if event is None else event.value
        )
        page = page_request("eventDeliveries", arguments)
        return info.context.loaders(info).deliveries.deliveries(
            info, self.id, page, delivery_filter, oldest_first=is_ascending(arguments)
        )

    def resolve_custom_headers(self: domain.Webhook, _info: Info) -> dict[str, str]:
        return dict(self.reveal_headers())

    def resolve_secret_key(self: domain.Webhook, _info: Info) -> str | None:
        return self.reveal() or None
