"""The words that people are found by, kept in step with their records."""

from sqlalchemy import Connection, ForeignKey, Index, String, delete, event, insert, inspect
from sqlalchemy.orm import Mapped, Mapper, mapped_column

from app.domain.accounts.search import MAX_WORD_LENGTH, words_of
from app.models.record import Record
from app.models.users import UserRecord

WORD = String(MAX_WORD_LENGTH).with_variant(String(MAX_WORD_LENGTH, collation="C"), "postgresql")
"""Compared by code points on every database, so that a beginning is a range of an index."""

_KEPT = ("email", "first_name", "last_name", "is_staff")


class UserWordRecord(Record):
    """A word that finds a person, folded by ``app.domain.accounts.search``."""

    __tablename__ = "user_words"
    __table_args__ = (
        Index("ix_user_words_search", "is_staff", "word", "user_id"),
        {"sqlite_with_rowid": False},
    )

    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    word: Mapped[str] = mapped_column(WORD, primary_key=True)
    is_staff: Mapped[bool]


# Whoever changes a person's name or address need not know that there is an index of words.


@event.listens_for(UserRecord, "after_insert")
def _add(_mapper: Mapper[UserRecord], connection: Connection, user: UserRecord) -> None:
    words = words_of(user.email, user.first_name, user.last_name)
    connection.execute(
        insert(UserWordRecord),
        [{"user_id": user.id, "word": word, "is_staff": user.is_staff} for word in words],
    )


@event.listens_for(UserRecord, "after_update")
def _replace(mapper: Mapper[UserRecord], connection: Connection, user: UserRecord) -> None:
    state = inspect(user)
    if any(state.attrs[name].history.has_changes() for name in _KEPT):
        connection.execute(delete(UserWordRecord).where(UserWordRecord.user_id == user.id))
        _add(mapper, connection, user)
