"""The links that are mailed: confirmation, reset, email change, deletion; and who asked."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class AccountLinkRecord(Record):
    """One link: the SHA-256 of its token, and the state of the account it was made for.

    ``state`` is a digest of what the link depends on (address, password, activity): when that has
    changed the link is dead. A used link's row is deleted, by whoever uses it first.
    """

    __tablename__ = "account_links"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    purpose: Mapped[str] = mapped_column(String(32))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    state: Mapped[str] = mapped_column(String(64))
    new_email: Mapped[str] = mapped_column(String(254), default="", server_default="")
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class ResetRequestRecord(Record):
    """Somebody asked for a link to set the password of whoever has ``email``, if anybody has.

    Nobody has looked yet: that is the worker's part, so that the answer takes the same time for
    every address. ``caller`` is who asked, for audit and events. Gone when it has been dealt with.
    """

    __tablename__ = "reset_requests"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    redirect_url: Mapped[str] = mapped_column(String(2048))
    caller: Mapped[dict[str, object]]
    created_at: Mapped[datetime]
