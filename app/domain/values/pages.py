"""Pages of long lists, and the ranges that lists are filtered by.

Pages are found by cursor, never by offset, so that any depth costs the same. Both ends of a range
belong to it, and either can be open.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import Generic, TypeVar

from app.domain.values.errors import Problem, Refused
from app.domain.values.text_rules import is_storable

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)

MAX_PAGE_SIZE = 100

MAX_COUNTED = 10_000
"""Where counting for a page stops."""

BAD_CURSOR = "Received cursor is invalid."

_MAX_CURSOR_LENGTH = 16 * 1024
"""Characters; room for two names of the greatest length, each character escaped."""

_MAX_INTEGER = 2**63
"""What no key, count or number in a database reaches."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A requested page: ``size`` items after or before a cursor.

    ``cursor`` holds the sort values of its row, the key last; empty at either end. The page says
    how long the list is if ``is_counted``. A page of no items reads none: it only counts.
    """

    size: int
    backwards: bool = False
    cursor: tuple[str | int, ...] = ()
    is_counted: bool = False

    @property
    def cursor_field(self) -> str:
        """The argument that contained the cursor."""
        return "before" if self.backwards else "after"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items match a list's filter, and how many there are without it.

    A number above ``MAX_COUNTED`` means "more than that".
    """

    matching: int
    total: int


NONE_COUNTED = Counts(0, 0)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item_co]):
    """A page of a list.

    ``positions`` are the sort values of each item's row, the key last, of which cursors are made
    for those who ask for them. ``count`` is how many items match, counted when it's called;
    ``counts`` are the bounded counts of a page that was requested with them. ``has_items`` is
    False for a page that was requested without any.
    """

    items: tuple[Item_co, ...]
    positions: tuple[Sequence[object], ...]
    has_next: bool
    has_previous: bool
    count: Callable[[], int]
    counts: Counts = NONE_COUNTED
    has_items: bool = True

    @property
    def cursors(self) -> tuple[str, ...]:
        """Each item's cursor."""
        return tuple(map(make_cursor, self.positions))


def empty_page() -> Page[Item_co]:
    """Return a page of a list that holds nothing."""
    return Page(items=(), positions=(), has_next=False, has_previous=False, count=lambda: 0)


def with_items(page: Page[object], items: Iterable[Item_co]) -> Page[Item_co]:
    """Return ``page`` with its items replaced by ``items``."""
    return Page(
        tuple(items),
        page.positions,
        page.has_next,
        page.has_previous,
        page.count,
        page.counts,
        page.has_items,
    )


def every_item(read: Callable[[PageRequest], Page[Item]], at_once: int) -> Iterator[Item]:
    """Yield the items of a list that ``read`` returns by pages, ``at_once`` at a time."""
    request = PageRequest(at_once)
    while True:
        page = read(request)
        yield from page.items
        if not page.has_next:
            return
        request = PageRequest(at_once, cursor=read_cursor(page.cursors[-1], "after"))


def read_page_request(
    name: str,
    *,
    first: int | None = None,
    last: int | None = None,
    after: str | None = None,
    before: str | None = None,
) -> PageRequest:
    """Return the page that relay's four arguments ask for; refuses what makes no sense, by field.

    Without ``first`` and ``last`` it is a page of no items: ``no_page_size`` refuses to show them.
    """
    if first is None and last is None:
        return PageRequest(0)
    if first is not None and last is not None:
        message = "Passing both `first` and `last` to paginate `{name}` is not supported."
        raise Refused(Problem("GRAPHQL_ERROR", message, "last", values={"name": name}))
    backwards = first is None
    field, size = ("last", last) if backwards else ("first", first)
    if size is None or not 0 < size <= MAX_PAGE_SIZE:
        message = "Ask for 1 to {max_page_size} at once: `{field}` of `{name}` is {size}."
        asked = {"max_page_size": MAX_PAGE_SIZE, "field": field, "name": name, "size": size}
        raise Refused(Problem("GRAPHQL_ERROR", message, field, values=asked))
    place, opposite = ("before", "after") if backwards else ("after", "before")
    text, stray = (before, after) if backwards else (after, before)
    if stray:
        message = "Argument `{field}` cannot be combined with `{other}`."
        values = {"field": field, "other": opposite}
        raise Refused(Problem("GRAPHQL_ERROR", message, opposite, values=values))
    return PageRequest(size, backwards, read_cursor(text, place) if text else ())


def no_page_size(name: str) -> Refused:
    """Return the refusal to show the items of the list ``name`` without ``first`` or ``last``.

    The count of a list needs neither (contract, part 4).
    """
    message = "You must provide a `first` or `last` value to paginate `{name}`."
    return Refused(Problem("GRAPHQL_ERROR", message, "first", values={"name": name}))


def make_cursor(position: Sequence[object]) -> str:
    """Return the cursor of a row by its sort values: texts, whole numbers and moments."""
    values = [
        value.isoformat()
        if isinstance(value, datetime)
        else value
        if isinstance(value, int)
        else str(value)
        for value in position
    ]
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode()


def read_cursor(text: str, field: str) -> tuple[str | int, ...]:
    """Return the sort values in a cursor; refuses anything that ``make_cursor`` did not make."""
    if len(text) > _MAX_CURSOR_LENGTH:
        raise Refused(Problem("GRAPHQL_ERROR", BAD_CURSOR, field))
    try:
        values = json.loads(base64.urlsafe_b64decode(text.encode()))
    except (binascii.Error, ValueError, RecursionError):
        values = None
    if (
        not isinstance(values, list)
        or not values
        or not all(map(_is_value, values))
        or make_cursor(values) != text
    ):
        raise Refused(Problem("GRAPHQL_ERROR", BAD_CURSOR, field))
    return tuple(values)


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return is_storable(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_INTEGER


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(rf"{_DAY.pattern}[ T][0-9]{{2}}:[0-9]{{2}}")

Bound_co = TypeVar("Bound_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Range(Generic[Bound_co]):
    """From ``gte`` to ``lte``."""

    gte: Bound_co | None = None
    lte: Bound_co | None = None


def moment_range(gte: datetime | None, lte: datetime | None) -> Range[datetime]:
    """Return the range between two moments; one that names no zone is in UTC."""
    return Range(None if gte is None else in_utc(gte), None if lte is None else in_utc(lte))


def day_range(gte: date | None, lte: date | None, zone: tzinfo = UTC) -> Range[datetime]:
    """Return the range from the beginning of one day to the end of another, both in ``zone``."""
    return moment_range(
        None if gte is None else datetime.combine(gte, time.min, zone),
        None if lte is None else datetime.combine(lte, time.max, zone),
    )


def parse_day(text: str) -> date | None:
    """Return the day that ``text`` spells as ``2026-03-01``, or ``None``."""
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_moment(text: str, zone: tzinfo) -> datetime | None:
    """Return the moment that ``text`` spells as ``2026-03-01 12:00`` in ``zone``, or ``None``."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return in_utc(datetime.fromisoformat(text).replace(tzinfo=zone))
    except ValueError:
        return None


def in_utc(moment: datetime) -> datetime:
    """``moment`` in UTC, which it is taken to be where it names no zone."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # an hour before the year 1, or after 9999: as near as can be
        return moment.replace(tzinfo=UTC)
