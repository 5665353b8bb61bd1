"""The shop's own email templates."""

from datetime import datetime

from sqlalchemy import String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class MailTemplateRecord(Record):
    """A version of a template that replaces ours for a kind of email and a language.

    ``language_code`` is "" for all languages. At most one version is current; without one, ours is
    sent. ``fault`` is why the last email couldn't be rendered with it, "" if it could.
    """

    __tablename__ = "mail_templates"
    __table_args__ = (UniqueConstraint("kind", "language_code", "version"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    language_code: Mapped[str] = mapped_column(String(35), default="", server_default="")
    version: Mapped[int]
    is_current: Mapped[bool]
    subject: Mapped[str] = mapped_column(String(500))
    html: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    saved_at: Mapped[datetime]
    saved_by: Mapped[str] = mapped_column(String(256), default="", server_default="")
    fault: Mapped[str] = mapped_column(String(512), default="", server_default="")
