"""``Subscription``: what the query of a webhook selects from."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain import events as domain
from app.domain.events.occurrence import Occurrence
from app.domain.mails.senders import MailSender
from app.graphql.events.event import EVENT_TYPES, Event
from app.graphql.events.subjects import SUBJECT_FIELDS, show_subject


def _token(occurrence: Occurrence, _info: GraphQLResolveInfo) -> str | None:
    event = occurrence.event
    return event.token if isinstance(event, domain.LinkRequested) else None


def _redirect_url(occurrence: Occurrence, _info: GraphQLResolveInfo) -> str | None:
    event = occurrence.event
    return event.redirect_url if isinstance(event, domain.LinkRequested) else None


def _new_email(occurrence: Occurrence, _info: GraphQLResolveInfo) -> str | None:
    event = occurrence.event
    return event.new_email if isinstance(event, domain.LinkRequested) else None


def _mail_kind(occurrence: Occurrence, _info: GraphQLResolveInfo) -> str | None:
    event = occurrence.event
    return (event.mail_kind or None) if isinstance(event, domain.LinkRequested) else None


def _mail_sender(occurrence: Occurrence, _info: GraphQLResolveInfo) -> MailSender | None:
    event = occurrence.event
    if not isinstance(event, domain.LinkRequested) or not event.mail_sender:
        return None
    return MailSender(event.mail_sender)


def _fields(event: type[domain.Event]) -> dict[str, object]:
    """Return the fields of an event's type in addition to those of every event."""
    subject = SUBJECT_FIELDS[event.subject]
    fields: dict[str, object] = {
        subject.name: graphene.Field(subject.type),
        f"resolve_{subject.name}": staticmethod(show_subject),
    }
    if issubclass(event, domain.LinkRequested):
        fields |= {
            "token": graphene.String(
                description=(
                    "The secret of the link. Null for a webhook that lacks a permission of "
                    "the person who gets the link."
                )
            ),
            "redirect_url": graphene.String(description="The URL of the link."),
            "mail_kind": graphene.String(
                description="The kind of the email with the link, such as `password_reset`."
            ),
            "mail_sender": graphene.Field(
                "app.graphql.types.shop.MailSenderEnum",
                description=(
                    "Who was to send the email when the link was requested. Apps send it if this "
                    "is `APP` or `BOTH`."
                ),
            ),
            "resolve_mail_kind": staticmethod(_mail_kind),
            "resolve_mail_sender": staticmethod(_mail_sender),
            "resolve_token": staticmethod(_token),
            "resolve_redirect_url": staticmethod(_redirect_url),
        }
    if event is domain.AccountChangeEmailRequested:
        fields |= {
            "new_email": graphene.String(),
            "resolve_new_email": staticmethod(_new_email),
        }
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
    def resolve_event(occurrence: Occurrence, _info: GraphQLResolveInfo) -> Occurrence:
        return occurrence
