"""Webhooks and waiting deliveries."""

from sqlalchemy import insert, update

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EventType, ProductUpdated
from app.domain.webhooks import UNKNOWN_SAVER, Saver
from app.ports import Ports
from app.services.deliveries.fanout import fan_out_events
from app.services.outbox.publisher import add_event
from app.services.webhooks.stored_webhooks import encrypted_headers, encrypted_secret, set_saver
from tests.builders.apps import make_app
from tests.builders.people import ISSUER

TARGET = "https://app.example.com/hook"


def make_webhook(  # noqa: PLR0913 - every field has a default
    ports: Ports,
    app_id: int,
    *events: EventType,
    target_url: str = TARGET,
    secret: str = "",
    custom_headers: dict[str, str] | None = None,
    query: str = "",
    name: str = "hook",
    saver: Saver = UNKNOWN_SAVER,
) -> int:
    """Store a webhook; return its key."""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        webhook = models.Webhook(
            app_id=app_id,
            name=name,
            target_url=target_url,
            query=query,
            secret=encrypted_secret(ports, secret),
            custom_headers=encrypted_headers(ports, custom_headers or {}),
            created_at=now,
        )
        set_saver(webhook, saver)
        session.add(webhook)
        session.flush()
        session.add_all(
            models.WebhookEvent(event=event.value, webhook_id=webhook.id) for event in events
        )
        return webhook.id


def make_delivery(ports: Ports, webhook_id: int, payload: str = '{"product":null}') -> int:
    """Store a due delivery; return its key."""
    with ports.database.transaction() as session:
        delivery = _due_delivery(ports, webhook_id, payload)
        session.add(delivery)
        session.flush()
        return delivery.id


def make_due_deliveries(ports: Ports, webhook_id: int, count: int) -> None:
    """Store several at once."""
    with ports.database.transaction() as session:
        session.add_all(_due_delivery(ports, webhook_id) for _ in range(count))


def _due_delivery(
    ports: Ports, webhook_id: int, payload: str = '{"product":null}'
) -> models.Delivery:
    now = ports.clock.now()
    return models.Delivery(
        webhook_id=webhook_id,
        event="PRODUCT_UPDATED",
        subject_id=1,
        message_id=f"msg_{ports.randomness.token(24)}",
        payload=payload,
        issuer=ISSUER,
        status=DeliveryStatus.PENDING.value,
        created_at=now,
        next_attempt_at=now,
    )


def change_webhook(ports: Ports, webhook_id: int, **values: object) -> None:
    """Write ``values`` into a webhook's row, by column name."""
    with ports.database.transaction() as session:
        session.execute(
            update(models.Webhook).where(models.Webhook.id == webhook_id).values(**values)
        )


def change_delivery(ports: Ports, delivery_id: int, **values: object) -> None:
    """Write ``values`` into a delivery's row, by column name."""
    with ports.database.transaction() as session:
        session.execute(
            update(models.Delivery).where(models.Delivery.id == delivery_id).values(**values)
        )


def make_many_deliveries(ports: Ports, webhook_id: int, count: int, **values: object) -> None:
    """Store successful deliveries with one attempt each; ``values`` are by column name."""
    first = make_delivery(ports, webhook_id)
    with ports.database.transaction() as session:
        one = session.get_one(models.Delivery, first)
        one.status, one.next_attempt_at = DeliveryStatus.SUCCESS.value, None
        names = [column.key for column in models.Delivery.__table__.columns if column.key != "id"]
        alike = {name: getattr(one, name) for name in names} | values
        rows = [alike | {"message_id": f"{one.message_id}_{number}"} for number in range(1, count)]
        keys = [first]
        if rows:
            keys += session.scalars(insert(models.Delivery).returning(models.Delivery.id), rows)
        attempt = {
            "created_at": one.created_at,
            "duration": 0.01,
            "status": DeliveryStatus.SUCCESS.value,
            "request_headers": {},
            "response_headers": {},
            "response": "",
        }
        session.execute(
            insert(models.DeliveryAttempt), [attempt | {"delivery_id": key} for key in keys]
        )
    if values:
        change_delivery(ports, first, **values)


def make_missed_events(ports: Ports, count: int) -> None:
    """Publish updates of ``count`` products before the webhook ``hook`` for them exists."""
    with ports.database.transaction() as session:
        for number in range(count):
            add_event(ports, OPERATOR, session, ProductUpdated(number))
    while fan_out_events(ports, WORKER):
        pass
    app, _ = make_app(ports, "Warehouse", Permission.MANAGE_PRODUCTS)
    make_webhook(ports, app, EventType.PRODUCT_UPDATED)
