"""Which field of an event's type shows what the event is about, and how it is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from graphql import GraphQLResolveInfo

from app.domain.accounts.users import User
from app.domain.apps import apps
from app.domain.events import Deletion
from app.domain.events.occurrence import Occurrence
from app.graphql.app_nodes import app_node
from app.graphql.context import RequestContext
from app.services.webhooks.event_subjects import subject_of

Resolver = Callable[[Occurrence, GraphQLResolveInfo], object]


@dataclass(frozen=True, slots=True)
class SubjectField:
    """A field, by its name in snake case and its type's dotted path."""

    name: str
    type: str


SUBJECT_FIELDS: Mapping[str, SubjectField] = MappingProxyType(
    {
        "App": SubjectField("app", "app.graphql.types.apps.App"),
        "Checkout": SubjectField("checkout", "app.graphql.types.checkouts.Checkout"),
        "Group": SubjectField("permission_group", "app.graphql.types.groups.Group"),
        "Order": SubjectField("order", "app.graphql.types.orders.Order"),
        "Product": SubjectField("product", "app.graphql.types.products.Product"),
        "User": SubjectField("user", "app.graphql.types.users.User"),
    }
)
"""By the GraphQL type that ``Event.subject`` names."""


def show_subject(occurrence: Occurrence, info: GraphQLResolveInfo) -> object:
    """Return the subject of the event: its current state, or its snapshot once deleted."""
    context: RequestContext = info.context
    subject = subject_of(context.ports, context.actor, occurrence)
    event = occurrence.event
    if isinstance(event, Deletion) and isinstance(subject, User):
        reference = event.snapshot.get("external_reference")
        context.loaders(info).accounts.keep_reference(subject, str(reference or ""))
    return app_node(context, subject) if isinstance(subject, apps.App) else subject
