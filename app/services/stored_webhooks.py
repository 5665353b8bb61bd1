"""Webhooks as they are stored: read, and written inside a transaction."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.domain.webhooks import AsyncEvent, Webhook
from app.models import WebhookEventRecord, WebhookRecord
from app.ports import Ports
from app.services.access import part

SECRET_SEAL = "webhook secret"  # noqa: S105


@part
def read_webhooks(
    ports: Ports, session: Session, stored: Collection[WebhookRecord]
) -> tuple[Webhook, ...]:
    """The webhooks in these records, in their order, with what they hear of."""
    wanted = select(WebhookEventRecord).where(
        WebhookEventRecord.webhook_id.in_([one.id for one in stored])
    )
    names: dict[int, set[str]] = {one.id: set() for one in stored}
    for row in session.scalars(wanted):
        names[row.webhook_id].add(row.event)
    return tuple(_webhook(ports, one, names[one.id]) for one in stored)


@part
def store_webhook(
    ports: Ports, session: Session, app_id: int, webhook: Webhook, created_at: datetime
) -> int:
    """A new webhook of that app; returns its key, for ``id`` and ``app_id`` are not looked at."""
    stored = WebhookRecord(
        app_id=app_id,
        name=webhook.name,
        identifier=webhook.identifier,
        target_url=webhook.target_url,
        is_active=webhook.is_active,
        query=webhook.query,
        secret=sealed_secret(ports, webhook.secret_key),
        custom_headers=dict(webhook.custom_headers),
        created_at=created_at,
    )
    session.add(stored)
    session.flush()
    store_events(session, stored.id, webhook.events)
    return stored.id


@part
def store_events(session: Session, webhook_id: int, events: Iterable[AsyncEvent]) -> None:
    """Let a webhook hear of ``events`` and no others."""
    session.execute(delete(WebhookEventRecord).where(WebhookEventRecord.webhook_id == webhook_id))
    session.add_all(
        WebhookEventRecord(webhook_id=webhook_id, event=event.value) for event in events
    )
    session.flush()


@part
def sealed_secret(ports: Ports, secret_key: str) -> str:
    """What is stored of a ``secretKey``."""
    return ports.sealing.seal(SECRET_SEAL, secret_key) if secret_key else ""


def _webhook(ports: Ports, stored: WebhookRecord, names: Collection[str]) -> Webhook:
    headers: Mapping[str, object] = stored.custom_headers
    return Webhook(
        id=stored.id,
        app_id=stored.app_id,
        name=stored.name,
        identifier=stored.identifier,
        target_url=stored.target_url,
        is_active=stored.is_active,
        query=stored.query,
        events=tuple(event for event in AsyncEvent if event.value in names),
        custom_headers={name: str(value) for name, value in headers.items()},
        created_at=stored.created_at,
        secret_key=ports.sealing.unseal(SECRET_SEAL, stored.secret) if stored.secret else "",
    )
