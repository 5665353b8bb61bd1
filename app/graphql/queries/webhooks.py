"""Queries about webhooks."""

import graphene

from app.domain.webhooks import Webhook
from app.graphql.context import Info
from app.graphql.global_ids import key_in
from app.services.webhooks.lists import show_webhook


class WebhookQueries(graphene.ObjectType):
    """Where apps want to hear of events."""

    webhook = graphene.Field(
        "app.graphql.types.webhooks.Webhook",
        id=graphene.ID(required=True),
        description="A webhook by ID. Visible to its app and to staff with MANAGE_APPS.",
    )

    @staticmethod
    def resolve_webhook(_root: object, info: Info, id: str) -> Webhook | None:
        return show_webhook(info.context.ports, info.context.actor, key_in(id, "Webhook"))
