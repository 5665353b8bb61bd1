"""Reading the audit log."""

from sqlalchemy import select

from app import models
from app.ports import Ports


def trail(ports: Ports, action: str) -> list[models.AuditEntry]:
    """Return the audit entries with ``action``, the oldest first."""
    with ports.database.reading() as session:
        rows = (
            select(models.AuditEntry)
            .where(models.AuditEntry.action == action)
            .order_by(models.AuditEntry.id)
        )
        return list(session.scalars(rows))
