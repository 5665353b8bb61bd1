"""All deliveries that match a search, resent at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, case, func, not_, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.values.errors import Problem, Refused
from app.models import DeliveryRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import requires_person
from app.services.deliveries.payload_rebuild import rebuild_missing_payloads
from app.services.deliveries.replays import ACTIVE_WEBHOOKS, Resent, make_due
from app.services.deliveries.search import DeliverySearch, matching_deliveries
from app.services.webhooks.app_reach import webhooks_beyond_reach

MAX_MATCHING = 10_000
"""Deliveries that are resent at once."""

_AT_ONCE = 1000
"""Rows that are changed in one transaction, so that other writers don't wait long."""


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
    is_denied = DeliveryRecord.webhook_id.in_(webhooks_beyond_reach(actor))
    is_due = and_(DeliveryRecord.webhook_id.in_(ACTIVE_WEBHOOKS), not_(is_denied))
    some = (
        select(
            case((is_due, 1), else_=0).label("is_due"),
            case((is_denied, 1), else_=0).label("is_denied"),
            case((DeliveryRecord.status == DeliveryStatus.SUCCESS.value, 1), else_=0).label(
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
            select(DeliveryRecord.id)
            .where(
                *matching_deliveries(actor, search),
                DeliveryRecord.webhook_id.in_(ACTIVE_WEBHOOKS),
                DeliveryRecord.webhook_id.not_in(webhooks_beyond_reach(actor)),
            )
            .order_by(DeliveryRecord.id)
            .limit(MAX_MATCHING)
        ).all()
    if not keys:
        return Resent(0, impact.disabled, impact.denied)
    after = {"deliveries": len(keys), **_conditions(search)}
    with ports.database.transaction() as session:
        record(ports, actor, session, Change("delivery.retry", "Webhook", "", after=after))
    batches = [keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE)]
    due = sum(_resend(ports, batch) for batch in batches)
    return Resent(due, impact.disabled, impact.denied)


def _resend(ports: Ports, keys: Sequence[int]) -> int:
    """Schedule deliveries, with missing payloads made; return how many."""
    chosen = DeliveryRecord.id.in_(keys) & DeliveryRecord.webhook_id.in_(ACTIVE_WEBHOOKS)
    rebuild_missing_payloads(ports, chosen)
    with ports.database.transaction() as session:
        return len(make_due(ports, session, chosen))


def _conditions(search: DeliverySearch) -> dict[str, object]:
    """Return the conditions of a search that aren't empty, as the audit log shows them."""
    since, until = search.created.gte, search.created.lte
    values = {
        "webhook_id": search.webhook_id,
        "app_id": search.app_id,
        "event": search.event and search.event.value,
        "status": search.status and search.status.value,
        "response_status": search.response_status,
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
        "object_id": search.object_id or None,
        "text": search.text.strip() or None,
    }
    return {name: value for name, value in values.items() if value is not None}
