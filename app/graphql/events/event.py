"""The fields of every event: when it happened, who caused it, and who receives it."""

from datetime import datetime
from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.domain.accounts import users
from app.domain.apps import apps
from app.domain.events.occurrence import Occurrence
from app.domain.values.version import INTERFACE_VERSION
from app.graphql.app_nodes import AppNode, app_node
from app.graphql.context import RequestContext
from app.graphql.types.apps import App
from app.graphql.types.users import User
from app.services.webhooks.event_subjects import principal_of, recipient_of

EVENT_TYPES: dict[str, type[graphene.ObjectType]] = {}
"""The type of each event by the name of its class; ``subscription`` fills it."""


class IssuingPrincipal(graphene.Union):
    """The user or app that caused an event."""

    class Meta:
        types = (App, User)

    @classmethod
    def resolve_type(cls, instance: object, _info: GraphQLResolveInfo) -> Any:
        return App if isinstance(instance, apps.App) else User


class Event(graphene.Interface):
    """An event in the shop."""

    issued_at = graphene.DateTime()
    version = graphene.String(description="The version of the API.")
    issuing_principal = graphene.Field(
        IssuingPrincipal,
        description="The user or app that caused the event, if the app can see it; null "
        "for the shop itself.",
    )
    recipient = graphene.Field(App, description="The app that receives the event.")

    @classmethod
    def resolve_type(cls, instance: Occurrence, _info: GraphQLResolveInfo) -> Any:
        return EVENT_TYPES[type(instance.event).__name__]

    @staticmethod
    def resolve_issued_at(occurrence: Occurrence, _info: GraphQLResolveInfo) -> datetime:
        return occurrence.issued_at

    @staticmethod
    def resolve_version(_happened: Occurrence, _info: GraphQLResolveInfo) -> str:
        return INTERFACE_VERSION

    @staticmethod
    def resolve_issuing_principal(
        occurrence: Occurrence, info: GraphQLResolveInfo
    ) -> users.User | AppNode | None:
        context: RequestContext = info.context
        principal = principal_of(context.ports, context.actor, occurrence)
        return app_node(context, principal) if isinstance(principal, apps.App) else principal

    @staticmethod
    def resolve_recipient(occurrence: Occurrence, info: GraphQLResolveInfo) -> AppNode | None:
        context: RequestContext = info.context
        recipient = recipient_of(context.ports, context.actor, occurrence)
        return None if recipient is None else app_node(context, recipient)
