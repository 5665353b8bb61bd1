"""Deletions that an earlier version put into the outbox are delivered by this one."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from app import models
from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.events import EVENTS, Deletion, EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries.fanout import fan_out_events
from tests.builders.apps import make_app
from tests.builders.people import ISSUER
from tests.builders.webhooks import make_webhook
from tests.services.outbox.sample_snapshots import frozen_snapshots

DELETIONS = [event for event in EVENTS.values() if issubclass(event, Deletion)]


def store_deletion(ports: Ports, event: type[Deletion], snapshot: Mapping[str, Any]) -> None:
    with ports.database.transaction() as session:
        session.add(
            models.OutboxEvent(
                type=event.type.value,
                subject_id=snapshot["id"],
                data={"snapshot": dict(snapshot)},
                issued_at=ports.clock.now(),
                issuer=ISSUER,
            )
        )


def test_deletion_is_delivered_whichever_fields_its_snapshot_has(ports: Ports) -> None:
    app, _ = make_app(ports, "listener", *ALL_PERMISSIONS)
    for event in DELETIONS:
        make_webhook(ports, app, EventType(event.type.value))
        stored = frozen_snapshots(event.subject.type)
        for snapshot in stored:
            store_deletion(ports, event, snapshot)
        for dropped in stored[-1].keys() - {"id"}:
            left = {name: value for name, value in stored[-1].items() if name != dropped}
            store_deletion(ports, event, left)

    while fan_out_events(ports, WORKER):
        pass  # a part of them each time

    for event in DELETIONS:
        of_event = select(models.Delivery).where(models.Delivery.event == event.type.value)
        with ports.database.reading() as session:
            sent = session.scalars(of_event).all()
        stored = frozen_snapshots(event.subject.type)
        assert len(sent) == len(stored) + len(stored[-1]) - 1, event.__name__
        for delivery in sent:
            assert delivery.status == "PENDING", (event.__name__, delivery.given_up)
            (subject,) = json.loads(delivery.payload).values()
            assert subject["id"] == to_global_id(event.subject.type, stored[-1]["id"])
