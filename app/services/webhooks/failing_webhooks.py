"""Webhooks that fail: found, and disabled by the installation itself, never silently."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Integer, Select, func, literal_column, or_, select, union_all
from sqlalchemy.orm import Session

from app.domain.authorization.actor import WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import moment_values, since_values
from app.domain.urls.web_urls import masked_url
from app.models import AppRecord, DeliveryAttemptRecord, DeliveryRecord, UserRecord, WebhookRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, requires
from app.services.lists.paging import record_from
from app.services.outbox.publisher import add_mail
from app.services.people.permission_holders import holder_ids

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


@building_block
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


@building_block
def disable_webhook(ports: Ports, session: Session, webhook: WebhookRecord, reason: str) -> None:
    """Disable ``webhook``: in its row, the audit log, and by mail.

    The mail goes to active staff who manage apps, who can enable it again. A disabled webhook
    stays unchanged.
    """
    if not webhook.is_active:
        return
    now = ports.clock.now()
    webhook.is_active = False
    webhook.disabled_reason, webhook.disabled_at = reason, now
    app = session.scalar(select(AppRecord.name).where(AppRecord.id == webhook.app_id)) or ""
    since = webhook.failing_since
    values = {
        "webhook": webhook.name or masked_url(webhook.target_url),
        "app": app,
        "target": masked_url(webhook.target_url),
        "reason": reason,
        **moment_values(now),
        **since_values(since),
    }
    for user_id, email in session.execute(_managers()).all():
        mail = Mail(MailKind.WEBHOOK_DISABLED, email, values)
        add_mail(ports, session, mail, user_id=user_id)
    after = {"is_active": False, "reason": reason}
    change = Change(
        "webhook.disable", "Webhook", webhook.id, values["webhook"], {"is_active": True}, after
    )
    record(ports, WORKER, session, change)


def _managers() -> Select[int, str]:
    return (
        select(UserRecord.id, UserRecord.email)
        .where(
            UserRecord.is_active.is_(True),
            UserRecord.is_staff.is_(True),
            or_(
                UserRecord.is_superuser.is_(True),
                UserRecord.id.in_(holder_ids(Permission.MANAGE_APPS)),
            ),
        )
        .order_by(UserRecord.id)
    )
