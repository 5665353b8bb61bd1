"""Webhooks and their subscribed events."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, partial_index


class WebhookRecord(Record):
    """A webhook of an app; an empty ``query`` means the default one.

    ``secret`` is the encrypted ``secretKey``, empty without one; ``old_secret`` also signs until
    ``old_secret_until``. ``failing_since`` is the first failure without a success since;
    ``disabled_reason`` is set if the installation disabled it, and ``last_failure`` is the result
    of the last failed attempt. An identifier is unique in its app. ``saved_by`` saved it last;
    ``saved_permissions``, joined by commas, are what they held then, NULL for no limit
    (``domain/webhooks``).
    """

    __tablename__ = "webhooks"
    __table_args__ = (
        partial_index(
            "uq_webhooks_identifier",
            "app_id",
            "identifier",
            unique=True,
            where="identifier <> ''",
        ),
        partial_index(
            "ix_webhooks_failing",
            "failing_since",
            where="failing_since IS NOT NULL",
        ),
        partial_index(
            "ix_webhooks_disabled",
            "id",
            where="disabled_reason <> ''",
        ),
        Index("ix_webhooks_name_id", "name", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    app_id: Mapped[int] = mapped_column(ForeignKey("apps.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(256), default="", server_default="")
    identifier: Mapped[str] = mapped_column(String(256), default="", server_default="")
    target_url: Mapped[str] = mapped_column(String(2048))
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    query: Mapped[str] = mapped_column(Text, default="", server_default="")
    secret: Mapped[str] = mapped_column(Text, default="", server_default="")
    custom_headers: Mapped[dict[str, object]]
    created_at: Mapped[datetime]
    old_secret: Mapped[str] = mapped_column(Text, default="", server_default="")
    old_secret_until: Mapped[datetime | None]
    failing_since: Mapped[datetime | None]
    disabled_reason: Mapped[str] = mapped_column(String(256), default="", server_default="")
    disabled_at: Mapped[datetime | None]
    last_failure_at: Mapped[datetime | None]
    last_failure: Mapped[str] = mapped_column(String(256), default="", server_default="")
    saved_by_kind: Mapped[str] = mapped_column(String(16), default="", server_default="")
    saved_by: Mapped[str] = mapped_column(String(256), default="", server_default="")
    saved_permissions: Mapped[str | None] = mapped_column(Text)


class WebhookEventRecord(Record):
    """A webhook's subscribed event, keyed by event first for the fan-out."""

    __tablename__ = "webhook_events"

    event: Mapped[str] = mapped_column(String(64), primary_key=True)
    webhook_id: Mapped[int] = mapped_column(
        ForeignKey("webhooks.id", ondelete="CASCADE"), primary_key=True, index=True
    )
