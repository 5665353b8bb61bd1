"""Apps, what they may do, and their tokens (hashed)."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class AppRecord(Record):
    __tablename__ = "apps"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    name: Mapped[str] = mapped_column(String(256))
    identifier: Mapped[str] = mapped_column(String(256), default="", server_default="")
    type: Mapped[str] = mapped_column(String(16), default="LOCAL", server_default="LOCAL")
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    created_at: Mapped[datetime]


class AppPermissionRecord(Record):
    __tablename__ = "app_permissions"

    app_id: Mapped[int] = mapped_column(
        ForeignKey("apps.id", ondelete="CASCADE"), primary_key=True
    )
    permission: Mapped[str] = mapped_column(String(64), primary_key=True)


class AppTokenRecord(Record):
    """A long-lived token: its SHA-256 (the token is 220 random bits) and last four characters."""

    __tablename__ = "app_tokens"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    app_id: Mapped[int] = mapped_column(ForeignKey("apps.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(256), default="", server_default="")
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    last_four: Mapped[str] = mapped_column(String(4))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    last_used_address: Mapped[str] = mapped_column(String(45), default="", server_default="")
