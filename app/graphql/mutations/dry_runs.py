"""Dry runs of webhooks, and sending an event by hand."""

import json
from enum import StrEnum

import graphene

from app.domain.events import event_named
from app.graphql.context import Info
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of
from app.services.deliveries.dry_runs import dry_run_webhook, trigger_webhook


class WebhookDryRun(MutationPayload):
    """The preview of a webhook's payload."""

    payload = graphene.JSONString(description="The exact body of a delivery.")
    errors = errors_of("webhook_problems.WebhookDryRunError")


class WebhookTrigger(MutationPayload):
    """The new delivery."""

    delivery = graphene.Field("app.graphql.types.deliveries.EventDelivery")
    errors = errors_of("webhook_problems.WebhookTriggerError")


class DryRunMutations(graphene.ObjectType):
    """For staff who hold the event's permission."""

    webhook_dry_run = graphene.Field(
        WebhookDryRun,
        description=(
            "Previews a webhook's payload for a query, an object or both, without sending "
            "it. For staff with the event's permission."
        ),
        object_id=graphene.ID(),
        query=graphene.String(),
        app=graphene.ID(
            description="The app to run as. Needs all of its permissions. Default: the caller."
        ),
    )
    webhook_trigger = graphene.Field(
        WebhookTrigger,
        description=(
            "Sends a webhook the payload of an object now, with the permissions of its app. "
            "For staff with all permissions of the app."
        ),
        object_id=graphene.ID(description="Default: the newest matching object."),
        webhook_id=graphene.ID(required=True),
        event=graphene.Argument(
            "app.graphql.types.webhooks.WebhookEventTypeAsyncEnum",
            description=(
                "One of the webhook's events. Default: its first event with a matching object."
            ),
        ),
    )

    @staticmethod
    @answers(WebhookDryRun)
    def resolve_webhook_dry_run(
        _root: object,
        info: Info,
        object_id: str | None = None,
        query: str | None = None,
        app: str | None = None,
    ) -> WebhookDryRun:
        ran = dry_run_webhook(
            info.context.ports, info.context.actor, object_id=object_id, query=query, app=app
        )
        return WebhookDryRun(payload=json.loads(ran.payload))

    @staticmethod
    @answers(WebhookTrigger)
    def resolve_webhook_trigger(
        _root: object,
        info: Info,
        webhook_id: str,
        object_id: str | None = None,
        event: StrEnum | None = None,
    ) -> WebhookTrigger:
        delivery = trigger_webhook(
            info.context.ports,
            info.context.actor,
            webhook_id,
            object_id,
            None if event is None else event_named(event.value),
        )
        return WebhookTrigger(delivery=delivery)
