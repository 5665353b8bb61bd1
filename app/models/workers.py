"""Background workers and their heartbeats."""

from datetime import datetime

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record

HEARTBEAT_ID = 1


class HeartbeatRecord(Record):
    """The one row in which every worker notes that it is alive; empty before the first one."""

    __tablename__ = "worker_pulse"
    __table_args__ = (CheckConstraint(f"id = {HEARTBEAT_ID}", name="one_row"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)
    beat_at: Mapped[datetime | None]
