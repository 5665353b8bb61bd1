"""Webhooks that fail: found, told of, and disabled by the installation, never silently."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    func,
    literal_column,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries import deliveries
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import moment_values, since_values
from app.domain.urls.web_urls import masked_url
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, internal, requires
from app.services.identity.permission_holders import holder_ids
from app.services.lists.paging import columns_for, record_from
from app.services.outbox.publisher import add_mail

_FAILING = (
    or_(models.Webhook.failing_since.is_not(None), models.Webhook.incident_since.is_not(None)),
    models.Webhook.is_active.is_(True),
)
# Spelled out, not as parameters: or no database could tell that its index holds just these.
_DISABLED = (models.Webhook.disabled_reason != literal_column("''"),)
_ATTEMPTED = models.Delivery.attempts > literal_column("0")

_AT_ONCE = 100
"""Incidents that one round looks at."""

_MAX_RECENT = 1000
"""Deliveries of ``ALERT_WINDOW`` that are counted."""

_Ranked = Select[int, int]


@dataclass(frozen=True, slots=True)
class FailingWebhook:
    """A webhook that fails since ``failing_since``, or was switched off (``disabled_reason``).

    ``last_status`` is the HTTP status of the last attempt at its newest delivery that was tried,
    ``None`` when there was no answer or no attempt is kept.
    """

    id: int
    name: str
    app_id: int
    app_name: str
    target_url: str
    failing_since: datetime | None
    disabled_reason: str
    last_status: int | None


@requires(Permission.MANAGE_APPS)
def list_failing_webhooks(
    ports: Ports, actor: Actor, *, limit: int = 5
) -> tuple[FailingWebhook, ...]:
    """Webhooks in trouble, at most ``limit``: those that fail first, the longest in trouble first.

    One statement, whose cost does not grow with webhooks or deliveries.
    """
    failing: _Ranked = select(
        models.Webhook.id, literal_column("0", Integer).label("place")
    ).where(*_FAILING)
    disabled: _Ranked = select(
        models.Webhook.id, literal_column("1", Integer).label("place")
    ).where(*_DISABLED)
    chosen = union_all(
        select(failing.order_by(models.Webhook.failing_since).limit(limit).subquery()),
        select(disabled.order_by(models.Webhook.id.desc()).limit(limit).subquery()),
    ).subquery()
    attempt = _last_attempt()
    query = (
        select(
            *columns_for(FailingWebhook, models.Webhook),
            models.App.name.label("app_name"),
            models.DeliveryAttempt.response_status.label("last_status"),
        )
        .join(chosen, chosen.c.id == models.Webhook.id)
        .join(models.App, models.App.id == models.Webhook.app_id)
        .outerjoin(models.DeliveryAttempt, models.DeliveryAttempt.id == attempt)
        .order_by(chosen.c.place, models.Webhook.failing_since, models.Webhook.id.desc())
        .limit(limit)
    )
    with ports.database.reading() as session:
        return tuple(
            record_from(FailingWebhook, row, target_url=masked_url(row.target_url))
            for row in session.execute(query)
        )


@building_block
def failing_count() -> ColumnElement[int | None]:
    """Return how many webhooks are in trouble, as a part of a statement that asks for more."""
    counts = (
        select(func.count()).select_from(models.Webhook).where(*which).scalar_subquery()
        for which in (_FAILING, _DISABLED)
    )
    failing, disabled = counts
    return failing + disabled


def _last_attempt() -> ColumnElement[int | None]:
    """Return the key of the last attempt at the newest delivery of a webhook that was tried."""
    newest = (
        select(models.Delivery.id)
        .where(models.Delivery.webhook_id == models.Webhook.id, _ATTEMPTED)
        .order_by(models.Delivery.id.desc())
        .limit(1)
        .correlate(models.Webhook)
        .scalar_subquery()
    )
    return (
        select(func.max(models.DeliveryAttempt.id))
        .where(models.DeliveryAttempt.delivery_id == newest)
        .correlate(models.Webhook)
        .scalar_subquery()
    )


@building_block
def disable_webhook(ports: Ports, session: Session, webhook: models.Webhook, reason: str) -> None:
    """Disable ``webhook``: in its row, the audit log, and by mail.

    The mail goes to active staff who manage apps, who can enable it again. A disabled webhook
    stays unchanged.
    """
    if not webhook.is_active:
        return
    now = ports.clock.now()
    webhook.is_active = False
    webhook.incident_since, webhook.failures_in_row = None, 0
    webhook.disabled_reason, webhook.disabled_at = reason, now
    app = session.scalar(select(models.App.name).where(models.App.id == webhook.app_id)) or ""
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


@building_block
def review_incident(
    ports: Ports, session: Session, webhook: models.Webhook, *, has_failed: bool = False
) -> None:
    """Tell people once that ``webhook`` starts failing, and that it works again.

    ``has_failed``: an attempt failed just now, and others may have succeeded since.

    Beginning and end are claimed in its row, so several processes tell it once. What began too
    soon after the last email is told of once ``ALERT_PAUSE`` is over, if it still fails then.
    """
    if not webhook.is_active:
        return
    is_open, works = webhook.incident_since is not None, webhook.failures_in_row == 0
    if not (works if is_open else has_failed):
        if has_failed and not _is_notified(webhook):
            session.flush()
            _notify_of_open(ports, session, webhook)
        return
    session.flush()
    rule = _rule(session)
    is_failing = rule.is_failing(webhook.failures_in_row, *_recent(ports, session, webhook.id))
    if is_open and not is_failing:
        _end_incident(ports, session, webhook, is_told=rule.is_on)
    elif is_failing and not is_open:
        _begin_incident(ports, session, webhook, is_told=rule.is_on)


@internal
def end_quiet_incidents(ports: Ports, actor: Actor) -> int:
    """End the incidents of webhooks that worked last, once their failures are long enough ago.

    Without further events no attempt would. Returns how many were looked at.
    """
    query = select(models.Webhook).where(
        models.Webhook.incident_since.is_not(None),
        models.Webhook.failures_in_row == 0,
        models.Webhook.is_active.is_(True),
    )
    with ports.database.transaction() as session:
        found = session.scalars(query.limit(_AT_ONCE)).all()
        for webhook in found:
            review_incident(ports, session, webhook)
    return len(found)


def _rule(session: Session) -> deliveries.AlertRule:
    row = session.execute(
        select(
            models.Shop.webhook_alerts,
            models.Shop.webhook_alert_failures,
            models.Shop.webhook_alert_percent,
            models.Shop.webhook_alert_attempts,
        )
    ).one_or_none()
    return deliveries.AlertRule() if row is None else deliveries.AlertRule(*row)


def _recent(ports: Ports, session: Session, webhook_id: int) -> tuple[int, int]:
    """Return failed and all attempts at the newest deliveries of ``ALERT_WINDOW``."""
    since = ports.shared_clock.now() - deliveries.ALERT_WINDOW
    newest = (
        select(models.Delivery.status, models.Delivery.attempts)
        .where(
            models.Delivery.webhook_id == webhook_id,
            models.Delivery.created_at >= since,
            models.Delivery.attempts > 0,
        )
        .order_by(models.Delivery.created_at.desc(), models.Delivery.id.desc())
        .limit(_MAX_RECENT)
        .subquery()
    )
    delivered = func.count().filter(newest.c.status == deliveries.DeliveryStatus.SUCCESS.value)
    query = select(func.coalesce(func.sum(newest.c.attempts), 0), delivered)
    attempts, succeeded = session.execute(query).one()
    return int(attempts) - succeeded, int(attempts)


def _begin_incident(
    ports: Ports, session: Session, webhook: models.Webhook, *, is_told: bool
) -> None:
    now = ports.clock.now()
    is_told = is_told and not _notified_recently(session, webhook, now)
    values: dict[str, object] = {"incident_since": now}
    if is_told:
        values["alerted_at"] = now
    if _claim(session, webhook.id, models.Webhook.incident_since.is_(None), values) and is_told:
        _notify(ports, session, webhook, MailKind.WEBHOOK_FAILING, webhook.failing_since or now)


def _notify_of_open(ports: Ports, session: Session, webhook: models.Webhook) -> None:
    """Tell people of an incident of which they weren't told when it began."""
    now = ports.clock.now()
    if _notified_recently(session, webhook, now) or not _rule(session).is_on:
        return
    alerted, since = models.Webhook.alerted_at, models.Webhook.incident_since
    untold = since.is_not(None) & (alerted.is_(None) | (alerted < since))
    if _claim(session, webhook.id, untold, {"alerted_at": now}):
        began = webhook.failing_since or webhook.incident_since
        _notify(ports, session, webhook, MailKind.WEBHOOK_FAILING, began)


def _is_notified(webhook: models.Webhook) -> bool:
    """Whether people were told of the incident of ``webhook``."""
    since, alerted = webhook.incident_since, webhook.alerted_at
    return since is not None and alerted is not None and alerted >= since


def _end_incident(
    ports: Ports, session: Session, webhook: models.Webhook, *, is_told: bool
) -> None:
    since, was_told = webhook.incident_since, _is_notified(webhook)
    # Another process may have failed meanwhile: then it hasn't ended.
    ends = models.Webhook.incident_since.is_not(None) & (models.Webhook.failures_in_row == 0)
    ended = _claim(session, webhook.id, ends, {"incident_since": None})
    if ended and is_told and was_told:
        _notify(ports, session, webhook, MailKind.WEBHOOK_RECOVERED, since)


def _notified_recently(session: Session, webhook: models.Webhook, now: datetime) -> bool:
    """Whether people were told of this webhook just now, or of too many of its app."""
    since = now - deliveries.ALERT_PAUSE
    if webhook.alerted_at is not None and webhook.alerted_at > since:
        return True
    told = select(models.Webhook.id).where(
        models.Webhook.app_id == webhook.app_id, models.Webhook.alerted_at > since
    )
    return len(session.scalars(told.limit(deliveries.MAX_ALERTS)).all()) >= deliveries.MAX_ALERTS


def _claim(
    session: Session, webhook_id: int, where: ColumnElement[bool], values: dict[str, object]
) -> bool:
    claim = (
        update(models.Webhook)
        .where(models.Webhook.id == webhook_id, where)
        .values(values)
        .returning(models.Webhook.id)
        .execution_options(synchronize_session=False)
    )
    return session.scalar(claim) is not None


def _notify(
    ports: Ports, session: Session, webhook: models.Webhook, kind: MailKind, since: datetime | None
) -> None:
    """Send an email to the app's contact, or to app managers, and note it in the audit log."""
    app = session.execute(
        select(models.App.name, models.App.contact_email).where(models.App.id == webhook.app_id)
    ).one()
    values = {
        "webhook": webhook.name or masked_url(webhook.target_url),
        "app": app.name,
        "target": masked_url(webhook.target_url),
        **moment_values(ports.clock.now()),
        **since_values(since),
    }
    action, after = "webhook.recover", {}
    if kind is MailKind.WEBHOOK_FAILING:
        values["reason"] = deliveries.status_of(webhook.last_failure)
        action, after = "webhook.fail", {"reason": values["reason"]}
    if app.contact_email:
        add_mail(ports, session, Mail(kind, app.contact_email, values), user_id=None)
    else:
        for user_id, email in session.execute(_managers()).all():
            add_mail(ports, session, Mail(kind, email, values), user_id=user_id)
    change = Change(action, "Webhook", webhook.id, values["webhook"], after=after)
    record(ports, WORKER, session, change)


def _managers() -> Select[int, str]:
    return (
        select(models.User.id, models.User.email)
        .where(
            models.User.is_active.is_(True),
            models.User.is_staff.is_(True),
            or_(
                models.User.is_superuser.is_(True),
                models.User.id.in_(holder_ids(Permission.MANAGE_APPS)),
            ),
        )
        .order_by(models.User.id)
    )
