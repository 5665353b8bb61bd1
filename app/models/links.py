"""The links that are mailed: confirmation, reset, email change, deletion."""

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
