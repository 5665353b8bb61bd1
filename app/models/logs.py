"""What happened: the audit log, the sign-in log, and counts of requests."""

from datetime import datetime

from sqlalchemy import Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, text_column


class AuditEntry(Record):
    """One change of access, written in the transaction that makes it.

    ``own_profile``: a customer changed names, addresses or the like of their own.
    """

    __tablename__ = "audit"
    # By each that entries are asked for, in the order in which they are shown.
    __table_args__ = (
        Index("ix_audit_by_time", "at", "id"),
        Index("ix_audit_by_kind", "own_profile", "at", "id"),
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
    own_profile: Mapped[bool] = mapped_column(default=False, server_default=false())


class SignInEvent(Record):
    """A successful attempt, written with its session, or equal failed ones of a minute.

    ``reason`` is empty for a successful one. ``email_digest`` is the fingerprint of an unknown
    email, of which ``name`` has a masked form.
    """

    __tablename__ = "sign_in_events"
    # The chart adds up attempts by their reason, without reading the table.
    __table_args__ = (
        Index("ix_sign_in_events_by_time", "at", "id", "reason", "attempts"),
        Index("ix_sign_in_events_by_type", "account_type", "at", "id", "reason", "attempts"),
        Index("ix_sign_in_events_by_reason", "reason", "at", "id"),
        Index("ix_sign_in_events_by_user", "user_id", "at", "id"),
        Index("ix_sign_in_events_by_app", "app_id", "at", "id"),
        Index("ix_sign_in_events_by_address", "address", "at", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    at: Mapped[datetime]
    first_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=1)
    method: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(String(32), default="")
    account_type: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[int | None] = mapped_column(BigKey)
    app_id: Mapped[int | None] = mapped_column(BigKey)
    name: Mapped[str] = mapped_column(String(256), default="")
    email_digest: Mapped[str] = mapped_column(String(64), default="")
    provider: Mapped[str] = mapped_column(String(256), default="")
    address: Mapped[str] = mapped_column(String(45), default="")
    device: Mapped[str] = mapped_column(String(64), default="")
    in_console: Mapped[bool] = mapped_column(default=False)
    detail: Mapped[str] = text_column(200)
    second_factor: Mapped[str] = text_column(32)


class Traffic(Record):
    """One span of ``domain.traffic.BUCKET``, one kind of caller; all processes add to it."""

    __tablename__ = "traffic"

    began_at: Mapped[datetime] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    requests: Mapped[int] = mapped_column(BigKey)


class Forwarding(Record):
    """A peer that forwarded requests without being trusted to; all processes add to it.

    ``last_seen_at`` is when it was last written down.
    """

    __tablename__ = "untrusted_forwarding"

    peer: Mapped[str] = mapped_column(String(45), primary_key=True)
    requests: Mapped[int] = mapped_column(BigKey)
    last_seen_at: Mapped[datetime] = mapped_column(index=True)


class AppRequest(Record):
    """Requests of an app in one minute or hour (``span`` in seconds) that ended alike.

    ``code`` is that of the first error, "" without one. ``slow`` of them took a second or longer,
    and ``slowest`` is in milliseconds. All processes add to it.
    """

    __tablename__ = "app_requests"
    __table_args__ = (Index("ix_app_requests_span_began_at", "span", "began_at"),)

    app_id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)
    span: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    began_at: Mapped[datetime] = mapped_column(primary_key=True)
    code: Mapped[str] = mapped_column(String(64), primary_key=True)
    requests: Mapped[int] = mapped_column(BigKey)
    slow: Mapped[int] = mapped_column(BigKey)
    slowest: Mapped[int]


class AppPermissionUse(Record):
    """When an app first and last used a permission; "" stands for any request."""

    __tablename__ = "app_permission_uses"

    app_id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)
    permission: Mapped[str] = mapped_column(String(64), primary_key=True)
    first_used_at: Mapped[datetime]
    last_used_at: Mapped[datetime]
