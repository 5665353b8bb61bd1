"""Lists whose filters, sorting and page are in the URL, and the same lists as CSV files."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from itertools import chain, islice
from typing import TypeVar

import orjson
from flask import Response, request, stream_with_context, url_for

from app.console.frame.formatting import amount, capitalize_first, time_zone
from app.domain.urls.redirects import with_query
from app.domain.values.errors import Refused
from app.domain.values.pages import (
    MAX_COUNTED,
    Counts,
    Page,
    PageRequest,
    Range,
    day_range,
    every_item,
    read_cursor,
)
from app.domain.values.text import translatable
from app.domain.values.text_rules import safe_cell
from app.web.converters import day
from app.web.translation import text, translated

PAGE = 25
"""Rows of a page."""

_STATE = ("after", "before", "ask", "select")
"""What the URL says of a page of the list, which another filter doesn't keep."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The URLs of the neighbouring pages, empty where there is none, and their labels."""

    previous: str = ""
    next: str = ""
    previous_label: str = translatable("Previous")
    next_label: str = translatable("Next")


def query_params(*names: str) -> dict[str, str]:
    """Return the query parameters called ``names``, without empty ones."""
    return {name: value for name in names if (value := request.args.get(name, "").strip())}


@dataclass(frozen=True, slots=True)
class RowCount:
    """Whole sentences for how many items a list has, as the catalogues have them.

    ``none`` is of an empty list, ``no_match`` of a filter without matches, ``one`` and ``many``
    are of all items (``{count}``), ``some`` is of a filter's ``{matching}`` of ``{total}``.
    """

    none: str
    no_match: str
    one: str
    many: str
    some: str

    def of(self, counts: Counts) -> str:
        """Return how many items match, of how many in all if a filter leaves some out."""
        matching, total = counts.matching, counts.total
        if not matching:
            return text(self.no_match if total else self.none)
        if matching != total:
            return capitalize_first(
                text(self.some, matching=at_most(matching), total=at_most(total))
            )
        sentence = translated(self.one, self.many, {"count": total})
        return capitalize_first(sentence.format(count=at_most(total)))


def at_most(number: int) -> str:
    """Return ``number`` in words that say where counting stopped."""
    if number > MAX_COUNTED:
        return text("more than {number}", number=amount(MAX_COUNTED))
    return amount(number)


def requested_days(first: str = "from", last: str = "to") -> Range[datetime]:
    """Return the range of days in the query string.

    An end that is no valid date is open.
    """
    return day_range(
        request.args.get(first, type=day), request.args.get(last, type=day), time_zone()
    )


def here_with(**changes: str | None) -> str:
    """Return this page's URL with other query values; ``None`` removes one."""
    values = {**request.args.to_dict(), **changes}
    kept = {name: value for name, value in values.items() if value is not None}
    # Not to url_for, which takes "endpoint", "_method" and the like for its own arguments.
    return with_query(url_for(request.endpoint or "", **(request.view_args or {})), **kept)


def requested_page(size: int = PAGE, *, is_counted: bool = True) -> PageRequest:
    """Return the part of a list that the URL asks for; an invalid one is the first page."""
    after, before = request.args.get("after"), request.args.get("before")
    try:
        cursor = read_cursor(before or after or "", "before" if before else "after")
    except Refused:
        return PageRequest(size, is_counted=is_counted)
    return PageRequest(size, backwards=bool(before), cursor=cursor, is_counted=is_counted)


class ListOrder(Enum):
    """What a list is sorted by, as far as its pager tells; each has the pager's labels."""

    NEWEST_FIRST = (translatable("Newer"), translatable("Older"))
    OLDEST_FIRST = (translatable("Older"), translatable("Newer"))
    OTHER = (translatable("Previous"), translatable("Next"))


def turns(page: Page[object], order: ListOrder = ListOrder.OTHER) -> Turns:
    """Return the URLs of the pages before and after ``page``."""
    back = here_with(before=page.cursors[0], after=None) if page.has_previous else ""
    on = here_with(after=page.cursors[-1], before=None) if page.has_next else ""
    return Turns(back, on, *order.value)


def time_turns(page: Page[object], *, oldest_first: bool) -> Turns:
    """As ``turns``, of a list by time."""
    return turns(page, ListOrder.OLDEST_FIRST if oldest_first else ListOrder.NEWEST_FIRST)


def invalid_filters(converters: Mapping[str, Callable[[str], object]]) -> tuple[str, ...]:
    """Return the names of the URL's filters that aren't applied because their value isn't valid.

    A converter raises ``ValueError`` for an invalid value.
    """
    return tuple(
        name
        for name, value in query_params(*converters).items()
        if not _is_valid(converters[name], value)
    )


def _is_valid(convert: Callable[[str], object], value: str) -> bool:
    try:
        convert(value)
    except ValueError:
        return False
    return True


def invalid_filter_messages(names: Mapping[str, str], invalid: Iterable[str]) -> list[str]:
    """Return a sentence for each filter that isn't applied; ``names`` are the filters' labels."""
    return [
        text("{filter}: “{value}” isn't valid.", filter=names[name], value=value)
        for name, value in query_params(*invalid).items()
    ]


@dataclass(frozen=True, slots=True)
class ActiveFilters:
    """The filters in a list's URL.

    ``applied`` are those that are applied, ``tags`` the same as text; ``problems`` are sentences
    about the others.
    """

    applied: Mapping[str, str]
    tags: Sequence[tuple[str, str]]
    problems: Sequence[str]


def active_filters(
    names: Mapping[str, str],
    converters: Mapping[str, Callable[[str], object]],
    words: Mapping[str, Mapping[str, str]] | None = None,
) -> ActiveFilters:
    """Return the filters in the URL; ``converters`` are of those whose value can be invalid."""
    invalid = invalid_filters(converters)
    applied = {name: label for name, label in names.items() if name not in invalid}
    return ActiveFilters(
        query_params(*applied), tags(applied, words), invalid_filter_messages(names, invalid)
    )


def tags(
    names: Mapping[str, str], words: Mapping[str, Mapping[str, str]] | None = None
) -> list[tuple[str, str]]:
    """Return the active filters as text, each with the URL that removes it.

    ``words`` are the labels of values by parameter; other values are shown as they are.
    """
    called = words or {}
    return [
        (
            text(
                "{name}: {value}", name=names[name], value=called.get(name, {}).get(value, value)
            ),
            here_with(**dict.fromkeys((name, *_STATE))),
        )
        for name, value in query_params(*names).items()
    ]


MAX_ROWS = 100_000
"""Rows of a CSV file of a list; the last line says if there are more."""

_ROWS_AT_ONCE = 500

Item = TypeVar("Item")
Columns = Mapping[str, Callable[[Item], object]]
"""The values of an item by the name of their column; secrets are in none."""


def export_list(
    name: str, columns: Columns[Item], read: Callable[[PageRequest], Page[Item]]
) -> Response:
    """Return a CSV file of a list that is read by pages; what the first one raises is raised."""
    return export_items(name, columns, every_item(read, _ROWS_AT_ONCE))


def export_items(name: str, columns: Columns[Item], items: Iterable[Item]) -> Response:
    """Return a CSV file of ``items`` with ``columns``."""
    return csv_file(name, tuple(columns), _rows(columns, started(items)))


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Response:
    """Return a CSV file of ``rows`` under a line of ``columns``."""
    lines = _csv(columns, rows)
    return _file(f"{name}.csv", "text/csv; charset=utf-8", lines)


def json_file(name: str, items: Iterable[object]) -> Response:
    """Return a JSON file with a list of ``items``."""
    return _file(f"{name}.json", "application/json", _json(items))


def started(items: Iterable[Item]) -> Iterator[Item]:
    """Return ``items`` after reading the first, so that an error of reading is raised here."""
    rest = iter(items)
    first = tuple(islice(rest, 1))
    return chain(first, rest)


def _rows(columns: Columns[Item], items: Iterable[Item]) -> Iterator[Sequence[str]]:
    for number, item in enumerate(items):
        if number == MAX_ROWS:
            yield (_more(),)
            return
        yield [_cell(value(item)) for value in columns.values()]


def _more() -> str:
    return text(
        "Only the first {count:,} rows are exported. Add a filter to export the others.",
        count=MAX_ROWS,
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _file(name: str, kind: str, content: Iterator[str] | Iterator[bytes]) -> Response:
    return Response(
        stream_with_context(content),
        content_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _csv_line(columns)
    for row in rows:
        yield _csv_line(row)


def _csv_line(values: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(map(safe_cell, values))
    return line.getvalue()


def _json(items: Iterable[object]) -> Iterator[bytes]:
    before = b"[\n"
    for item in items:
        yield before + orjson.dumps(item, default=str)
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"
