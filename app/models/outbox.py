"""The outbox: events to deliver and mails to send."""

from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, partial_index


class OutboxEventRecord(Record):
    """A note that something happened, written in the transaction that made it true.

    ``sealed`` holds the secret fields of the event (a link's token), encrypted. ``closed_at`` is
    set when every webhook concerned has its delivery; the demo sets it from the start, for none.
    ``lease_until`` keeps two workers apart. ``attempts`` counts the rounds that ended in a fault
    of ours.
    """

    __tablename__ = "outbox_events"
    __table_args__ = (
        partial_index(
            "ix_outbox_events_open",
            "id",
            where="closed_at IS NULL",
        ),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    type: Mapped[str] = mapped_column(String(64))
    subject_id: Mapped[int] = mapped_column(BigKey)
    data: Mapped[dict[str, object]]
    sealed: Mapped[str] = mapped_column(Text, default="", server_default="")
    issued_at: Mapped[datetime]
    principal_type: Mapped[str] = mapped_column(String(16), default="", server_default="")
    principal_id: Mapped[int | None] = mapped_column(BigKey)
    issuer: Mapped[str] = mapped_column(String(1024), default="", server_default="")
    lease_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    closed_at: Mapped[datetime | None] = mapped_column(index=True)


class OutboxMailRecord(Record):
    """A mail to send; ``sealed`` are its template's values, encrypted, emptied once it is sent.

    ``next_attempt_at`` is empty when nothing more is tried: sent, or given up.
    """

    __tablename__ = "outbox_mails"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    recipient: Mapped[str] = mapped_column(String(254))
    sealed: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    next_attempt_at: Mapped[datetime | None] = mapped_column(index=True)
    lease: Mapped[str] = mapped_column(String(32), default="", server_default="")
    sent_at: Mapped[datetime | None]
    last_error: Mapped[str] = mapped_column(String(512), default="", server_default="")
