"""How many requests came in, in which span of time, from which kind of caller."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class TrafficRecord(Record):
    """One span of ``domain.traffic.BUCKET``, one kind of caller; all processes add to it."""

    __tablename__ = "traffic"

    began_at: Mapped[datetime] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    requests: Mapped[int] = mapped_column(BigKey)
