"""Deliveries of webhooks, and every attempt at them."""

import json
from enum import StrEnum
from typing import Any

import graphene

from app.domain.deliveries import deliveries as domain
from app.domain.events import EventType
from app.domain.values.pages import Page
from app.domain.webhooks import app_permissions_denied
from app.graphql import connections
from app.graphql.context import Info
from app.graphql.fields import ObjectType, attribute, described_enum, own_id

EventDeliveryStatusEnum = described_enum(
    domain.DeliveryStatus,
    "EventDeliveryStatusEnum",
    "The status of a delivery or an attempt.",
    {
        "PENDING": "Waiting for its first attempt or a retry.",
        "SUCCESS": "Delivered: the endpoint accepted it.",
        "FAILED": "Not delivered. It isn't retried automatically, but can be resent.",
    },
)


class EventDeliveryFilterInput(graphene.InputObjectType):
    """Filters for deliveries."""

    status = graphene.InputField(EventDeliveryStatusEnum)
    event_type = graphene.InputField("app.graphql.types.webhooks.WebhookEventTypeEnum")


class DeliverySortField(StrEnum):
    CREATED_AT = "CREATED_AT"


EventDeliverySortField = graphene.Enum.from_enum(
    DeliverySortField, name="EventDeliverySortField", description="What deliveries are sorted by."
)
EventDeliveryAttemptSortField = graphene.Enum.from_enum(
    DeliverySortField,
    name="EventDeliveryAttemptSortField",
    description="What attempts are sorted by.",
)


EventDeliverySortingInput = connections.sorting_input(
    "EventDeliverySortingInput", "deliveries", EventDeliverySortField
)


EventDeliveryAttemptSortingInput = connections.sorting_input(
    "EventDeliveryAttemptSortingInput", "attempts", EventDeliveryAttemptSortField
)


class EventDeliveryAttempt(ObjectType, interfaces=(connections.Node,)):
    """An attempt to send a delivery."""

    id = own_id("EventDeliveryAttempt")
    created_at = graphene.NonNull(graphene.DateTime)
    task_id = graphene.String(description="Always null.")
    duration = graphene.Float(description="Seconds.")
    response = graphene.String(
        description="The response body, or the error if there was no response. Secrets of the "
        "request are removed. Responses to events that contain a link aren't stored."
    )
    response_headers = graphene.String(description="A JSON object.")
    response_status_code = graphene.Int(resolver=attribute("response_status"))
    request_headers = graphene.String(
        description="A JSON object without the values of custom headers."
    )
    status = graphene.NonNull(EventDeliveryStatusEnum)

    def resolve_task_id(self: domain.Attempt, _info: Info) -> None:
        return None

    def resolve_response(self: domain.Attempt, _info: Info) -> str:
        _require_visible(self)
        return self.response

    def resolve_response_headers(self: domain.Attempt, _info: Info) -> str:
        _require_visible(self)
        return json.dumps(dict(self.response_headers))

    def resolve_request_headers(self: domain.Attempt, _info: Info) -> str:
        _require_visible(self)
        return json.dumps(dict(self.request_headers))


EventDeliveryAttemptCountableConnection = connections.make_connection(
    "EventDeliveryAttempt", "app.graphql.types.deliveries.EventDeliveryAttempt"
)


class EventDelivery(ObjectType, interfaces=(connections.Node,)):
    """A delivery of an event to a webhook."""

    id = own_id("EventDelivery")
    created_at = graphene.NonNull(graphene.DateTime)
    status = graphene.NonNull(EventDeliveryStatusEnum)
    event_type = graphene.NonNull("app.graphql.types.webhooks.WebhookEventTypeEnum")
    attempts = graphene.Field(
        EventDeliveryAttemptCountableConnection,
        sort_by=EventDeliveryAttemptSortingInput(),
        **connections.connection_arguments(),
        description="Newest first unless sorted otherwise.",
    )
    payload = graphene.String()

    def resolve_event_type(self: domain.EventDelivery, _info: Info) -> EventType:
        return EventType(self.event)

    def resolve_payload(self: domain.EventDelivery, _info: Info) -> str:
        _require_visible(self)
        return self.payload

    def resolve_attempts(
        self: domain.EventDelivery, info: Info, **arguments: Any
    ) -> Page[domain.Attempt]:
        page = connections.page_request("attempts", arguments)
        return info.context.loaders(info).deliveries.attempts(
            info, self.id, page, oldest_first=connections.is_ascending(arguments)
        )


def _require_visible(item: domain.EventDelivery | domain.Attempt) -> None:
    """Raise ``PermissionDenied`` for what the caller doesn't see of a delivery."""
    if item.lacking:
        raise app_permissions_denied(item.lacking)
