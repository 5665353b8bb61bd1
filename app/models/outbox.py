"""The outbox (events to deliver and emails to send), and heartbeats of the workers on it."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, partial_index


class OutboxEventRecord(Record):
    """A note that something happened, written in the transaction that made it true.

    ``sealed`` holds the secret fields of the event (a link's token), encrypted. ``closed_at`` is
    set when every webhook concerned has its delivery; the demo sets it from the start, for none.
    ``lease_until`` keeps two workers apart. ``attempts`` counts the rounds that ended in an
    internal error.
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
    """A mail to send, and afterwards its entry in the mail log.

    ``sealed`` are its template's values, encrypted, emptied with the last attempt.
    ``next_attempt_at`` is empty when nothing more is tried: sent, or given up. ``attempted_at`` is
    the time of the last attempt. ``user_id`` is the account that the mail is about, kept after the
    account; ``redirect_url`` the page of its link, without the token, for a new link.
    ``language_code`` is the language it is written in, "" for English.
    ``awaited_event_id`` is the event with the same link while an app may send the mail instead:
    until ``next_attempt_at``, when Latchkey sends it. ``sent_by`` is the name of the app that did.
    """

    __tablename__ = "outbox_mails"
    __table_args__ = (
        Index("ix_outbox_mails_by_time", "created_at", "id"),
        Index("ix_outbox_mails_by_user", "user_id", "created_at", "id"),
        Index("ix_outbox_mails_by_kind", "kind", "created_at", "id"),
        partial_index(
            "ix_outbox_mails_unsent",
            "created_at",
            "id",
            where="sent_at IS NULL",
        ),
        partial_index(
            "ix_outbox_mails_awaiting",
            "awaited_event_id",
            where="awaited_event_id IS NOT NULL",
        ),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    recipient: Mapped[str] = mapped_column(String(254))
    user_id: Mapped[int | None] = mapped_column(BigKey)
    redirect_url: Mapped[str] = mapped_column(Text, default="", server_default="")
    sealed: Mapped[str] = mapped_column(Text)
    language_code: Mapped[str] = mapped_column(String(35), default="", server_default="")
    created_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    next_attempt_at: Mapped[datetime | None] = mapped_column(index=True)
    lease: Mapped[str] = mapped_column(String(32), default="", server_default="")
    attempted_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    awaited_event_id: Mapped[int | None] = mapped_column(BigKey)
    sent_by: Mapped[str] = mapped_column(String(256), default="", server_default="")
    last_error: Mapped[str] = mapped_column(String(512), default="", server_default="")


HEARTBEAT_ID = 1


class HeartbeatRecord(Record):
    """The one row in which every worker notes that it is alive; empty before the first one."""

    __tablename__ = "worker_pulse"
    __table_args__ = (CheckConstraint(f"id = {HEARTBEAT_ID}", name="one_row"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)
    beat_at: Mapped[datetime | None]
