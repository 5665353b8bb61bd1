"""What each page of the console shows: badges, a closed storefront, and a list's saved filters."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Label, delete, func, select
from sqlalchemy.exc import IntegrityError

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.inputs import Seen, require_unchanged
from app.domain.values.text_rules import line_problem
from app.models.json_arrays import json_array_text, json_object
from app.ports import Ports
from app.services.authorization.register import staff_only
from app.services.shop.settings import Closing, closing_columns, read_closing
from app.services.sign_in.login_throttle import blocked_count
from app.services.webhooks.failing_webhooks import failing_count

MAX_SAVED = 20
"""Filters of a person for one list."""

MAX_NAME_LENGTH = 40
MAX_QUERY_LENGTH = 2000
_DUPLICATE_NAME = Problem("UNIQUE", "You already have a filter with this name.", "name")
_MISSING = Problem("NOT_FOUND", "This filter doesn't exist. It may be deleted.", "id")


@dataclass(frozen=True, slots=True)
class SavedFilter:
    """A saved filter; ``query`` is the query string of its list."""

    id: int
    name: str
    query: str


def _saved_filters_column(actor: Actor, list_name: str) -> Label[str]:
    """Return a column for ``_read_saved_filters``: the caller's filters of a list."""
    record = models.SavedFilter
    saved = json_object(id=record.id, name=record.name, query=record.query)
    mine = (record.user_id == actor.user_id) & (record.list_name == list_name)
    return select(json_array_text(saved)).where(mine).scalar_subquery().label("saved_filters")


def _read_saved_filters(column: str | None) -> tuple[SavedFilter, ...]:
    """Return the filters in a column, by name."""
    filters = (SavedFilter(**one) for one in json.loads(column or "[]"))
    return tuple(sorted(filters, key=lambda one: (one.name.casefold(), one.id)))


@staff_only
def save_filter(ports: Ports, actor: Actor, list_name: str, name: str, query: str) -> None:
    """Save a filter for the caller.

    Refuses on ``name``: REQUIRED, INVALID for a line that can't be shown, UNIQUE for a name that
    the caller uses in that list, INVALID for more than ``MAX_SAVED``. Refuses INVALID on ``query``
    for an empty or long one.
    """
    name = _valid_name(name)
    if not 0 < len(query) <= MAX_QUERY_LENGTH:
        raise Refused(Problem("INVALID", "Set a filter first, then save it.", "query"))
    record = models.SavedFilter
    mine = (record.user_id == actor.user_id) & (record.list_name == list_name)
    try:
        with ports.database.transaction() as session:
            # One at a time, or two could both be the last.
            session.execute(
                select(models.User.id).where(models.User.id == actor.user_id).with_for_update()
            )
            if (session.scalar(select(func.count()).where(mine)) or 0) >= MAX_SAVED:
                message = "You can save {count} filters per list. Delete one first."
                raise Refused(Problem("INVALID", message, "name", values={"count": MAX_SAVED}))
            session.add(record(user_id=actor.user_id, list_name=list_name, name=name, query=query))
    except IntegrityError:
        raise Refused(_DUPLICATE_NAME) from None


@staff_only
def rename_filter(
    ports: Ports, actor: Actor, filter_id: int, name: str, seen: Seen | None = None
) -> None:
    """Rename one of the caller's filters; refuses as ``save_filter``, and NOT_FOUND on ``id``.

    Raises ``Stale`` if its ``name`` isn't as ``seen`` anymore.
    """
    record, name = models.SavedFilter, _valid_name(name)
    mine = (record.user_id == actor.user_id) & (record.id == filter_id)
    try:
        with ports.database.transaction() as session:
            stored = session.scalar(select(record).where(mine).with_for_update())
            if stored is None:
                raise Refused(_MISSING)
            require_unchanged(seen, {"name": stored.name})
            stored.name = name
    except IntegrityError:
        raise Refused(_DUPLICATE_NAME) from None


@staff_only
def delete_filter(ports: Ports, actor: Actor, filter_id: int) -> None:
    """Delete one of the caller's filters; refuses NOT_FOUND on ``id``."""
    record = models.SavedFilter
    mine = (record.user_id == actor.user_id) & (record.id == filter_id)
    with ports.database.transaction() as session:
        if session.scalar(delete(record).where(mine).returning(record.id)) is None:
            raise Refused(_MISSING)


def _valid_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise Refused(Problem("REQUIRED", "Enter a name.", "name"))
    refuse_any(line_problem(name, "name", max_length=MAX_NAME_LENGTH))
    return name


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
        columns.append(_saved_filters_column(actor, list_name))
    with ports.database.reading() as session:
        row = session.execute(select(*columns).select_from(models.Shop)).one()
    return Badges(
        webhooks=getattr(row, "webhooks", None),
        blocked_ips=getattr(row, "blocked_ips", None),
        closing=read_closing(row),
        saved_filters=_read_saved_filters(getattr(row, "saved_filters", None)),
    )
