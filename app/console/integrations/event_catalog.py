"""The events by subject, to select from: each with its permission and default query."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby

from app.domain.apps.apps import App
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, Event, EventType, default_query
from app.domain.values.text import translatable
from app.web.translation import text

NOUNS = {
    "ACCOUNT": translatable("Accounts"),
    "APP": translatable("Apps"),
    "ORDER": translatable("Orders"),
    "CUSTOMER": translatable("Customers"),
    "PRODUCT": translatable("Products"),
    "CHECKOUT": translatable("Checkouts"),
    "PERMISSION_GROUP": translatable("Permission groups"),
    "STAFF": translatable("Staff"),
}
"""What events are about, by how their names begin."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event: when it happens, and its default query; ``id`` is its checkbox's."""

    id: str
    name: str
    description: str
    query: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Group:
    """The events about one subject; ``is_missing`` if the app lacks the permission they need."""

    noun: str
    needs: str
    is_missing: bool
    selected: str
    total: str
    is_open: bool
    entries: tuple[Entry, ...]


def catalogue(owner: App | None, chosen: Collection[str]) -> list[Group]:
    """Return the events by subject, with the permission that ``owner`` needs to receive them."""
    return [
        _group(noun, permission, owner, [_entry(name, kind, chosen) for name, kind in kinds])
        for (noun, permission), kinds in groupby(EVENTS.items(), _about)
    ]


def _about(item: tuple[EventType, type[Event]]) -> tuple[str, Permission]:
    name, kind = item
    return next(noun for start, noun in NOUNS.items() if name.startswith(start)), kind.permission


def _group(
    noun: str, permission: Permission, owner: App | None, entries: Iterable[Entry]
) -> Group:
    listed = tuple(entries)
    selected = sum(entry.is_chosen for entry in listed)
    is_missing = owner is not None and permission not in owner.permissions
    return Group(
        noun=text(noun),
        needs=_needs(permission, owner if is_missing else None),
        is_missing=is_missing,
        selected=text("{count} selected", count=selected),
        total=text("of {count}", count=len(listed)),
        is_open=selected > 0,
        entries=listed,
    )


def _needs(permission: Permission, lacking: App | None) -> str:
    if lacking is None:
        return text("Requires {permission}.", permission=text(permission.label))
    return text(
        "Requires {permission}, which {app} doesn't have.",
        permission=text(permission.label),
        app=lacking.name,
    )


def _entry(name: EventType, kind: type[Event], chosen: Collection[str]) -> Entry:
    return Entry(
        id=f"event-{name.value.lower().replace('_', '-')}",
        name=name.value,
        description=text(kind.description),
        query=default_query(kind),
        is_chosen=name.value in chosen,
    )
