"""``Subscription``: what the query of a webhook selects from, with a type for each event.

The types are made of the classes in ``domain.events.EVENTS``. Each has the fields of ``Event``,
and one that shows the object which the event is about.
"""

from typing import Any

import graphene

from app.domain import events as domain
from app.domain.accounts import users
from app.domain.apps import apps
from app.domain.events import Occurrence
from app.domain.shop.settings import PublicShop
from app.domain.values.installation import INTERFACE_VERSION
from app.graphql.app_nodes import AppNode, app_node
from app.graphql.compatibility import constant
from app.graphql.context import Info
from app.graphql.fields import part, part_or_null, text_or_null
from app.graphql.types.addresses import Address
from app.graphql.types.apps import App
from app.graphql.types.groups import Group
from app.graphql.types.orders import Checkout, Order
from app.graphql.types.products import Product
from app.graphql.types.shop import Channel, Shop
from app.graphql.types.users import User
from app.services.webhooks.event_subjects import principal_of, recipient_of, subject_of

SUBJECT_TYPES: dict[str, type[graphene.ObjectType]] = {
    "Address": Address,
    "App": App,
    "Channel": Channel,
    "Checkout": Checkout,
    "Group": Group,
    "Order": Order,
    "Product": Product,
    "Shop": Shop,
    "User": User,
}
"""What events can be about, by the type of ``domain.events.Subject``."""

EVENT_TYPES: dict[str, type[graphene.ObjectType]] = {}
"""The type of each event by the name of its class, filled below."""


class IssuingPrincipal(graphene.Union):
    """The user or app that caused an event."""

    class Meta:
        types = (App, User)

    @classmethod
    def resolve_type(cls, instance: object, _info: Info) -> Any:
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
    def resolve_type(cls, instance: Occurrence, _info: Info) -> Any:
        return EVENT_TYPES[type(instance.event).__name__]

    @staticmethod
    def resolve_version(_happened: Occurrence, _info: Info) -> str:
        return INTERFACE_VERSION

    @staticmethod
    def resolve_issuing_principal(
        occurrence: Occurrence, info: Info
    ) -> users.User | AppNode | None:
        principal = principal_of(*info.context.caller, occurrence)
        return app_node(info.context, principal) if isinstance(principal, apps.App) else principal

    @staticmethod
    def resolve_recipient(occurrence: Occurrence, info: Info) -> AppNode | None:
        recipient = recipient_of(*info.context.caller, occurrence)
        return None if recipient is None else app_node(info.context, recipient)


def _subject(occurrence: Occurrence, info: Info) -> object:
    """Return the subject of the event: its current state, or its snapshot once deleted."""
    subject = subject_of(*info.context.caller, occurrence)
    event = occurrence.event
    if isinstance(event, domain.Deletion) and isinstance(subject, users.User):
        reference = event.snapshot.get("external_reference")
        info.context.loaders(info).accounts.keep_reference(subject, str(reference or ""))
    return app_node(info.context, subject) if isinstance(subject, apps.App) else subject


def _email(occurrence: Occurrence, info: Info) -> str | None:
    user = _subject(occurrence, info)
    return user.email if isinstance(user, users.User) else None


def _shop(_occurrence: Occurrence, info: Info) -> PublicShop:
    return info.context.identity.shop


def _fields(event: type[domain.Event]) -> dict[str, object]:
    """Return the fields of an event's type in addition to those of every event."""
    fields: dict[str, object] = {
        event.subject.field: graphene.Field(SUBJECT_TYPES[event.subject.type], resolver=_subject)
    }
    if issubclass(event, domain.LinkRequested):
        fields |= {
            "token": graphene.String(
                description="The secret of the link. Null for a webhook that lacks a permission "
                "of the person who gets the link.",
                resolver=part("event.token"),
            ),
            "redirect_url": graphene.String(
                description="The URL of the link.", resolver=part("event.redirect_url")
            ),
            "mail_kind": text_or_null(
                "event.mail_kind",
                description="The kind of the email with the link, such as `password_reset`.",
            ),
            "mail_sender": graphene.Field(
                "app.graphql.types.shop.MailSenderEnum",
                description="Who was to send the email when the link was requested. Apps send it "
                "if this is `APP` or `BOTH`.",
                resolver=part_or_null("event.mail_sender"),
            ),
        }
    if event in domain.ACCOUNT_EVENTS:
        fields |= _account_fields(event)
    return fields


def _account_fields(event: type[domain.Event]) -> dict[str, object]:
    """Return the fields of events of accounts, which each of them has in Saleor."""
    name = event.__name__
    fields: dict[str, object] = {
        "channel": constant(f"{name}.channel", Channel),
        "shop": graphene.Field(
            Shop, description="The shop that the account belongs to.", resolver=_shop
        ),
    }
    if not issubclass(event, domain.LinkRequested):
        fields |= {
            "redirect_url": constant(f"{name}.redirectUrl", graphene.String),
            "token": constant(f"{name}.token", graphene.String),
        }
    if event is domain.AccountChangeEmailRequested:
        fields["new_email"] = graphene.String(
            description="The email to confirm.", resolver=part("event.new_email")
        )
    if event is domain.AccountEmailChanged:
        fields["new_email"] = graphene.String(description="The user's email.", resolver=_email)
    return fields


def _make_type(event: type[domain.Event]) -> type[graphene.ObjectType]:
    meta = type("Meta", (), {"interfaces": (Event,)})
    body = {"__doc__": event.description, "Meta": meta, **_fields(event)}
    event_type: type[graphene.ObjectType] = type(event.__name__, (graphene.ObjectType,), body)
    return event_type


EVENT_TYPES.update({event.__name__: _make_type(event) for event in domain.EVENTS.values()})


class Subscription(graphene.ObjectType):
    """Events for webhooks. Nothing is sent over an open connection."""

    event = graphene.Field(Event, description="Select the fields of events: `... on AppUpdated`.")

    @staticmethod
    def resolve_event(occurrence: Occurrence, _info: Info) -> Occurrence:
        return occurrence
