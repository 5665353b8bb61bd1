"""Installations of apps that are under way, or have failed."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class AppInstallationRecord(Record):
    """A requested installation; deleted once the app is installed.

    ``caller`` is the requester and our URL, ``permissions`` (joined by commas) what they granted.
    ``app_id`` is the stored app, removed if the installation fails. ``next_attempt_at`` is empty
    when nothing more is tried; ``lease`` belongs to one worker.
    """

    __tablename__ = "app_installations"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    app_name: Mapped[str] = mapped_column(String(256))
    manifest_url: Mapped[str] = mapped_column(String(2048))
    permissions: Mapped[str] = mapped_column(Text, default="", server_default="")
    activate: Mapped[bool] = mapped_column(default=True, server_default=true())
    status: Mapped[str] = mapped_column(String(16), default="PENDING", server_default="PENDING")
    message: Mapped[str] = mapped_column(String(1024), default="", server_default="")
    caller: Mapped[dict[str, object]]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    app_id: Mapped[int | None] = mapped_column(
        ForeignKey("apps.id", ondelete="SET NULL"), index=True
    )
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    next_attempt_at: Mapped[datetime | None] = mapped_column(index=True)
    lease: Mapped[str] = mapped_column(String(32), default="", server_default="")
