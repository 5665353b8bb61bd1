"""The catalogue of events, by what they are about: to be ticked, each with its usual query."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby

from app.domain.apps.apps import App
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, Event, EventType, default_query

NOUNS = {
    "ACCOUNT": "Accounts",
    "APP": "Apps",
    "ORDER": "Orders",
    "CUSTOMER": "Customers",
    "PRODUCT": "Products",
    "CHECKOUT": "Checkouts",
    "PERMISSION_GROUP": "Permission groups",
    "STAFF": "Staff",
}
"""What events are about, by how their names begin."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event: when it happens, and its default query."""

    name: str
    description: str
    query: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Group:
    """The events about one noun; ``is_heard``: the app has the permission they need."""

    noun: str
    permission: Permission
    is_heard: bool
    entries: tuple[Entry, ...]

    @property
    def chosen(self) -> int:
        """How many of them are chosen."""
        return sum(entry.is_chosen for entry in self.entries)


def catalogue(owner: App | None, chosen: Collection[str]) -> list[Group]:
    """Return the catalogue of events, with those that ``owner`` can receive, if given."""
    return [
        Group(
            noun,
            permission,
            owner is None or permission in owner.permissions,
            tuple(_entry(name, kind, chosen) for name, kind in kinds),
        )
        for (noun, permission), kinds in groupby(EVENTS.items(), _about)
    ]


def _about(item: tuple[EventType, type[Event]]) -> tuple[str, Permission]:
    name, kind = item
    return next(noun for start, noun in NOUNS.items() if name.startswith(start)), kind.permission


def _entry(name: EventType, kind: type[Event], chosen: Collection[str]) -> Entry:
    return Entry(name.value, kind.description, default_query(kind), name.value in chosen)
