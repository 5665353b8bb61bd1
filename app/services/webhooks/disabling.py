"""Endpoints that are switched off by the installation itself: never silently."""

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import moment_values, since_values
from app.domain.urls.web_urls import masked_url
from app.models import AppRecord, UserRecord, WebhookRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part
from app.services.outbox.publisher import add_mail
from app.services.people.permission_holders import holder_ids


@part
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
