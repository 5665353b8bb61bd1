"""The links that are mailed: confirmation, reset, email change, deletion; and who asked."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class AccountLinkRecord(Record):
    """A link: the SHA-256 of its token, and the account's state when it was created.

    ``state`` is a digest of what the link depends on (email, password, activity): a change
    invalidates the link. A used link's row is deleted by its first user. ``new_email`` is what the
    link sets, ``notice`` what the mail of a "This wasn't me" link was about.
    """

    __tablename__ = "account_links"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    purpose: Mapped[str] = mapped_column(String(32))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    state: Mapped[str] = mapped_column(String(64))
    new_email: Mapped[str] = mapped_column(String(254), default="", server_default="")
    notice: Mapped[dict[str, object]] = mapped_column(default=dict, server_default="{}")
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class ResetRequestRecord(Record):
    """A request for a link to set the password of the account with ``email``, if there is one.

    The worker looks up the account, so that the response takes the same time for every email.
    ``caller`` is the requester, for audit and events. Deleted once processed.
    """

    __tablename__ = "reset_requests"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    redirect_url: Mapped[str] = mapped_column(String(2048))
    caller: Mapped[dict[str, object]]
    created_at: Mapped[datetime]
