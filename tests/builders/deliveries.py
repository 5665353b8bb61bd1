"""Stored deliveries with attempts, and sending those that are due."""

from datetime import datetime

from app import models
from app.domain.authorization.actor import WORKER
from app.domain.deliveries.deliveries import DeliveryStatus
from app.ports import Ports
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.sending import send_deliveries
from tests.builders.people import ISSUER


def store_deliveries(
    ports: Ports,
    webhook_id: int,
    status: DeliveryStatus,
    *,
    attempts: int = 1,
    at: datetime | None = None,
    count: int = 1,
) -> list[int]:
    """Store several deliveries of one kind; return their keys."""
    with ports.database.transaction() as session:
        made = [
            models.Delivery(
                webhook_id=webhook_id,
                event="PRODUCT_UPDATED",
                subject_id=1,
                message_id=f"msg_{ports.randomness.token(24)}",
                payload="{}",
                issuer=ISSUER,
                status=status.value,
                attempts=attempts,
                created_at=at or ports.clock.now(),
            )
            for _ in range(count)
        ]
        session.add_all(made)
        session.flush()
        return [delivery.id for delivery in made]


def store_attempt(
    ports: Ports,
    delivery_id: int,
    *,
    answered: int | None = 200,
    duration: float = 0.1,
    at: datetime | None = None,
) -> int:
    """Store an attempt at a delivery; returns its key."""
    succeeded = answered is not None and answered < 300
    with ports.database.transaction() as session:
        attempt = models.DeliveryAttempt(
            delivery_id=delivery_id,
            created_at=at or ports.clock.now(),
            duration=duration,
            status=(DeliveryStatus.SUCCESS if succeeded else DeliveryStatus.FAILED).value,
            request_headers={},
            response_status=answered,
            response_headers={},
            response="",
        )
        session.add(attempt)
        session.flush()
        return attempt.id


def work_off(ports: Ports) -> int:
    """Send all due deliveries; return how many were tried."""
    batches = lease_due_deliveries(ports, WORKER)
    return sum(send_deliveries(ports, WORKER, batch) for batch in batches)


def stored_delivery(ports: Ports, key: int) -> models.Delivery:
    with ports.database.reading() as session:
        return session.get_one(models.Delivery, key)


def stored_webhook(ports: Ports, key: int) -> models.Webhook:
    with ports.database.reading() as session:
        return session.get_one(models.Webhook, key)
