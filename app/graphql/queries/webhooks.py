"""Queries about webhooks."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.webhooks import Webhook
from app.graphql.context import RequestContext
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
    def resolve_webhook(_root: object, info: GraphQLResolveInfo, id: str) -> Webhook | None:
        context: RequestContext = info.context
        return show_webhook(context.ports, context.actor, key_in(id, "Webhook"))
