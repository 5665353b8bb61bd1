"""Webhooks, the outbox of events and emails, deliveries, and every attempt at one."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, String, Text, UniqueConstraint, false, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import (
    NOT_EXPORTED,
    BigKey,
    Record,
    deleted_with,
    partial_index,
    text_column,
)

_DELIVERIES_HERE = {NOT_EXPORTED: "state of deliveries here"}


class Webhook(Record):
    """A webhook of an app; an empty ``query`` means the default one.

    ``secret`` is the encrypted ``secretKey``, empty without one; ``old_secret`` also signs until
    ``old_secret_until``. ``failing_since`` is the first failure without a success since;
    ``disabled_reason`` is set if the installation disabled it, and ``last_failure`` is the result
    of the last failed attempt. An identifier is unique in its app. ``saved_by`` saved it last;
    ``saved_permissions``, joined by commas, are what they held then, NULL for no limit
    (``domain/webhooks``).

    Nothing is sent while ``paused_at`` is set; after ``resumed_at`` what waited is sent first.
    ``max_rate`` is requests a second, 0 for no limit, and the next can be sent at
    ``next_slot_at``. ``failures_in_row`` counts up to now, ``incident_since`` is set while people
    know that it fails, and ``alerted_at`` is when they were told last.
    """

    __tablename__ = "webhooks"
    __table_args__ = (
        partial_index(
            "uq_webhooks_identifier", "app_id", "identifier", unique=True, where="identifier <> ''"
        ),
        partial_index("ix_webhooks_failing", "failing_since", where="failing_since IS NOT NULL"),
        partial_index("ix_webhooks_disabled", "id", where="disabled_reason <> ''"),
        partial_index("ix_webhooks_paused", "paused_at", where="paused_at IS NOT NULL"),
        partial_index(
            "ix_webhooks_incidents", "incident_since", where="incident_since IS NOT NULL"
        ),
        Index("ix_webhooks_name_id", "name", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    app_id: Mapped[int] = deleted_with("apps.id", index=True)
    name: Mapped[str] = text_column(256)
    identifier: Mapped[str] = text_column(256)
    target_url: Mapped[str] = mapped_column(String(2048))
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    query: Mapped[str] = text_column()
    secret: Mapped[str] = text_column()
    custom_headers: Mapped[dict[str, object]]
    created_at: Mapped[datetime]
    old_secret: Mapped[str] = text_column(info=_DELIVERIES_HERE)
    old_secret_until: Mapped[datetime | None] = mapped_column(info=_DELIVERIES_HERE)
    failing_since: Mapped[datetime | None] = mapped_column(info=_DELIVERIES_HERE)
    disabled_reason: Mapped[str] = text_column(256)
    disabled_at: Mapped[datetime | None]
    last_failure_at: Mapped[datetime | None] = mapped_column(info=_DELIVERIES_HERE)
    last_failure: Mapped[str] = text_column(256, info=_DELIVERIES_HERE)
    saved_by_kind: Mapped[str] = text_column(16)
    saved_by: Mapped[str] = text_column(256)
    saved_permissions: Mapped[str | None] = mapped_column(Text)
    paused_at: Mapped[datetime | None]
    resumed_at: Mapped[datetime | None] = mapped_column(info=_DELIVERIES_HERE)
    max_rate: Mapped[int] = mapped_column(default=0, server_default="0")
    next_slot_at: Mapped[datetime | None] = mapped_column(info=_DELIVERIES_HERE)
    failures_in_row: Mapped[int] = mapped_column(
        default=0, server_default="0", info=_DELIVERIES_HERE
    )
    incident_since: Mapped[datetime | None] = mapped_column(info=_DELIVERIES_HERE)
    alerted_at: Mapped[datetime | None] = mapped_column(info=_DELIVERIES_HERE)


class WebhookEvent(Record):
    """A webhook's subscribed event, keyed by event first for the fan-out."""

    __tablename__ = "webhook_events"

    event: Mapped[str] = mapped_column(String(64), primary_key=True)
    webhook_id: Mapped[int] = deleted_with("webhooks.id", primary_key=True, index=True)


class Delivery(Record):
    """A payload on its way to one webhook.

    ``message_id`` is the ``webhook-id`` of every attempt. ``next_attempt_at`` is empty once
    nothing more will be tried; ``lease_until`` keeps two workers from making one attempt.
    ``note_id`` is the outbox event it comes from, empty for one that was triggered by hand.
    ``has_link``: the payload holds the secret of a link, so its app can mail that to the person.
    ``response_status`` is what the last attempt was answered with, empty without an answer.
    """

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("note_id", "webhook_id"),
        partial_index("ix_deliveries_due", "next_attempt_at", where="next_attempt_at IS NOT NULL"),
        partial_index(
            "ix_deliveries_webhook_due",
            "webhook_id",
            "next_attempt_at",
            "id",
            where="next_attempt_at IS NOT NULL",
        ),
        partial_index("ix_deliveries_leased", "lease_until", where="lease_until IS NOT NULL"),
        Index("ix_deliveries_webhook", "webhook_id", "id"),
        Index(
            "ix_deliveries_webhook_time", "webhook_id", "created_at", "id", "status", "attempts"
        ),
        Index("ix_deliveries_state", "status", "created_at", "attempts"),
        Index("ix_deliveries_event", "event", "created_at"),
        partial_index(
            "ix_deliveries_answered",
            "response_status",
            "created_at",
            where="response_status IS NOT NULL",
        ),
        partial_index(
            "ix_deliveries_unanswered",
            "created_at",
            where="response_status IS NULL AND attempts > 0",
        ),
        partial_index(
            "ix_deliveries_retried", "created_at", where="status = 'SUCCESS' AND attempts > 1"
        ),
        partial_index("ix_deliveries_attempted", "webhook_id", "id", where="attempts > 0"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    webhook_id: Mapped[int] = deleted_with("webhooks.id")
    note_id: Mapped[int | None] = mapped_column(BigKey)
    event: Mapped[str] = mapped_column(String(64))
    subject_id: Mapped[int] = mapped_column(BigKey, index=True)
    message_id: Mapped[str] = mapped_column(String(64), unique=True)
    payload: Mapped[str] = mapped_column(Text)
    issuer: Mapped[str] = mapped_column(String(1024))
    status: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(index=True)
    next_attempt_at: Mapped[datetime | None]
    lease: Mapped[str] = text_column(32)
    lease_until: Mapped[datetime | None]
    given_up: Mapped[str] = text_column(256)
    response_status: Mapped[int | None]
    has_link: Mapped[bool] = mapped_column(default=False, server_default=false())


class DeliveryAttempt(Record):
    """One attempt: what was sent, what came back, how long it took (seconds)."""

    __tablename__ = "delivery_attempts"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    delivery_id: Mapped[int] = deleted_with("deliveries.id", index=True)
    created_at: Mapped[datetime]
    duration: Mapped[float]
    status: Mapped[str] = mapped_column(String(16))
    request_headers: Mapped[dict[str, object]]
    response_status: Mapped[int | None]
    response_headers: Mapped[dict[str, object]]
    response: Mapped[str] = mapped_column(Text)


class OutboxEvent(Record):
    """A note that something happened, written in the transaction that made it true.

    ``sealed`` holds the secret fields of the event (a link's token), encrypted. ``closed_at`` is
    set when every webhook concerned has its delivery; the demo sets it from the start, for none.
    ``lease_until`` keeps two workers apart. ``attempts`` counts the rounds that ended in an
    internal error.
    """

    __tablename__ = "outbox_events"
    __table_args__ = (partial_index("ix_outbox_events_open", "id", where="closed_at IS NULL"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    type: Mapped[str] = mapped_column(String(64))
    subject_id: Mapped[int] = mapped_column(BigKey)
    data: Mapped[dict[str, object]]
    sealed: Mapped[str] = text_column()
    issued_at: Mapped[datetime]
    principal_type: Mapped[str] = text_column(16)
    principal_id: Mapped[int | None] = mapped_column(BigKey)
    issuer: Mapped[str] = text_column(1024)
    lease_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    closed_at: Mapped[datetime | None] = mapped_column(index=True)


class OutboxMail(Record):
    """A mail to send, and afterwards its entry in the mail log.

    ``sealed`` are its template's values, encrypted, emptied with the last attempt.
    ``next_attempt_at`` is empty when nothing more is tried: sent, or given up. ``attempted_at`` is
    the time of the last attempt. ``user_id`` is the account that the mail is about, kept after the
    account; ``redirect_url`` the page of its link, without the token, for a new link.
    ``language_code`` is the language it is written in, "" for English.
    ``awaited_event_id`` is the event with the same link while an app may send the mail instead:
    until ``next_attempt_at``, when Latchkey sends it. ``sent_by`` is the name of the app that did.
    """

    __tablename__ = "outbox_mails"
    __table_args__ = (
        Index("ix_outbox_mails_by_time", "created_at", "id"),
        Index("ix_outbox_mails_by_user", "user_id", "created_at", "id"),
        Index("ix_outbox_mails_by_kind", "kind", "created_at", "id"),
        partial_index("ix_outbox_mails_unsent", "created_at", "id", where="sent_at IS NULL"),
        partial_index(
            "ix_outbox_mails_awaiting", "awaited_event_id", where="awaited_event_id IS NOT NULL"
        ),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    recipient: Mapped[str] = mapped_column(String(254))
    user_id: Mapped[int | None] = mapped_column(BigKey)
    redirect_url: Mapped[str] = text_column()
    sealed: Mapped[str] = mapped_column(Text)
    language_code: Mapped[str] = text_column(35)
    created_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    next_attempt_at: Mapped[datetime | None] = mapped_column(index=True)
    lease: Mapped[str] = text_column(32)
    attempted_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    awaited_event_id: Mapped[int | None] = mapped_column(BigKey)
    sent_by: Mapped[str] = text_column(256)
    last_error: Mapped[str] = text_column(512)


class InstallationMark(Record):
    """What an installation with this database is recognized by, or why something is held.

    ``since`` is when it was noticed first.
    """

    __tablename__ = "installation_marks"

    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    value: Mapped[str] = mapped_column(String(1024), primary_key=True)
    since: Mapped[datetime]


HEARTBEAT_ID = 1


class Heartbeat(Record):
    """The one row in which every worker notes that it is alive; empty before the first one.

    ``backed_up_at`` is when ``flask backup`` last wrote a file.
    """

    __tablename__ = "worker_pulse"
    __table_args__ = (CheckConstraint(f"id = {HEARTBEAT_ID}", name="one_row"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)
    beat_at: Mapped[datetime | None]
    backed_up_at: Mapped[datetime | None]
