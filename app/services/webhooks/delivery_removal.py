"""Delete the deliveries of deleted webhooks and apps in bulk, without delaying anyone."""

from sqlalchemy import ColumnElement, delete, select

from app.models import DeliveryRecord
from app.ports import Ports
from app.services.authorization.register import part

BATCH_SIZE = 1000
"""Deliveries that go in one transaction: nobody else who writes waits for more."""


@part
def remove_deliveries(ports: Ports, of: ColumnElement[bool]) -> None:
    """Remove the deliveries that ``of`` is true of, down to the last ``BATCH_SIZE``.

    For what is about to be deleted with them: the rest goes in the same transaction as that. Never
    inside one; a crash in between leaves a webhook whose oldest deliveries are forgotten, and
    which can be deleted again.
    """
    query = select(DeliveryRecord.id).where(of).order_by(DeliveryRecord.id).limit(BATCH_SIZE + 1)
    while True:
        with ports.database.transaction() as session:
            keys = session.scalars(query).all()
            if len(keys) <= BATCH_SIZE:
                return
            session.execute(delete(DeliveryRecord).where(DeliveryRecord.id.in_(keys[:BATCH_SIZE])))
