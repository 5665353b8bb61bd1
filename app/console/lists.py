"""Lists whose state is in the URL: filters, sorting and pages are query parameters."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from flask import request, url_for

from app.domain.values.errors import Refused
from app.domain.values.pages import Page, PageRequest, read_cursor
from app.domain.values.ranges import Range, days
from app.domain.values.text import text
from app.web.converters import day

PAGE = 25
"""Rows of a page."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The addresses of the neighbouring pages, empty where there is none."""

    newer: str = ""
    older: str = ""
    newer_label: str = "Newer"
    older_label: str = "Older"


def told(*names: str) -> dict[str, str]:
    """What the address says under ``names``, without what it leaves empty."""
    return {name: value for name in names if (value := request.args.get(name, "").strip())}


@dataclass(frozen=True, slots=True)
class RowCount:
    """Whole sentences for the rows of a list: all there are, or those on one page."""

    one: str
    many: str
    one_here: str
    many_here: str

    def of(self, page: Page[object]) -> str:
        """Return how many rows ``page`` has; a page of a longer list says that it's a page."""
        count = len(page.items)
        if page.has_previous or page.has_next:
            return text(self.one_here, self.many_here, count=count)
        return text(self.one, self.many, count=count)


def asked_days(first: str = "from", last: str = "to") -> Range[datetime]:
    """Return the range of days in the query string.

    An end that is no valid date is open.
    """
    return days(request.args.get(first, type=day), request.args.get(last, type=day))


def here_with(**changes: str | None) -> str:
    """Return this page's URL with other query values; ``None`` removes one."""
    values = request.args.to_dict()
    for name, value in changes.items():
        if value is None:
            values.pop(name, None)
        else:
            values[name] = value
    return url_for(request.endpoint or "", **{**(request.view_args or {}), **values})


def asked_page(size: int = PAGE) -> PageRequest:
    """Return the part of a list that the URL asks for; an invalid one is the first page."""
    after, before = request.args.get("after"), request.args.get("before")
    try:
        if before:
            return PageRequest(size, backwards=True, cursor=read_cursor(before, "before"))
        return PageRequest(size, cursor=read_cursor(after, "after") if after else ())
    except Refused:
        return PageRequest(size)


def turns(page: Page[object], newer: str = "Newer", older: str = "Older") -> Turns:
    """Return the URLs of the pages before and after ``page``."""
    back = here_with(before=page.cursors[0], after=None) if page.has_previous else ""
    on = here_with(after=page.cursors[-1], before=None) if page.has_next else ""
    return Turns(back, on, newer, older)


def time_turns(page: Page[object], *, oldest_first: bool) -> Turns:
    """As ``turns``, of a list by time."""
    return turns(page, "Older", "Newer") if oldest_first else turns(page)


def invalid_filters(converters: Mapping[str, Callable[[str], object]]) -> tuple[str, ...]:
    """Return the names of the URL's filters that aren't applied because their value isn't valid.

    A converter raises ``ValueError`` for an invalid value.
    """
    return tuple(
        name for name, value in told(*converters).items() if not _is_valid(converters[name], value)
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
        for name, value in told(*invalid).items()
    ]


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
            here_with(**{name: None, "after": None, "before": None}),
        )
        for name, value in told(*names).items()
    ]
