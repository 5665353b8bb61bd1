"""Records of the console: forms that were submitted, and saved filters of lists."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class FormSubmissionRecord(Record):
    """A submitted form, by the key that it carries; one submission of a key creates something.

    ``location`` is the page of what was created, empty while it is being created; until then
    ``expires_at`` is when the form can be sent again.
    ``encrypted_secret`` is shown on that page once, to this session, and then removed.
    """

    __tablename__ = "form_submissions"

    key: Mapped[str] = mapped_column(String(32), primary_key=True)
    session_id: Mapped[int] = mapped_column(
        ForeignKey("sessions.id", ondelete="CASCADE"), index=True
    )
    location: Mapped[str] = mapped_column(String(1024), default="", server_default="")
    encrypted_secret: Mapped[str] = mapped_column(Text, default="", server_default="")
    expires_at: Mapped[datetime] = mapped_column(index=True)


class FormAnswerRecord(Record):
    """The answer to a form, for the same form sent again at once; encrypted, for seconds.

    ``key`` is a digest of what was sent and by which browser. ``encrypted_answer`` is empty while
    the form is being answered. ``is_repeated``: what comes later gets it, too.
    """

    __tablename__ = "form_answers"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    encrypted_answer: Mapped[str] = mapped_column(Text, default="", server_default="")
    is_repeated: Mapped[bool] = mapped_column(default=False, server_default=false())
    expires_at: Mapped[datetime] = mapped_column(index=True)


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
