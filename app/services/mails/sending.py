"""Send the emails of the outbox, each once; let an app send those that are its own.

What becomes of an app's email follows from the deliveries of its event, as they are stored. So
nothing depends on who notices first, and a worker that is killed leaves nothing to mend. An email
that is never looked at is sent when its time is up (``next_attempt_at``), like a deferred one.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, exists, or_, select, update
from sqlalchemy.orm import aliased

from app import models
from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.keys import OUTBOX_MAIL
from app.domain.mails.mail import (
    LINK_EVENTS,
    Mail,
    MailKind,
    MailSender,
    RenderedMail,
    sender_setting,
)
from app.domain.mails.mail_log import INTERNAL, OTHER_KEY, SUPERSEDED
from app.domain.values.installation import Hold
from app.domain.values.times import MAIL_DELAYS, delay_before
from app.domain.webhooks import TEMPORARY_URL
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.ports.mail import MailUndeliverable
from app.services.accounts.password_resets import answer_reset_requests
from app.services.authorization.register import building_block, internal
from app.services.lists.paging import columns_for, record_from
from app.services.mails.mail_templates import render_mail

_AT_ONCE = 500
_mail = models.OutboxMail

_WAITS = (
    _mail.awaited_event_id.is_not(None),
    _mail.next_attempt_at.is_not(None),
    _mail.lease == "",
)


@internal
def settle_app_mail(ports: Ports, actor: Actor) -> int:
    """Settle waiting mail: sent by the app, replaced by a newer link, or due now; return how many.

    Latchkey's is due when no active webhook can get the link, or will be tried before the wait
    ends; and when the app isn't to send that kind of mail anymore. Safe to repeat, and to run in
    several processes at once.
    """
    if ports.cache.hold is not None:
        return 0
    with ports.database.reading() as session:
        if session.scalar(select(_mail.id).where(*_WAITS).limit(1)) is None:
            return 0
        shop = session.get_one(models.Shop, models.SHOP_ID)
    now = ports.clock.now()
    ended: dict[str, object] = {"awaited_event_id": None, "next_attempt_at": None, "sealed": ""}
    sent = ended | {"sent_at": now, "sent_by": app_name(DeliveryStatus.SUCCESS)}
    return (
        _settle(ports, sent, _deliveries(DeliveryStatus.SUCCESS).exists())
        + _settle(ports, ended | {"last_error": SUPERSEDED}, _has_newer())
        + _settle(ports, {"awaited_event_id": None, "next_attempt_at": now}, _is_sent_here(shop))
    )


@building_block
def app_name(*statuses: DeliveryStatus) -> ScalarSelect[str]:
    """Select the app with the first such delivery of a waiting mail's link; NULL for none."""
    named = _deliveries(*statuses).with_only_columns(models.App.name)
    return named.order_by(models.Delivery.id).limit(1).scalar_subquery()


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
        select(models.Delivery.id)
        .join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
        .join(models.App, models.App.id == models.Webhook.app_id)
        .where(
            models.Delivery.note_id == _mail.awaited_event_id,
            models.Delivery.has_link.is_(True),
            models.Delivery.status.in_([status.value for status in statuses]),
            models.Webhook.target_url != TEMPORARY_URL,
        )
        .correlate(_mail)
    )


def _has_newer() -> ColumnElement[bool]:
    newer = aliased(_mail)
    return exists().where(
        newer.user_id == _mail.user_id, newer.kind == _mail.kind, newer.id > _mail.id
    )


def _is_sent_here(shop: models.Shop) -> ColumnElement[bool]:
    """Whether no app will be tried in time: all webhooks have been found, and none is left.

    Or whether apps send no such mail now.
    """
    apps = MailSender.APP.value
    kinds = [kind.value for kind in LINK_EVENTS if getattr(shop, sender_setting(kind)) == apps]
    event = models.OutboxEvent
    is_open = exists().where(event.id == _mail.awaited_event_id, event.closed_at.is_(None))
    hopeful = _deliveries(DeliveryStatus.PENDING).where(
        models.Webhook.is_active.is_(True),
        models.App.is_active.is_(True),
        models.Delivery.next_attempt_at <= _mail.next_attempt_at,
    )
    return _mail.kind.not_in(kinds) | (~is_open & ~hopeful.exists())


_BATCH = 20
_LEASE = timedelta(minutes=5)
_MAX_SENDING_TIME = timedelta(minutes=2)
"""How long one mail can take with a slow server: a worker starts none that late in its lease."""

_LEASE_NAME = 16


@dataclass(frozen=True, slots=True)
class _Claimed:
    """A mail that this worker alone may send until its lease ends."""

    id: int
    kind: str
    recipient: str
    sealed: str
    language_code: str
    attempts: int
    created_at: datetime


@internal
def send_due_mail(ports: Ports, actor: Actor) -> int:
    """Send due mail; return how many mails were sent or given up.

    A mail is claimed before it is sent and marked afterwards: a crash in between sends it again
    with the same Message-ID. An unreachable server delays mail and loses none. Requested links are
    created first: their mails are due immediately. Mail that waited for an app follows. A fault of
    Latchkey's delays only the link or mail concerned, and is raised after the others.
    """
    faults: list[Exception] = []
    for prepare in (answer_reset_requests, settle_app_mail):
        try:
            prepare(ports, actor)
        except Exception as fault:  # noqa: BLE001 - raised at the end; what was promised goes on
            faults.append(fault)
    lease = ports.randomness.token(_LEASE_NAME)
    ends = ports.clock.now() + _LEASE
    claimed = _claim(ports, lease)
    sent = 0
    for place, mail in enumerate(claimed):
        if ports.clock.now() > ends - _MAX_SENDING_TIME:
            _release(ports, claimed[place:], lease)
            break
        try:
            sent += _send(ports, mail, lease)
        except Exception as fault:  # noqa: BLE001 - raised at the end; the other mails go on
            error = INTERNAL.format(answer=type(fault).__name__)
            _record_outcome(ports, mail, lease, error=error, permanent=False)
            faults.append(fault)
    if faults:
        raise ExceptionGroup("Mails could not be sent", faults)
    return sent


def _is_due(hold: Hold | None, now: datetime) -> ColumnElement[bool]:
    """Which mail can be sent; while mail is held, only links that were requested since then.

    No app is sent those meanwhile, so none is waited for.
    """
    if hold is None:
        return _mail.next_attempt_at <= now
    return and_(
        _mail.created_at >= hold.since,
        _mail.kind.in_([kind.value for kind in LINK_EVENTS]),
        or_(
            _mail.next_attempt_at <= now,
            and_(_mail.next_attempt_at.is_not(None), _mail.awaited_event_id.is_not(None)),
        ),
    )


def _claim(ports: Ports, lease: str) -> Sequence[_Claimed]:
    now = ports.clock.now()
    due = (
        select(_mail.id)
        .where(_is_due(ports.cache.hold, now))
        .order_by(_mail.next_attempt_at)
        .limit(_BATCH)
        .with_for_update(skip_locked=True)
        # PostgreSQL may run a subquery again for each row, and then claim more than a batch.
        .cte("due")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    with ports.database.transaction() as session:
        rows = session.execute(
            update(_mail)
            .where(_mail.id.in_(select(due.c.id)))
            # A claimed mail falls due again when the lease ends, should this worker be killed.
            .values(
                lease=lease,
                awaited_event_id=None,
                next_attempt_at=now + _LEASE,
                attempts=_mail.attempts + 1,
            )
            .returning(*columns_for(_Claimed, _mail))
        ).all()
    return [record_from(_Claimed, row) for row in rows]


def _send(ports: Ports, claimed: _Claimed, lease: str) -> bool:
    error, permanent = "", False
    try:
        ports.mailer.send(_render(ports, claimed))
    except MailUndeliverable as undeliverable:
        error, permanent = str(undeliverable), undeliverable.permanent
    except DecryptionError:
        error, permanent = OTHER_KEY, True
    _record_outcome(ports, claimed, lease, error=error, permanent=permanent)
    return not error


def _release(ports: Ports, mails: Sequence[_Claimed], lease: str) -> None:
    """Release claimed ``mails`` for the next worker."""
    with ports.database.transaction() as session:
        session.execute(
            update(_mail)
            .where(_mail.id.in_([mail.id for mail in mails]), _mail.lease == lease)
            .values(lease="", next_attempt_at=ports.clock.now(), attempts=_mail.attempts - 1)
        )


def _render(ports: Ports, claimed: _Claimed) -> RenderedMail:
    values = json.loads(ports.encryption.decrypt(OUTBOX_MAIL, claimed.sealed))
    mail = Mail(MailKind(claimed.kind), claimed.recipient, values, claimed.language_code)
    rendered = render_mail(ports, mail)
    # The same in every attempt, so that a mailbox can tell a repetition.
    number = f"{claimed.created_at:%Y%m%d%H%M%S}.{claimed.id}"
    return replace(rendered, message_id=number, created_at=claimed.created_at)


def _record_outcome(
    ports: Ports, claimed: _Claimed, lease: str, *, error: str, permanent: bool
) -> None:
    """Write down how the attempt ended, unless its lease has passed on to another worker."""
    now = ports.clock.now()
    delay = None
    if error and not permanent:
        chance = ports.randomness.secret(1)[0] / 255
        delay = delay_before(claimed.attempts, MAIL_DELAYS, chance)
    values: dict[str, object] = {
        "lease": "",
        "attempted_at": now,
        "last_error": error[:512],
        "next_attempt_at": None if delay is None else now + timedelta(seconds=delay),
    }
    if not error:
        values["sent_at"] = now
    if delay is None:
        values["sealed"] = ""  # no attempt follows: its links must not stay readable
    with ports.database.transaction() as session:
        session.execute(
            update(_mail).where(_mail.id == claimed.id, _mail.lease == lease).values(values)
        )
