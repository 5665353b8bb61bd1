"""The console's pages as its side column and search list them, read from the blueprints."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from flask import Blueprint, current_app


class Heading(StrEnum):
    """The headings of the side column, in their order."""

    TOP = ""
    INTEGRATIONS = "Integrations"
    PEOPLE = "People"
    SECURITY = "Security"
    SHOP = "Shop"


@dataclass(frozen=True, slots=True)
class Entry:
    """How a page group lists one of its pages.

    ``words`` are other names that people search for. ``view`` is the page's function; without a
    ``heading`` the page is found by search alone.
    """

    label: str
    icon: str
    words: str = ""
    heading: Heading | None = None
    view: str = "index"


class PageGroup(Blueprint):
    """A blueprint of pages, some of which are listed."""

    def __init__(
        self, name: str, import_name: str, *entries: Entry, url_prefix: str | None = None
    ) -> None:
        super().__init__(name, import_name, url_prefix=url_prefix)
        self.entries = entries


@dataclass(frozen=True, slots=True)
class Place:
    """A listed page of the running application."""

    label: str
    endpoint: str
    icon: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class PlaceGroup:
    """Pages under one heading."""

    label: str
    places: tuple[Place, ...]


def place_groups() -> tuple[PlaceGroup, ...]:
    """Return the side column: places by heading, in the order in which they were registered."""
    listed = tuple(_listed())
    return tuple(
        PlaceGroup(heading, tuple(place for at, place in listed if at is heading))
        for heading in Heading
    )


def all_places() -> tuple[Place, ...]:
    """Return every place of the side column, in its order."""
    return tuple(place for group in place_groups() for place in group.places)


def other_places() -> tuple[Place, ...]:
    """Return the pages that are found by search alone."""
    return tuple(place for heading, place in _listed() if heading is None)


def _listed() -> Iterator[tuple[Heading | None, Place]]:
    for name, group in current_app.blueprints.items():
        if isinstance(group, PageGroup):
            for entry in group.entries:
                endpoint = f"{name}.{entry.view}"
                yield entry.heading, Place(entry.label, endpoint, entry.icon, entry.words)
