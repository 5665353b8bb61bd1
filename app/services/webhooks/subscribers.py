"""Find the subscribers of events, and which of them are sent the secret of a link.

Subscribers are active webhooks of active apps with the event's permission. A link's secret gives
access to an account, so it goes only to webhooks whose app and saver hold every right of its
subject, judged when the payload is made and again at each attempt.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, Event, EventType, LinkRequested
from app.domain.keys import OUTBOX_EVENT
from app.domain.mails.mail import (
    LINK_EVENTS,
    MailKind,
    MailSender,
    kinds_without_app,
    sender_setting,
)
from app.domain.webhooks import UNKNOWN_SAVER, Saver, may_receive_link, required_permission
from app.ports import NamedRow, Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import building_block, requires
from app.services.authorization.session_rights import (
    APP_PERMISSIONS,
    USER_COLUMNS,
    read_permissions,
    read_user,
)
from app.services.webhooks.stored_webhooks import SAVER_COLUMNS, read_saver


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A webhook subscribed to an event; an empty ``query`` means the default one.

    ``app_permissions`` are its app's, ``saver`` saved it last.
    """

    webhook_id: int
    query: str
    app_id: int
    app_name: str
    app_permissions: frozenset[Permission]
    saver: Saver = UNKNOWN_SAVER

    @property
    def permissions(self) -> frozenset[Permission]:
        """The permissions that the payload is read with."""
        return self.saver.payload_permissions(self.app_permissions)

    def actor(self, issuer: str) -> Actor:
        """Return the app as the actor that reads the payload."""
        return Actor(
            ActorKind.APP,
            app_id=self.app_id,
            name=self.app_name,
            permissions=self.permissions,
            token_limit=self.saver.token_limit,
            issuer=issuer,
        )


@building_block
def subscribers_of(
    session: Session, types: Collection[EventType]
) -> Mapping[EventType, tuple[Subscriber, ...]]:
    """Return the webhooks subscribed to each of these events, each once, by key."""
    names = [kind.value for kind in types]
    rows = session.execute(
        select(
            models.WebhookEvent.event,
            models.Webhook.id.label("webhook_id"),
            models.Webhook.query,
            models.App.id.label("app_id"),
            models.App.name.label("app_name"),
            APP_PERMISSIONS.label("app_permissions"),
            *SAVER_COLUMNS,
        )
        .join(models.Webhook, models.Webhook.id == models.WebhookEvent.webhook_id)
        .join(models.App, models.App.id == models.Webhook.app_id)
        .where(
            models.WebhookEvent.event.in_([*names, EventType.ANY_EVENTS.value]),
            models.Webhook.is_active.is_(True),
            models.App.is_active.is_(True),
        )
        .order_by(models.Webhook.id)
    ).all()
    found: dict[EventType, dict[int, Subscriber]] = {kind: {} for kind in types}
    for row in rows:
        subscriber = Subscriber(
            webhook_id=row.webhook_id,
            query=row.query,
            app_id=row.app_id,
            app_name=row.app_name,
            app_permissions=read_permissions(row.app_permissions),
            saver=read_saver(row),
        )
        subscribed = types if row.event == EventType.ANY_EVENTS.value else [EventType(row.event)]
        for kind in subscribed:
            if EVENTS[kind].permission in subscriber.permissions:
                found[kind][row.webhook_id] = subscriber
    return {kind: tuple(by_webhook.values()) for kind, by_webhook in found.items()}


_ASKS = re.compile(r"\btoken\b")
"""In a query: it selects the secret of the link."""


@requires(Permission.MANAGE_SETTINGS)
def list_link_apps(ports: Ports, actor: Actor) -> Mapping[MailKind, tuple[str, ...]]:
    """Return the names of the active apps that can send each kind of email; one statement.

    To people without further permissions: a link of others needs those, too.
    """
    return _link_apps(ports)


@building_block
def sender_columns() -> list[ColumnElement[str]]:
    """Return the columns that ``mails_without_app`` reads."""
    return [getattr(models.Shop, sender_setting(kind)) for kind in LINK_EVENTS]


@building_block
def mails_without_app(ports: Ports, shop: NamedRow | models.Shop) -> tuple[MailKind, ...]:
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


@dataclass(frozen=True, slots=True)
class SentLink:
    """A delivery's link, and whether its webhook can receive the secret now.

    ``secret`` is ``None`` if it is no longer known.
    """

    secret: str | None = field(repr=False)
    is_allowed: bool

    def may_send(self, payload: str) -> bool:
        """Whether ``payload`` holds nothing that the webhook may not have."""
        if self.is_allowed or self.secret == "":
            return True
        return self.secret is not None and self.secret not in payload


@building_block
def link_subject(ports: Ports, event: Event) -> User | None:
    """Return the user of a requested link; ``None`` for other events or a deleted user."""
    if not isinstance(event, LinkRequested):
        return None
    query = select(*USER_COLUMNS).where(models.User.id == event.subject_id)
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    return None if row is None else read_user(row)


@building_block
def event_for_subscriber(subscriber: Subscriber, event: Event, subject: User | None) -> Event:
    """Return ``event``, without the link's secret if ``subscriber`` may not have it."""
    if not isinstance(event, LinkRequested):
        return event
    permissions = subscriber.saver.link_permissions(subscriber.app_permissions)
    is_allowed = may_receive_link(permissions, event.permission, subject)
    return event if is_allowed else replace(event, token=None)


@building_block
def sent_links(
    ports: Ports, session: Session, deliveries: Collection[int]
) -> Mapping[int, SentLink]:
    """Return the link of each of these deliveries by key, in one statement.

    Deliveries sent by hand are left out: no one requested their link.
    """
    rows = session.execute(
        select(
            models.Delivery.id.label("delivery_id"),
            models.Delivery.event,
            models.OutboxEvent.sealed,
            APP_PERMISSIONS.label("app_permissions"),
            *SAVER_COLUMNS,
            *USER_COLUMNS,
        )
        .join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
        .join(models.App, models.App.id == models.Webhook.app_id)
        .outerjoin(models.OutboxEvent, models.OutboxEvent.id == models.Delivery.note_id)
        .outerjoin(models.User, models.User.id == models.Delivery.subject_id)
        .where(models.Delivery.id.in_(deliveries), models.Delivery.note_id.is_not(None))
    ).all()
    return {row.delivery_id: _sent_link(ports, row) for row in rows}


def _sent_link(ports: Ports, row: NamedRow) -> SentLink:
    permissions = read_saver(row).link_permissions(read_permissions(row.app_permissions))
    subject = None if row.user_id is None else read_user(row)
    is_allowed = may_receive_link(permissions, required_permission(row.event), subject)
    return SentLink(_decrypted(ports, row.sealed), is_allowed)


def _decrypted(ports: Ports, sealed: str | None) -> str | None:
    if sealed is None:
        return None  # the event has been forgotten
    try:
        return ports.encryption.decrypt(OUTBOX_EVENT, sealed) if sealed else ""
    except DecryptionError:
        return None
