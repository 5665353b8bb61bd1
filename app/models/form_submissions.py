"""Forms of the console that create something, as they were submitted."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import Record


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
