"""Which apps can send emails with a link: they get the link, and their query asks for it."""

import re
from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, EventType
from app.domain.mails.mail import (
    LINK_EVENTS,
    MailKind,
    MailSender,
    kinds_without_app,
    sender_setting,
)
from app.domain.webhooks import may_receive_link
from app.models import ShopRecord
from app.ports import NamedRow, Ports
from app.services.authorization.register import part, requires
from app.services.webhooks.subscribers import Subscriber, subscribers_of

_ASKS = re.compile(r"\btoken\b")
"""In a query: it selects the secret of the link."""


@requires(Permission.MANAGE_SETTINGS)
def list_link_apps(ports: Ports, actor: Actor) -> Mapping[MailKind, tuple[str, ...]]:
    """Return the names of the active apps that can send each kind of email; one statement.

    To people without further permissions: a link of others needs those, too.
    """
    return _link_apps(ports)


@part
def sender_columns() -> list[ColumnElement[str]]:
    """Return the columns that ``mails_without_app`` reads."""
    return [getattr(ShopRecord, sender_setting(kind)) for kind in LINK_EVENTS]


@part
def mails_without_app(ports: Ports, shop: NamedRow | ShopRecord) -> tuple[MailKind, ...]:
    """Return the kinds that an app is to send though none can; no statement if we send all."""
    senders = {kind: getattr(shop, sender_setting(kind)) for kind in LINK_EVENTS}
    if all(sender == MailSender.OURS for sender in senders.values()):
        return ()
    return kinds_without_app(senders, _link_apps(ports))


def _link_apps(ports: Ports) -> dict[MailKind, tuple[str, ...]]:
    types = {event for events in LINK_EVENTS.values() for event in events}
    with ports.database.reading() as session:
        found = subscribers_of(session, types)
    return {kind: _names(found, events) for kind, events in LINK_EVENTS.items()}


def _names(
    found: Mapping[EventType, tuple[Subscriber, ...]], events: Iterable[EventType]
) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            subscriber.app_name
            for event in events
            for subscriber in found[event]
            if _gets_link(subscriber, event)
        )
    )


def _gets_link(subscriber: Subscriber, event: EventType) -> bool:
    permissions = subscriber.saver.link_permissions(subscriber.app_permissions)
    is_asked_for = not subscriber.query or _ASKS.search(subscriber.query) is not None
    return is_asked_for and may_receive_link(permissions, EVENTS[event].permission, None)
