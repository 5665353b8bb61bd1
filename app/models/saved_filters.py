"""Filters of the console's lists that people saved."""

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class SavedFilterRecord(Record):
    """A filter of a list under a name; ``query`` is the list's query string.

    It belongs to a person and is deleted with the account.
    """

    __tablename__ = "saved_filters"
    __table_args__ = (UniqueConstraint("user_id", "list_name", "name"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    list_name: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(String(64))
    query: Mapped[str] = mapped_column(String(2048))
