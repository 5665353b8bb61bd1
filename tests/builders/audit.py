"""Reading the audit log."""

from sqlalchemy import select

from app.models import AuditRecord
from app.ports import Ports


def trail(ports: Ports, action: str) -> list[AuditRecord]:
    """Return the audit entries with ``action``, the oldest first."""
    with ports.database.reading() as session:
        rows = select(AuditRecord).where(AuditRecord.action == action).order_by(AuditRecord.id)
        return list(session.scalars(rows))
