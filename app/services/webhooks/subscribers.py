"""Find the subscribers of events: active webhooks of active apps with the event's permission."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, EventType
from app.domain.webhooks import UNKNOWN_SAVER, Saver
from app.models import AppRecord, WebhookEventRecord, WebhookRecord
from app.services.authorization.register import part
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
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
        """The app as the actor that reads the payload."""
        return Actor(
            ActorKind.APP,
            app_id=self.app_id,
            name=self.app_name,
            permissions=self.permissions,
            token_limit=self.saver.token_limit,
            issuer=issuer,
        )


@part
def subscribers_of(
    session: Session, types: Collection[EventType]
) -> Mapping[EventType, tuple[Subscriber, ...]]:
    """Return the webhooks subscribed to each of these events, each once, by key."""
    names = [kind.value for kind in types]
    rows = session.execute(
        select(
            WebhookEventRecord.event,
            WebhookRecord.id.label("webhook_id"),
            WebhookRecord.query,
            AppRecord.id.label("app_id"),
            AppRecord.name.label("app_name"),
            APP_PERMISSIONS.label("app_permissions"),
            *SAVER_COLUMNS,
        )
        .join(WebhookRecord, WebhookRecord.id == WebhookEventRecord.webhook_id)
        .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
        .where(
            WebhookEventRecord.event.in_([*names, EventType.ANY_EVENTS.value]),
            WebhookRecord.is_active.is_(True),
            AppRecord.is_active.is_(True),
        )
        .order_by(WebhookRecord.id)
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
