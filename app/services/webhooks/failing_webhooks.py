"""Webhooks that fail, or were disabled for failing."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Integer, Select, func, literal_column, select, union_all

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.urls.web_urls import masked_url
from app.models import AppRecord, DeliveryAttemptRecord, DeliveryRecord, WebhookRecord
from app.ports import Ports
from app.services.authorization.register import part, requires
from app.services.lists.paging import record_from

_FAILING = (WebhookRecord.failing_since.is_not(None), WebhookRecord.is_active.is_(True))
# Spelled out, not as parameters: or no database could tell that its index holds just these.
_DISABLED = (WebhookRecord.disabled_reason != literal_column("''"),)
_ATTEMPTED = DeliveryRecord.attempts > literal_column("0")

_Ranked = Select[int, int]


@dataclass(frozen=True, slots=True)
class FailingWebhook:
    """A webhook that fails since ``failing_since``, or was switched off (``disabled_reason``).

    ``last_status`` is the HTTP status of the last attempt at its newest delivery that was tried,
    ``None`` when there was no answer or no attempt is kept; ``last_attempt_at`` is when.
    """

    id: int
    name: str
    app_id: int
    app_name: str
    target_url: str
    failing_since: datetime | None
    disabled_reason: str
    last_attempt_at: datetime | None
    last_status: int | None

    @property
    def is_disabled(self) -> bool:
        return bool(self.disabled_reason)


@requires(Permission.MANAGE_APPS)
def list_failing_webhooks(
    ports: Ports, actor: Actor, *, limit: int = 5
) -> tuple[FailingWebhook, ...]:
    """Webhooks in trouble, at most ``limit``: those that fail first, the longest in trouble first.

    One statement, whose cost does not grow with webhooks or deliveries.
    """
    failing: _Ranked = select(WebhookRecord.id, literal_column("0", Integer).label("place")).where(
        *_FAILING
    )
    disabled: _Ranked = select(
        WebhookRecord.id, literal_column("1", Integer).label("place")
    ).where(*_DISABLED)
    chosen = union_all(
        select(failing.order_by(WebhookRecord.failing_since).limit(limit).subquery()),
        select(disabled.order_by(WebhookRecord.id.desc()).limit(limit).subquery()),
    ).subquery()
    attempt = _last_attempt()
    query = (
        select(
            WebhookRecord.id,
            WebhookRecord.name,
            WebhookRecord.app_id,
            AppRecord.name.label("app_name"),
            WebhookRecord.target_url,
            WebhookRecord.failing_since,
            WebhookRecord.disabled_reason,
            DeliveryAttemptRecord.created_at.label("last_attempt_at"),
            DeliveryAttemptRecord.response_status.label("last_status"),
        )
        .join(chosen, chosen.c.id == WebhookRecord.id)
        .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
        .outerjoin(DeliveryAttemptRecord, DeliveryAttemptRecord.id == attempt)
        .order_by(chosen.c.place, WebhookRecord.failing_since, WebhookRecord.id.desc())
        .limit(limit)
    )
    with ports.database.reading() as session:
        return tuple(
            record_from(FailingWebhook, row, target_url=masked_url(row.target_url))
            for row in session.execute(query)
        )


@part
def failing_count() -> ColumnElement[int | None]:
    """How many webhooks are in trouble, as a part of a statement that asks for more."""
    counts = (
        select(func.count()).select_from(WebhookRecord).where(*which).scalar_subquery()
        for which in (_FAILING, _DISABLED)
    )
    failing, disabled = counts
    return failing + disabled


def _last_attempt() -> ColumnElement[int | None]:
    """The key of the last attempt at the newest delivery of a webhook that was tried."""
    newest = (
        select(DeliveryRecord.id)
        .where(DeliveryRecord.webhook_id == WebhookRecord.id, _ATTEMPTED)
        .order_by(DeliveryRecord.id.desc())
        .limit(1)
        .correlate(WebhookRecord)
        .scalar_subquery()
    )
    return (
        select(func.max(DeliveryAttemptRecord.id))
        .where(DeliveryAttemptRecord.delivery_id == newest)
        .correlate(WebhookRecord)
        .scalar_subquery()
    )
