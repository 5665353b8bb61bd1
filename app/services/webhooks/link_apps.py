"""Which apps can send emails with a link: they get the link, and their query asks for it."""

import re
from collections.abc import Iterable, Mapping

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, EventType
from app.domain.mails.mail import MailKind
from app.domain.mails.senders import LINK_EVENTS
from app.domain.webhooks.permissions import may_receive_link
from app.ports import Ports
from app.services.authorization.register import requires
from app.services.webhooks.subscribers import Subscriber, subscribers_of

_ASKS = re.compile(r"\btoken\b")
"""In a query: it selects the secret of the link."""


@requires(Permission.MANAGE_SETTINGS)
def list_link_apps(ports: Ports, actor: Actor) -> Mapping[MailKind, tuple[str, ...]]:
    """Return the names of the active apps that can send each kind of email; one statement.

    To people without further permissions: a link of others needs those, too.
    """
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
