"""The audit log: who changed what, before and after, from where."""

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class AuditRecord(Record):
    """One change of access, written in the transaction that makes it."""

    __tablename__ = "audit"
    # By each that entries are asked for, in the order in which they are shown.
    __table_args__ = (
        Index("ix_audit_by_time", "at", "id"),
        Index("ix_audit_by_action", "action", "at", "id"),
        Index("ix_audit_by_user", "actor_user_id", "at", "id"),
        Index("ix_audit_by_app", "actor_app_id", "at", "id"),
        Index("ix_audit_by_subject", "subject_type", "subject_id", "at", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    at: Mapped[datetime]
    actor_kind: Mapped[str] = mapped_column(String(16))
    actor_user_id: Mapped[int | None] = mapped_column(BigKey)
    actor_app_id: Mapped[int | None] = mapped_column(BigKey)
    actor_name: Mapped[str] = mapped_column(String(256), default="")
    address: Mapped[str] = mapped_column(String(45), default="")
    action: Mapped[str] = mapped_column(String(64))
    subject_type: Mapped[str] = mapped_column(String(32))
    subject_id: Mapped[str] = mapped_column(String(64))
    subject_name: Mapped[str] = mapped_column(String(256), default="")
    before: Mapped[dict[str, object]]
    after: Mapped[dict[str, object]]
