"""Forgetting what nobody will look at again, so that tables grow with the shop, not with time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.apps.apps import EXPIRED_TOKEN_KEPT
from app.domain.authorization.actor import Actor
from app.domain.commerce.checkouts import RETENTION as CHECKOUT_RETENTION
from app.domain.deliveries.deliveries import RETENTION
from app.models import (
    AccountLinkRecord,
    AppTokenRecord,
    CheckoutRecord,
    DeliveryRecord,
    OidcStateRecord,
    OutboxEventRecord,
    ProviderTokenRecord,
    SessionRecord,
)
from app.ports import Ports
from app.services.authorization.register import internal
from app.services.keys.rotation import forget_old_keys
from app.services.shop.traffic import forget_old_traffic

_AT_ONCE = 1000
_MAX_OPAQUE_TOKEN_LENGTH = timedelta(days=90)
"""Nobody lets an access token live that long; when one was seen first is of no use afterwards."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """How many of each were forgotten."""

    sessions: int
    links: int
    sign_ins: int
    provider_tokens: int
    app_tokens: int
    traffic_counts: int
    throttle_counters: int
    keys: int
    deliveries: int
    events: int
    carts: int


@internal
def tidy(ports: Ports, actor: Actor) -> Tidied:
    """Forget expired sessions, links and sign-ins, old traffic, faded failures, useless keys.

    Deliveries go with their attempts after 14 days, unless they are tried again just now, and so
    do events that have been told; carts that nobody has touched for 90; tokens of apps 30 days
    after they expired.

    Safe to repeat, and to run in several processes at once.
    """
    return Tidied(
        sessions=_forget(ports, SessionRecord.id, SessionRecord.expires_at),
        links=_forget(ports, AccountLinkRecord.id, AccountLinkRecord.expires_at),
        sign_ins=_forget(ports, OidcStateRecord.digest, OidcStateRecord.expires_at),
        provider_tokens=_forget(
            ports,
            ProviderTokenRecord.digest,
            ProviderTokenRecord.first_seen_at,
            older_by=_MAX_OPAQUE_TOKEN_LENGTH,
        ),
        app_tokens=_forget(
            ports, AppTokenRecord.id, AppTokenRecord.expires_at, older_by=EXPIRED_TOKEN_KEPT
        ),
        traffic_counts=forget_old_traffic(ports),
        throttle_counters=ports.throttle.forget_faded(ports.clock.timestamp()),
        keys=forget_old_keys(ports, actor),
        deliveries=_forget(
            ports,
            DeliveryRecord.id,
            DeliveryRecord.created_at,
            DeliveryRecord.next_attempt_at.is_(None),
            older_by=RETENTION,
        ),
        events=_forget(
            ports, OutboxEventRecord.id, OutboxEventRecord.closed_at, older_by=RETENTION
        ),
        carts=_forget(
            ports, CheckoutRecord.id, CheckoutRecord.updated_at, older_by=CHECKOUT_RETENTION
        ),
    )


def _forget(
    ports: Ports,
    key: InstrumentedAttribute[int] | InstrumentedAttribute[str],
    moment: InstrumentedAttribute[datetime] | InstrumentedAttribute[datetime | None],
    *conditions: ColumnElement[bool],
    older_by: timedelta = timedelta(),
) -> int:
    """In small transactions: whoever signs in meanwhile waits for one of them at most."""
    is_old = moment <= ports.clock.now() - older_by
    old = select(key).where(is_old, *conditions).order_by(moment).limit(_AT_ONCE)
    forget = delete(key.class_).where(key.in_(old))
    total = 0
    while True:
        with ports.database.transaction() as session:
            gone = len(session.scalars(forget.returning(key)).all())
        total += gone
        if gone < _AT_ONCE:
            return total
