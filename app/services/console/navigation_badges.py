"""The counts shown as badges in the console's navigation."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.models import ShopRecord
from app.ports import Ports
from app.services.authorization.register import staff_only
from app.services.sign_in.login_throttle import blocked_count
from app.services.webhooks.failing_webhooks import failing_count


@dataclass(frozen=True, slots=True)
class Badges:
    """Numbers of items that need attention; ``None`` if not visible or unknown.

    ``webhooks`` are failing or were disabled for failing.
    """

    webhooks: int | None = None
    blocked_ips: int | None = None


@staff_only
def show_badges(ports: Ports, actor: Actor) -> Badges:
    """Return the counts that the caller can see, in at most one statement."""
    columns: list[ColumnElement[int | None]] = []
    if actor.holds(Permission.MANAGE_APPS):
        columns.append(failing_count().label("webhooks"))
    if actor.holds(Permission.MANAGE_STAFF):
        columns.append(blocked_count(ports).label("blocked_ips"))
    if not columns:
        return Badges()
    with ports.database.reading() as session:
        counted = session.execute(select(*columns).select_from(ShopRecord)).mappings().one()
    return Badges(**counted)
