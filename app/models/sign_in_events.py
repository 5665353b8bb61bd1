"""The sign-in log: successful and failed attempts."""

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class SignInEventRecord(Record):
    """A successful attempt, written with its session, or equal failed ones of a minute.

    ``reason`` is empty for a successful one. ``email_digest`` is the fingerprint of an unknown
    email, of which ``name`` has a masked form.
    """

    __tablename__ = "sign_in_events"
    # The chart adds up attempts by their reason, without reading the table.
    __table_args__ = (
        Index("ix_sign_in_events_by_time", "at", "id", "reason", "attempts"),
        Index("ix_sign_in_events_by_type", "account_type", "at", "id", "reason", "attempts"),
        Index("ix_sign_in_events_by_reason", "reason", "at", "id"),
        Index("ix_sign_in_events_by_user", "user_id", "at", "id"),
        Index("ix_sign_in_events_by_app", "app_id", "at", "id"),
        Index("ix_sign_in_events_by_address", "address", "at", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    at: Mapped[datetime]
    first_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=1)
    method: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(String(32), default="")
    account_type: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[int | None] = mapped_column(BigKey)
    app_id: Mapped[int | None] = mapped_column(BigKey)
    name: Mapped[str] = mapped_column(String(256), default="")
    email_digest: Mapped[str] = mapped_column(String(64), default="")
    provider: Mapped[str] = mapped_column(String(256), default="")
    address: Mapped[str] = mapped_column(String(45), default="")
    device: Mapped[str] = mapped_column(String(64), default="")
    in_console: Mapped[bool] = mapped_column(default=False)
    detail: Mapped[str] = mapped_column(String(200), default="", server_default="")
