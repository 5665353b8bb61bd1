"""Resend deliveries: one by one, all that match a search, or all failed or missed since a time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, case, func, not_, select, update
from sqlalchemy.orm import Session, aliased

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import (
    DeliveryStatus,
    EventDelivery,
    ReplayResult,
    ReplayScope,
)
from app.domain.events import EVENTS
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of, to_global_id
from app.domain.values.installation import OnProgress
from app.domain.values.text import Phrase
from app.domain.webhooks import app_permissions_denied
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import requires_person, staff_and_apps
from app.services.deliveries.backlog import release_all
from app.services.deliveries.fanout import (
    insert_deliveries,
    make_missing_deliveries,
    rebuild_missing_payloads,
    rebuild_payloads,
)
from app.services.deliveries.lists import DeliverySearch, matching_deliveries, show_delivery
from app.services.webhooks.app_reach import require_webhook_within_reach, webhooks_beyond_reach
from app.services.webhooks.changes import WebhookInput, update_webhook
from app.services.webhooks.subscribers import Subscriber, subscribers_of

MAX_AT_ONCE = 100
"""Deliveries that can be chosen one by one to be made again."""

MAX_MISSING = 5000
"""How many missing deliveries one call creates before it returns."""

_AT_ONCE = 50
_DUE_AT_ONCE = 1000
"""Rows changed in one transaction, so that other writers don't wait long."""


EVERYTHING = ReplayScope()

ACTIVE_WEBHOOKS = (
    select(models.Webhook.id)
    .join(models.App, models.App.id == models.Webhook.app_id)
    .where(models.Webhook.is_active.is_(True), models.App.is_active.is_(True))
)
"""The webhooks that can be sent anything."""


@dataclass(frozen=True, slots=True)
class Resent:
    """How many deliveries are due now, and how many aren't because the webhook is disabled.

    ``denied`` aren't because the caller lacks a permission of the app. ``paused`` of those that
    are due wait until their webhook is resumed.
    """

    due: int
    disabled: int = 0
    denied: int = 0
    paused: int = 0


@dataclass(slots=True)
class _Tally:
    """How far a replay is."""

    on_progress: OnProgress | None
    total: int = 0
    done: int = 0

    def add(self, count: int) -> None:
        self.done += count
        if count and self.on_progress is not None:
            self.on_progress(self.done, max(self.total, self.done))


@staff_and_apps
def retry_delivery(
    ports: Ports, actor: Actor, delivery_id: str, *, enables_webhook: bool = False
) -> EventDelivery:
    """Retry a delivery (`eventDeliveryRetry`) immediately with the same ``webhook-id``.

    Apps retry their own, staff with MANAGE_APPS any. Raises ``PermissionDenied`` to those who
    can't see the payload. A missing payload is made now. Refuses NOT_FOUND on ``id``, and INVALID
    on it if nothing can be sent: the webhook is disabled, its app is inactive, or there is still
    no payload. With ``enables_webhook``, its webhook is enabled before that.
    """
    key = key_of(delivery_id, "EventDelivery")
    delivery = show_delivery(ports, actor, key)
    if delivery is None:
        raise Refused(Problem("NOT_FOUND", "There is no such delivery.", "id"))
    if delivery.lacking:
        raise app_permissions_denied(delivery.lacking)
    if enables_webhook:
        webhook = to_global_id("Webhook", delivery.webhook_id)
        update_webhook(ports, actor, webhook, "", WebhookInput(is_active=True))
    _refuse_disabled(ports, delivery.webhook_id)
    if not delivery.payload and not rebuild_payloads(ports, [key]):
        now = show_delivery(ports, actor, key) or delivery
        message, values = "There is no payload: {given_up}", {"given_up": Phrase(now.given_up)}
        raise Refused(Problem("INVALID", message, "id", values=values))
    with ports.database.transaction() as session:
        session.execute(
            update(models.Delivery).where(models.Delivery.id == key).values(_due_again(ports))
        )
        change = Change("delivery.retry", "EventDelivery", key, delivery.event)
        record(ports, actor, session, change)
    ports.work_signal.send()
    retried = show_delivery(ports, actor, key)
    if retried is None:
        raise Refused(Problem("NOT_FOUND", "There is no such delivery.", "id"))
    return retried


@requires_person(Permission.MANAGE_APPS)
def retry_deliveries(ports: Ports, actor: Actor, delivery_ids: Collection[int]) -> Resent:
    """Resend these deliveries of any webhooks now.

    Those of disabled webhooks and inactive apps are left out and counted, and so are those of apps
    with permissions that the caller lacks; those that are gone or have no payload are left out.
    Refuses INVALID on ``ids`` for more than ``MAX_AT_ONCE``: `webhookReplay` is for all of a
    webhook.
    """
    if len(delivery_ids) > MAX_AT_ONCE:
        message = "Select at most {max_at_once}, or resend all failed deliveries since a time."
        raise Refused(Problem("INVALID", message, "ids", values={"max_at_once": MAX_AT_ONCE}))
    requested = models.Delivery.id.in_(delivery_ids)
    beyond = models.Delivery.webhook_id.in_(webhooks_beyond_reach(actor))
    active = models.Delivery.webhook_id.in_(ACTIVE_WEBHOOKS)
    selected = requested & active & ~beyond
    with ports.database.reading() as session:
        denied = session.scalar(select(func.count()).where(requested, beyond))
        disabled = session.scalar(select(func.count()).where(requested, ~active, ~beyond))
    rebuild_missing_payloads(ports, selected)
    with ports.database.transaction() as session:
        due = _make_due(ports, session, selected)
        after = {"deliveries": sorted(due)}
        record(ports, actor, session, Change("delivery.retry", "Webhook", "", after=after))
    ports.work_signal.send()
    return Resent(len(due), disabled or 0, denied or 0, _count_paused(ports, due))


def _count_paused(ports: Ports, keys: Collection[int]) -> int:
    """Count the deliveries among ``keys`` that wait until their webhook is resumed."""
    of_paused = (
        select(func.count(models.Delivery.id))
        .join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
        .where(models.Delivery.id.in_(keys), models.Webhook.paused_at.is_not(None))
    )
    with ports.database.reading() as session:
        return session.scalar(of_paused) or 0


@requires_person(Permission.MANAGE_APPS)
def replay_deliveries(
    ports: Ports,
    actor: Actor,
    webhook_id: int,
    since: datetime,
    scope: ReplayScope = EVERYTHING,
    *,
    on_progress: OnProgress | None = None,
) -> ReplayResult:
    """Replay a webhook's failed deliveries since ``since``, and those that it never got.

    Missing ones are of events to which it subscribes now and has no delivery of, because it was
    disabled or not subscribed then; the oldest first, at most ``MAX_MISSING``. Events from before
    the webhook was created are left out unless the scope has them. Delivered and pending ones
    stay. Raises ``PermissionDenied`` to people who lack a permission of the app.
    Refuses NOT_FOUND on ``id``, and INVALID on it if the webhook is disabled or its app inactive.

    The audit entry is written first. The work is done in steps, which can be repeated after a
    crash; ``on_progress`` is called after each, with an estimate of all.
    """
    _require_usable(ports, actor, webhook_id)
    with ports.database.transaction() as session:
        webhook = _found(session, webhook_id)
        begin = since if scope.before_creation else max(since, webhook.created_at)
        after = {
            "since": since.isoformat(),
            "with_failed": scope.failed,
            "with_missing": scope.missing,
        }
        is_paused = webhook.paused_at is not None
        name = webhook.name or masked_url(webhook.target_url)
        change = Change("webhook.replay", "Webhook", webhook_id, name, after=after)
        record(ports, actor, session, change)
    tally = _Tally(on_progress)
    if on_progress is not None:
        with ports.database.reading() as session:
            tally.total = _count_failed(session, webhook_id, since) if scope.failed else 0
            tally.total += _count_missing(session, webhook_id, begin) if scope.missing else 0
    retried = _replay_failed(ports, webhook_id, since, tally) if scope.failed else 0
    created = _replay_undelivered(ports, webhook_id, begin, tally) if scope.missing else 0
    ports.work_signal.send()
    has_more = created >= MAX_MISSING
    return ReplayResult(retried, created, has_more=has_more, is_paused=is_paused)


def _require_usable(ports: Ports, actor: Actor, webhook_id: int) -> None:
    with ports.database.reading() as session:
        require_webhook_within_reach(session, actor, webhook_id)
    _refuse_disabled(ports, webhook_id)


def _found(session: Session, webhook_id: int) -> models.Webhook:
    webhook = session.get(models.Webhook, webhook_id)
    if webhook is None:
        raise Refused(Problem("NOT_FOUND", "There is no such webhook.", "id"))
    return webhook


def _refuse_disabled(ports: Ports, webhook_id: int) -> None:
    with ports.database.reading() as session:
        row = session.execute(
            select(models.Webhook.is_active, models.App.is_active.label("is_app_active"))
            .join(models.App, models.App.id == models.Webhook.app_id)
            .where(models.Webhook.id == webhook_id)
        ).one_or_none()
    if row is None:
        return
    if not row.is_app_active:
        raise Refused(Problem("INVALID", "The app is inactive. Activate it to resend.", "id"))
    if not row.is_active:
        raise Refused(Problem("INVALID", "The webhook is disabled. Enable it to resend.", "id"))


@requires_person(Permission.MANAGE_APPS)
def preview_replay(
    ports: Ports, actor: Actor, webhook_id: int, since: datetime, scope: ReplayScope = EVERYTHING
) -> ReplayResult:
    """Count what ``replay_deliveries`` would send, and refuse as it does; nothing is sent.

    Missing events are counted to ``MAX_MISSING``, and so are those ``earlier`` than the webhook.
    """
    _require_usable(ports, actor, webhook_id)
    with ports.database.reading() as session:
        created_at = _found(session, webhook_id).created_at
        begin = since if scope.before_creation else max(since, created_at)
        count = _count_missing(session, webhook_id, begin) if scope.missing else 0
        leaves_out = scope.missing and begin > since
        return ReplayResult(
            _count_failed(session, webhook_id, since) if scope.failed else 0,
            count,
            has_more=count >= MAX_MISSING,
            earlier=_count_missing(session, webhook_id, since, until=begin) if leaves_out else 0,
        )


@requires_person(Permission.MANAGE_APPS)
def send_waiting_deliveries(ports: Ports, actor: Actor, webhook_id: int) -> int:
    """Send the deliveries of a webhook now that wait for a later attempt; return how many.

    None while it is paused: they are sent in order once it is resumed. Raises
    ``PermissionDenied`` to people who lack a permission of the app. Refuses NOT_FOUND on ``id``,
    and INVALID on it if the webhook is disabled or its app inactive.
    """
    _require_usable(ports, actor, webhook_id)
    with ports.database.transaction() as session:
        webhook = _found(session, webhook_id)
        if webhook.paused_at is not None:
            return 0
        count = release_all(session, webhook_id, ports.shared_clock.now())
        name = webhook.name or masked_url(webhook.target_url)
        after = {"deliveries": count}
        change = Change("webhook.send_waiting", "Webhook", webhook_id, name, after=after)
        record(ports, actor, session, change)
    ports.work_signal.send()
    return count


def _count_failed(session: Session, webhook_id: int, since: datetime) -> int:
    query = _failed(webhook_id, since).order_by(None).subquery()
    return session.scalar(select(func.count()).select_from(query)) or 0


def _count_missing(
    session: Session, webhook_id: int, since: datetime, *, until: datetime | None = None
) -> int:
    subscribed = _subscribed(session, webhook_id)
    some = _missing(webhook_id, subscribed, since).with_only_columns(models.OutboxEvent.id)
    if until is not None:
        some = some.where(models.OutboxEvent.issued_at < until)
    query = some.limit(MAX_MISSING).subquery()
    return session.scalar(select(func.count()).select_from(query)) or 0


def _replay_failed(ports: Ports, webhook_id: int, since: datetime, tally: _Tally) -> int:
    """Schedule what failed since then, with missing payloads made; return how many."""
    with ports.database.reading() as session:
        last = session.scalar(select(func.max(models.Delivery.id))) or 0
        empty = session.scalars(
            _failed(webhook_id, since).where(models.Delivery.payload == "")
        ).all()
    count = rebuild_payloads(ports, empty)
    tally.add(len(empty))
    keys: Sequence[int] = (0,)
    # Up to the last of the beginning: what fails meanwhile is not made due without end.
    replayable = _failed(webhook_id, since).where(
        models.Delivery.id <= last, models.Delivery.payload != ""
    )
    while keys:
        with ports.database.transaction() as session:
            batch = replayable.where(models.Delivery.id > keys[-1]).limit(_DUE_AT_ONCE)
            keys = session.scalars(batch).all()
            session.execute(
                update(models.Delivery)
                .where(models.Delivery.id.in_(keys))
                .values(_due_again(ports))
            )
        count += len(keys)
        tally.add(len(keys))
    return count


def _failed(webhook_id: int, since: datetime) -> Select[int]:
    return (
        select(models.Delivery.id)
        .where(
            models.Delivery.webhook_id == webhook_id,
            models.Delivery.created_at >= since,
            models.Delivery.status == DeliveryStatus.FAILED.value,
        )
        .order_by(models.Delivery.id)
    )


def _make_due(ports: Ports, session: Session, chosen: ColumnElement[bool]) -> Sequence[int]:
    """Schedule the chosen deliveries that have a payload now; return their keys."""
    return session.scalars(
        update(models.Delivery)
        .where(chosen, models.Delivery.payload != "")
        .values(_due_again(ports))
        .returning(models.Delivery.id)
    ).all()


def _due_again(ports: Ports) -> dict[str, object]:
    """Return the values of a delivery that is resent now."""
    return {
        "status": DeliveryStatus.PENDING.value,
        "attempts": 0,
        "next_attempt_at": ports.shared_clock.now(),
        "lease": "",
        "lease_until": None,
        "given_up": "",
    }


def _replay_undelivered(ports: Ports, webhook_id: int, since: datetime, tally: _Tally) -> int:
    with ports.database.reading() as session:
        heard = _subscribed(session, webhook_id)
    missing_events = _missing(webhook_id, heard, since).order_by(models.OutboxEvent.id)
    count, last = 0, 0
    while count < MAX_MISSING and (entries := _next_events(ports, missing_events, last)):
        last = entries[-1].id
        missing = [
            delivery
            for entry in entries
            for delivery in make_missing_deliveries(ports, [entry], heard[entry.type])
        ]
        now = ports.shared_clock.now()
        with ports.database.transaction() as session:
            insert_deliveries(ports, session, missing, now)
        count += len(missing)
        tally.add(len(entries))
    return count


def _subscribed(session: Session, webhook_id: int) -> dict[str, Subscriber]:
    """Return the webhook as a subscriber, by the names of its events."""
    found = subscribers_of(session, tuple(EVENTS))
    return {
        kind.value: subscriber
        for kind, subscribers in found.items()
        for subscriber in subscribers
        if subscriber.webhook_id == webhook_id
    }


def _missing(
    webhook_id: int, heard: Collection[str], since: datetime
) -> Select[models.OutboxEvent]:
    """Closed events that the webhook has no delivery of."""
    had = aliased(models.Delivery)
    return (
        select(models.OutboxEvent)
        .outerjoin(had, and_(had.note_id == models.OutboxEvent.id, had.webhook_id == webhook_id))
        .where(
            models.OutboxEvent.closed_at >= since,
            models.OutboxEvent.issued_at >= since,
            models.OutboxEvent.type.in_(heard),
            had.id.is_(None),
        )
    )


def _next_events(
    ports: Ports, missing: Select[models.OutboxEvent], last: int
) -> list[models.OutboxEvent]:
    """Return some of the events behind ``last``."""
    with ports.database.reading() as session:
        entries = list(
            session.scalars(missing.where(models.OutboxEvent.id > last).limit(_AT_ONCE))
        )
        session.expunge_all()
    return entries


MAX_MATCHING = 10_000
"""Deliveries that are resent at once."""


@dataclass(frozen=True, slots=True)
class ResendImpact:
    """What resending would do; ``matching`` is above ``MAX_MATCHING`` if there are more.

    ``due`` can be sent, ``delivered`` of these were delivered before; ``denied`` are of apps with
    permissions that the caller lacks; the others' webhook is disabled or its app inactive.
    """

    matching: int
    due: int
    delivered: int
    denied: int = 0

    @property
    def disabled(self) -> int:
        """How many can't be sent."""
        return self.matching - self.due - self.denied


@requires_person(Permission.MANAGE_APPS)
def show_resend_impact(ports: Ports, actor: Actor, search: DeliverySearch) -> ResendImpact:
    """Return what ``resend_matching`` would do; one statement. Refuses as the search does."""
    is_denied = models.Delivery.webhook_id.in_(webhooks_beyond_reach(actor))
    is_due = and_(models.Delivery.webhook_id.in_(ACTIVE_WEBHOOKS), not_(is_denied))
    some = (
        select(
            case((is_due, 1), else_=0).label("is_due"),
            case((is_denied, 1), else_=0).label("is_denied"),
            case((models.Delivery.status == DeliveryStatus.SUCCESS.value, 1), else_=0).label(
                "is_delivered"
            ),
        )
        .where(*matching_deliveries(actor, search))
        .limit(MAX_MATCHING + 1)
        .subquery()
    )
    due, denied, delivered = some.columns
    with ports.database.reading() as session:
        row = session.execute(
            select(
                func.count().label("matching"),
                func.coalesce(func.sum(due), 0).label("due"),
                func.coalesce(func.sum(due * delivered), 0).label("delivered"),
                func.coalesce(func.sum(denied), 0).label("denied"),
            ).select_from(some)
        ).one()
    return ResendImpact(row.matching, row.due, row.delivered, row.denied)


@requires_person(Permission.MANAGE_APPS)
def resend_matching(ports: Ports, actor: Actor, search: DeliverySearch) -> Resent:
    """Resend all deliveries that match now, the oldest first.

    Those of disabled webhooks and inactive apps are left out and counted, and so are those of apps
    with permissions that the caller lacks; those without a payload that can be made are left out.
    Refuses INVALID on ``search`` if more than ``MAX_MATCHING`` match, and as the search does.

    The audit entry is written first. The work is done in steps, which can be repeated after a
    crash.
    """
    impact = show_resend_impact(ports, actor, search)
    if impact.matching > MAX_MATCHING:
        message = "More than {count:,} deliveries match. Add a filter, such as a webhook or dates."
        raise Refused(Problem("INVALID", message, "search", values={"count": MAX_MATCHING}))
    with ports.database.reading() as session:
        keys = session.scalars(
            select(models.Delivery.id)
            .where(
                *matching_deliveries(actor, search),
                models.Delivery.webhook_id.in_(ACTIVE_WEBHOOKS),
                models.Delivery.webhook_id.not_in(webhooks_beyond_reach(actor)),
            )
            .order_by(models.Delivery.id)
            .limit(MAX_MATCHING)
        ).all()
    if not keys:
        return Resent(0, impact.disabled, impact.denied)
    after = {"deliveries": len(keys), **_conditions(search)}
    with ports.database.transaction() as session:
        record(ports, actor, session, Change("delivery.retry", "Webhook", "", after=after))
    batches = [keys[start : start + _DUE_AT_ONCE] for start in range(0, len(keys), _DUE_AT_ONCE)]
    due = sum(_resend(ports, batch) for batch in batches)
    paused = sum(_count_paused(ports, batch) for batch in batches)
    return Resent(due, impact.disabled, impact.denied, min(paused, due))


def _resend(ports: Ports, keys: Sequence[int]) -> int:
    """Schedule deliveries, with missing payloads made; return how many."""
    chosen = models.Delivery.id.in_(keys) & models.Delivery.webhook_id.in_(ACTIVE_WEBHOOKS)
    rebuild_missing_payloads(ports, chosen)
    with ports.database.transaction() as session:
        return len(_make_due(ports, session, chosen))


def _conditions(search: DeliverySearch) -> dict[str, object]:
    """Return the conditions of a search that aren't empty, as the audit log shows them."""
    since, until = search.created.gte, search.created.lte
    values = {
        "webhook_id": search.webhook_id,
        "app_id": search.app_id,
        "event": search.event and search.event.value,
        "status": search.status and search.status.value,
        "retrying": search.is_retrying or None,
        "response_status": search.response_status,
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
        "object_id": search.object_id or None,
        "text": search.text.strip() or None,
    }
    return {name: value for name, value in values.items() if value is not None}
