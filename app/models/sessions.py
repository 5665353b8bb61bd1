"""Sessions: one row a login, gone when it has ended."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, false
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, partial_index

WITHOUT_REFRESH = "origin = 'oidc' AND provider_refresh_token = ''"
"""Which sessions no provider can refresh, in SQL."""


class SessionRecord(Record):
    """A login that is still good until ``expires_at``; ending it deletes the row.

    ``token`` is the claim of that name in every token of the session. ``refresh_digest`` is the
    SHA-256 of the current refresh token's ``csrf_token``: what single-use refresh tokens compare
    once they are switched on, and ``refreshed_at`` when that took the place of another.

    A session that began at an identity provider names it and the identity it was opened for.
    ``sid`` is the provider's own name for it, ``provider_refresh_token`` (sealed) what it is
    refreshed with there; ``refreshing_until`` keeps two refreshes apart. ``scope`` holds the
    rights that the provider granted, where it rules; it is null where rights are kept here.
    ``amr`` are the authentication methods (RFC 8176), separated by spaces, of a session that used
    a second factor or passkey; empty for others. ``in_console``: it began at the console, whose
    cookie names it, and no client has tokens of it.
    """

    __tablename__ = "sessions"
    __table_args__ = (
        partial_index(
            "ix_sessions_provider_id_sid",
            "provider_id",
            "sid",
            where="provider_id IS NOT NULL",
        ),
        partial_index("ix_sessions_granted", "expires_at", where="scope <> ''"),
        partial_index("ix_sessions_without_refresh", "expires_at", where=WITHOUT_REFRESH),
        Index("ix_sessions_origin_expires_at_user_id", "origin", "expires_at", "user_id"),
        Index("ix_sessions_by_user", "user_id", "origin", "expires_at"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    token: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    origin: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    last_used_at: Mapped[datetime | None]
    address: Mapped[str] = mapped_column(String(45), default="", server_default="")
    user_agent: Mapped[str] = mapped_column(String(256), default="", server_default="")
    refresh_digest: Mapped[str] = mapped_column(String(64), default="", server_default="")
    refreshed_at: Mapped[datetime | None]
    provider_id: Mapped[int | None] = mapped_column(
        ForeignKey("identity_providers.id", ondelete="CASCADE")
    )
    identity_id: Mapped[int | None] = mapped_column(
        ForeignKey("external_identities.id", ondelete="CASCADE"), index=True
    )
    sid: Mapped[str] = mapped_column(String(255), default="", server_default="")
    provider_refresh_token: Mapped[str] = mapped_column(Text, default="", server_default="")
    refreshing_until: Mapped[datetime | None]
    scope: Mapped[str | None] = mapped_column(Text)
    amr: Mapped[str] = mapped_column(String(255), default="", server_default="")
    in_console: Mapped[bool] = mapped_column(default=False, server_default=false())
