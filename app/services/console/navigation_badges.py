"""What every page of the console shows: badges, a closed storefront, a list's saved filters."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.models import ShopRecord
from app.ports import Ports
from app.services.authorization.register import staff_only
from app.services.console.saved_filters import (
    SavedFilter,
    read_saved_filters,
    saved_filters_column,
)
from app.services.shop.closing import Closing, closing_columns, read_closing
from app.services.sign_in.login_throttle import blocked_count
from app.services.webhooks.failing_webhooks import failing_count


@dataclass(frozen=True, slots=True)
class Badges:
    """Numbers of items that need attention; ``None`` if not visible or unknown.

    ``webhooks`` are failing or were disabled for failing. ``closing`` is ``None`` while the
    storefront is open. ``saved_filters`` are the caller's own of a list.
    """

    webhooks: int | None = None
    blocked_ips: int | None = None
    closing: Closing | None = None
    saved_filters: tuple[SavedFilter, ...] = ()


@staff_only
def show_badges(ports: Ports, actor: Actor, list_name: str = "") -> Badges:
    """Return the counts that the caller can see and the storefront's closing; one statement.

    With ``list_name`` also the caller's saved filters of that list.
    """
    columns: list[ColumnElement[Any]] = [*closing_columns()]
    if actor.holds(Permission.MANAGE_APPS):
        columns.append(failing_count().label("webhooks"))
    if actor.holds(Permission.MANAGE_STAFF):
        columns.append(blocked_count(ports).label("blocked_ips"))
    if list_name:
        columns.append(saved_filters_column(actor, list_name))
    with ports.database.reading() as session:
        row = session.execute(select(*columns).select_from(ShopRecord)).one()
    return Badges(
        webhooks=getattr(row, "webhooks", None),
        blocked_ips=getattr(row, "blocked_ips", None),
        closing=read_closing(row),
        saved_filters=read_saved_filters(getattr(row, "saved_filters", None)),
    )
