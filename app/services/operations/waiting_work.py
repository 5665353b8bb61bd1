"""What waits for the worker: one statement for all of its tasks."""

from sqlalchemy import bindparam, or_, select

from app.domain.authorization.actor import Actor
from app.models import (
    AppInstallationRecord,
    DeliveryRecord,
    OutboxEventRecord,
    OutboxMailRecord,
    ResetRequestRecord,
    ShopRecord,
)
from app.models.record import UtcDateTime
from app.ports import Ports
from app.services.authorization.register import internal
from app.services.deliveries import dispatch, fanout
from app.services.lists.index_hints import is_due

_HOST_NOW = bindparam("host_now", type_=UtcDateTime)

_WAITING = {
    "events": select(OutboxEventRecord.id).where(*fanout.IS_OPEN).exists(),
    "dispatch": select(DeliveryRecord.id).where(*dispatch.IS_DUE).exists(),
    "mail": or_(
        select(ResetRequestRecord.id).exists(),
        select(OutboxMailRecord.id).where(OutboxMailRecord.awaited_event_id.is_not(None)).exists(),
        select(OutboxMailRecord.id)
        .where(is_due(OutboxMailRecord.next_attempt_at, _HOST_NOW))
        .exists(),
    ),
    "installations": select(AppInstallationRecord.id)
    .where(AppInstallationRecord.next_attempt_at <= _HOST_NOW)
    .exists(),
    "storefront": select(ShopRecord.id)
    .where(
        ShopRecord.allow_storefront_traffic.is_(False),
        ShopRecord.storefront_opens_at <= _HOST_NOW,
    )
    .exists(),
}
"""By the name of the task that does it."""

_LOOK = select(*(condition.label(name) for name, condition in _WAITING.items()))


@internal
def find_waiting_work(ports: Ports, actor: Actor) -> frozenset[str]:
    """Return the names of the tasks that have something to do; locks nothing."""
    now = ports.shared_clock.now()
    moments = {**fanout.moments(now), **dispatch.moments(now), "host_now": ports.clock.now()}
    (row,) = ports.database.read(_LOOK, moments)
    return frozenset(name for name in _WAITING if getattr(row, name))
