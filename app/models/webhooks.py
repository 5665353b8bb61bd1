"""Webhooks: where an app wants to hear of which events."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, partial_index


class WebhookRecord(Record):
    """One subscription of an app. ``query`` is what it wants to be told, empty for the default.

    ``secret`` is the sealed ``secretKey``, empty without one; ``old_secret`` signs beside it until
    ``old_secret_until``. ``failing_since`` is when its endpoint began to fail without a success
    since; ``disabled_reason`` is told when the installation itself has switched it off, and
    ``last_failure`` is what the last attempt that failed came to. An identifier is unique in its
    app. ``saved_by`` is who saved it last; ``saved_permissions``, joined by commas, what they held
    then, NULL for no limit (``domain/webhooks/permissions``).
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
    """An event that a webhook hears of; keyed by event first, for that is how events ask."""

    __tablename__ = "webhook_events"

    event: Mapped[str] = mapped_column(String(64), primary_key=True)
    webhook_id: Mapped[int] = mapped_column(
        ForeignKey("webhooks.id", ondelete="CASCADE"), primary_key=True, index=True
    )
