"""Which webhooks are sent the secret of a link: those that hold every right of its subject.

The secret gives access to the subject's account. So a webhook gets the event without it if its
app, or the person who saved the webhook, lacks one of the subject's rights. This is judged when
the payload is made, and again at each attempt to send it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, Event, EventType, LinkRequested
from app.domain.keys import OUTBOX_EVENT
from app.domain.webhooks import may_receive_link
from app.models import AppRecord, DeliveryRecord, OutboxEventRecord, UserRecord, WebhookRecord
from app.ports import NamedRow, Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import part
from app.services.authorization.session_rights import (
    APP_PERMISSIONS,
    USER_COLUMNS,
    read_permissions,
    read_user,
)
from app.services.webhooks.stored_webhooks import SAVER_COLUMNS, read_saver
from app.services.webhooks.subscribers import Subscriber


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


@part
def link_subject(ports: Ports, event: Event) -> User | None:
    """Return the user of a requested link; ``None`` for other events or a deleted user."""
    if not isinstance(event, LinkRequested):
        return None
    query = select(*USER_COLUMNS).where(UserRecord.id == event.subject_id)
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    return None if row is None else read_user(row)


@part
def event_for_subscriber(subscriber: Subscriber, event: Event, subject: User | None) -> Event:
    """Return ``event``, without the link's secret if ``subscriber`` may not have it."""
    if not isinstance(event, LinkRequested):
        return event
    permissions = subscriber.saver.link_permissions(subscriber.app_permissions)
    is_allowed = may_receive_link(permissions, event.permission, subject)
    return event if is_allowed else replace(event, token=None)


@part
def sent_links(
    ports: Ports, session: Session, deliveries: Collection[int]
) -> Mapping[int, SentLink]:
    """Return the link of each of these deliveries by key, in one statement.

    Deliveries sent by hand are left out: no one requested their link.
    """
    rows = session.execute(
        select(
            DeliveryRecord.id.label("delivery_id"),
            DeliveryRecord.event,
            OutboxEventRecord.sealed,
            APP_PERMISSIONS.label("app_permissions"),
            *SAVER_COLUMNS,
            *USER_COLUMNS,
        )
        .join(WebhookRecord, WebhookRecord.id == DeliveryRecord.webhook_id)
        .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
        .outerjoin(OutboxEventRecord, OutboxEventRecord.id == DeliveryRecord.note_id)
        .outerjoin(UserRecord, UserRecord.id == DeliveryRecord.subject_id)
        .where(DeliveryRecord.id.in_(deliveries), DeliveryRecord.note_id.is_not(None))
    ).all()
    return {row.delivery_id: _sent_link(ports, row) for row in rows}


def _sent_link(ports: Ports, row: NamedRow) -> SentLink:
    permissions = read_saver(row).link_permissions(read_permissions(row.app_permissions))
    subject = None if row.user_id is None else read_user(row)
    return SentLink(
        _decrypted(ports, row.sealed), may_receive_link(permissions, _needed(row.event), subject)
    )


def _needed(event: str) -> Permission | None:
    return EVENTS[EventType(event)].permission if event in EVENTS else None


def _decrypted(ports: Ports, sealed: str | None) -> str | None:
    if sealed is None:
        return None  # the event has been forgotten
    try:
        return ports.encryption.decrypt(OUTBOX_EVENT, sealed) if sealed else ""
    except DecryptionError:
        return None
