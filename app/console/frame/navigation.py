"""The console's pages as its side column and search list them, read from the blueprints."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from flask import Blueprint, current_app

from app.domain.authorization.actor import Actor
from app.domain.values.text import Sentence, translatable
from app.services.authorization.register import can_call

EMAILS = "emails"
"""The area of emails: their templates, look, sending and log."""

UseCase = Callable[..., object]


class Heading(StrEnum):
    """The headings of the side column, in their order; rarely used tools are folded."""

    TOP = ""
    INTEGRATIONS = translatable("Integrations")
    PEOPLE = translatable("People")
    SHOP = translatable("Shop")
    TOOLS = translatable("Tools")


@dataclass(frozen=True, slots=True)
class Entry:
    """How a page group lists one of its pages.

    ``words`` are other names that people search for. ``view`` is the page's function; without a
    ``heading`` the page is found by search alone. ``needs`` is the use case that the page calls:
    the page is listed for callers who can call it, by default for all staff. Of the pages of an
    ``area``, which have tabs, the side column has the first that the caller can open. Entries of
    the running application have their ``endpoint``.
    """

    label: Sentence
    icon: str
    words: Sentence = ""
    heading: Heading | None = None
    view: str = "index"
    needs: UseCase | None = None
    area: str = ""
    endpoint: str = ""

    def is_open_to(self, actor: Actor) -> bool:
        return self.needs is None or can_call(actor, self.needs)


class PageGroup(Blueprint):
    """A blueprint of pages, some of which are listed.

    A group with a ``list_name`` has a list at ``index`` whose filters can be saved under it.
    """

    def __init__(
        self,
        name: str,
        import_name: str,
        *entries: Entry,
        url_prefix: str | None = None,
        list_name: str = "",
    ) -> None:
        super().__init__(name, import_name, url_prefix=url_prefix)
        self.entries = entries
        self.list_name = list_name


@dataclass(frozen=True, slots=True)
class PlaceGroup:
    """Pages under one heading; ``is_folded`` hides them until they are asked for."""

    label: str
    places: tuple[Entry, ...]
    is_folded: bool = False


def place_groups(actor: Actor) -> tuple[PlaceGroup, ...]:
    """Return the side column: places that ``actor`` can open, under headings with any."""
    listed = list(_first_of_areas(one for one in _listed() if one.is_open_to(actor)))
    groups = (
        PlaceGroup(
            heading,
            tuple(one for one in listed if one.heading is heading),
            is_folded=heading is Heading.TOOLS,
        )
        for heading in Heading
    )
    return tuple(group for group in groups if group.places)


def _first_of_areas(listed: Iterable[Entry]) -> Iterator[Entry]:
    areas: set[str] = set()
    for entry in listed:
        if entry.heading is None or entry.area not in areas:
            yield entry
        if entry.heading is not None and entry.area:
            areas.add(entry.area)


def area_of(endpoint: str) -> str:
    """Return the area of the group of pages with that endpoint; empty if it is in none."""
    group = current_app.blueprints.get(endpoint.rpartition(".")[0])
    entries = group.entries if isinstance(group, PageGroup) else ()
    return next((entry.area for entry in entries if entry.area), "")


def all_places() -> tuple[Entry, ...]:
    """Return every place of the side column, in its order."""
    listed = tuple(_listed())
    return tuple(one for heading in Heading for one in listed if one.heading is heading)


def other_places() -> tuple[Entry, ...]:
    """Return the pages that are found by search alone."""
    return tuple(one for one in _listed() if one.heading is None)


def can_open(actor: Actor, endpoint: str) -> bool:
    return any(one.endpoint == endpoint and one.is_open_to(actor) for one in _listed())


def list_of(endpoint: str) -> str:
    """Return the name of the list on the page of that endpoint; empty if it has none."""
    name, _, view = endpoint.rpartition(".")
    group = current_app.blueprints.get(name)
    return group.list_name if isinstance(group, PageGroup) and view == "index" else ""


def list_endpoint(list_name: str) -> str | None:
    """Return the page of the list of that name, ``None`` if there is none."""
    return next(
        (
            f"{name}.index"
            for name, group in current_app.blueprints.items()
            if isinstance(group, PageGroup) and list_name and group.list_name == list_name
        ),
        None,
    )


def _listed() -> Iterator[Entry]:
    for name, group in current_app.blueprints.items():
        if isinstance(group, PageGroup):
            for entry in group.entries:
                yield replace(entry, endpoint=f"{name}.{entry.view}")
