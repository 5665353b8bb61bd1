"""Request counts by time and kind of caller, and by untrusted forwarding peer."""

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


class ForwardingRecord(Record):
    """A peer that forwarded requests without being trusted to; all processes add to it.

    ``last_seen_at`` is when it was last written down.
    """

    __tablename__ = "untrusted_forwarding"

    peer: Mapped[str] = mapped_column(String(45), primary_key=True)
    requests: Mapped[int] = mapped_column(BigKey)
    last_seen_at: Mapped[datetime] = mapped_column(index=True)
