"""Mail that waits for an app to send it: closed when the app has, else sent by us.

What becomes of a mail follows from the deliveries of its event, as they are stored. So nothing
depends on who notices first, and a worker that is killed leaves nothing to mend. A mail that is
never looked at is sent when its time is up (``next_attempt_at``), like one that is deferred.
"""

from sqlalchemy import ColumnElement, ScalarSelect, Select, exists, select, update
from sqlalchemy.orm import aliased

from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.mails.mail import LINK_EVENTS, MailSender, sender_setting
from app.domain.mails.mail_log import SUPERSEDED
from app.domain.webhooks import TEMPORARY_URL
from app.models import (
    AppRecord,
    DeliveryRecord,
    OutboxEventRecord,
    OutboxMailRecord,
    ShopRecord,
    WebhookRecord,
)
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.authorization.register import internal, part

_AT_ONCE = 500
_mail = OutboxMailRecord

_WAITS = (
    _mail.awaited_event_id.is_not(None),
    _mail.next_attempt_at.is_not(None),
    _mail.lease == "",
)


@internal
def settle_app_mail(ports: Ports, actor: Actor) -> int:
    """Settle waiting mail: sent by the app, replaced by a newer link, or due now; return how many.

    Ours is due when no active webhook can get the link, or will be tried before the wait ends; and
    when the app isn't to send that kind of mail anymore.
    Safe to repeat, and to run in several processes at once.
    """
    with ports.database.reading() as session:
        if session.scalar(select(_mail.id).where(*_WAITS).limit(1)) is None:
            return 0
        shop = session.get_one(ShopRecord, SHOP_ID)
    now = ports.clock.now()
    ended: dict[str, object] = {"awaited_event_id": None, "next_attempt_at": None, "sealed": ""}
    sent = ended | {"sent_at": now, "sent_by": app_name(DeliveryStatus.SUCCESS)}
    return (
        _settle(ports, sent, _deliveries(DeliveryStatus.SUCCESS).exists())
        + _settle(ports, ended | {"last_error": SUPERSEDED}, _has_newer())
        + _settle(ports, {"awaited_event_id": None, "next_attempt_at": now}, _is_ours(shop))
    )


@part
def app_name(*statuses: DeliveryStatus) -> ScalarSelect[str]:
    """Select the app with the first such delivery of a waiting mail's link; NULL for none."""
    named = _deliveries(*statuses).with_only_columns(AppRecord.name)
    return named.order_by(DeliveryRecord.id).limit(1).scalar_subquery()


def _settle(ports: Ports, values: dict[str, object], condition: ColumnElement[bool]) -> int:
    """Write ``values`` into waiting mails, except those that another worker settles right now."""
    found = select(_mail.id).where(*_WAITS, condition).order_by(_mail.id).limit(_AT_ONCE)
    with ports.database.reading() as session:
        if session.scalar(found.limit(1)) is None:
            return 0
    with ports.database.transaction() as session:
        keys = session.scalars(found.with_for_update(of=_mail, skip_locked=True)).all()
        session.execute(update(_mail).where(_mail.id.in_(keys)).values(values))
    return len(keys)


def _deliveries(*statuses: DeliveryStatus) -> Select[int]:
    """Select the deliveries of a mail's link; what waits at a temporary endpoint mails nothing."""
    return (
        select(DeliveryRecord.id)
        .join(WebhookRecord, WebhookRecord.id == DeliveryRecord.webhook_id)
        .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
        .where(
            DeliveryRecord.note_id == _mail.awaited_event_id,
            DeliveryRecord.has_link.is_(True),
            DeliveryRecord.status.in_([status.value for status in statuses]),
            WebhookRecord.target_url != TEMPORARY_URL,
        )
        .correlate(_mail)
    )


def _has_newer() -> ColumnElement[bool]:
    newer = aliased(_mail)
    return exists().where(
        newer.user_id == _mail.user_id, newer.kind == _mail.kind, newer.id > _mail.id
    )


def _is_ours(shop: ShopRecord) -> ColumnElement[bool]:
    """Whether no app will be tried in time: all webhooks have been found, and none is left.

    Or whether apps send no such mail now.
    """
    apps = MailSender.APP.value
    kinds = [kind.value for kind in LINK_EVENTS if getattr(shop, sender_setting(kind)) == apps]
    event = OutboxEventRecord
    is_open = exists().where(event.id == _mail.awaited_event_id, event.closed_at.is_(None))
    hopeful = _deliveries(DeliveryStatus.PENDING).where(
        WebhookRecord.is_active.is_(True),
        AppRecord.is_active.is_(True),
        DeliveryRecord.next_attempt_at <= _mail.next_attempt_at,
    )
    return _mail.kind.not_in(kinds) | (~is_open & ~hopeful.exists())
