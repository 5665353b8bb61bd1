"""Lists whose filters, sorting and page are in the URL, and the same lists as files.

A ``ListPage`` declares a list once: what narrows and sorts it, the columns of its page and of its
file, and its sentences. ``show`` returns the page, ``export`` the file; ``ARCHITECTURE.md`` has an
example.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Generic, TypeVar

from flask import Response, request, url_for
from markupsafe import Markup

from app.console.frame.formatting import amount, capitalize_first, time_zone
from app.console.frame.page_layout import page
from app.console.lists.files import Columns, export_items, export_list, json_file, started
from app.domain.urls.redirects import with_query
from app.domain.values.errors import Refused
from app.domain.values.pages import (
    MAX_COUNTED,
    Counts,
    Page,
    PageRequest,
    day_range,
    read_cursor,
)
from app.domain.values.text import Plural, Sentence, translatable
from app.web.converters import day, one_of
from app.web.translation import text, texts, translated

Item = TypeVar("Item")
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

    none: Sentence
    no_match: Sentence
    one: Sentence
    many: Plural
    some: Sentence

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


UNCOUNTED = RowCount(none="", no_match="", one="", many="", some="")
"""Of a list whose view passes a ``summary`` to ``show``."""


def at_most(number: int) -> str:
    """Return ``number`` in words that say where counting stopped."""
    if number > MAX_COUNTED:
        return text("more than {number}", number=amount(MAX_COUNTED))
    return amount(number)


def url_with(**changes: str | None) -> str:
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


def pager_links(page: Page[object], order: ListOrder = ListOrder.OTHER) -> Turns:
    """Return the URLs of the pages before and after ``page``."""
    back = url_with(before=page.cursors[0], after=None) if page.has_previous else ""
    on = url_with(after=page.cursors[-1], before=None) if page.has_next else ""
    return Turns(back, on, *order.value)


def invalid_filter_messages(names: Mapping[str, str], invalid: Iterable[str]) -> list[str]:
    """Return a sentence for each filter that isn't applied; ``names`` are the filters' labels."""
    return [
        text("{filter}: “{value}” isn't valid.", filter=names[name], value=value)
        for name, value in query_params(*invalid).items()
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
            url_with(**dict.fromkeys((name, *_STATE))),
        )
        for name, value in query_params(*names).items()
    ]


class Control(Enum):
    """What a filter is entered in."""

    SEARCH = "search"
    CHOICE = "choice"
    DAY = "date"
    TEXT = "text"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of a list, the query parameter ``name`` of its page.

    ``label`` is what chips call it, and its control unless that has a ``title``. A ``choice`` is
    among ``words`` by value; they can also be passed to ``show``. The list's ``read`` gets what
    ``convert`` returns as ``argument``, by default ``name``. ``convert`` raises ``ValueError`` for
    an invalid value, which isn't applied, and the page says so.
    """

    name: str
    label: Sentence
    convert: Callable[[str], object] = str
    control: Control = Control.TEXT
    argument: str = ""
    title: Sentence = ""
    words: Mapping[str, Sentence] = field(default_factory=dict)
    any: Sentence = "Any"
    default: str = ""
    placeholder: Sentence = ""
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The ID of the control in the page."""
        return f"by-{self.name}"

    @property
    def any_text(self) -> str:
        """The label of no choice, in the language of the page."""
        return text(self.any) if self.any else ""


def search(
    label: Sentence, title: Sentence = "", *, longest: int = 0, argument: str = "search"
) -> Filter:
    """Return the search ``q`` of a list; a text is cut off after ``longest`` characters."""
    return Filter(
        "q",
        label,
        convert=(lambda value: value[:longest]) if longest else str,
        control=Control.SEARCH,
        argument=argument,
        title=title,
        attributes={"maxlength": str(longest or _MAX_SEARCH)},
    )


def choice(
    name: str,
    label: Sentence,
    words: Mapping[str, Sentence],
    convert: Callable[[str], object] | Mapping[str, object] | None = None,
    *,
    argument: str = "",
    any: Sentence = "Any",  # noqa: A002 - the label of no choice
    default: str = "",
) -> Filter:
    """Return a filter that is chosen among ``words``.

    ``convert`` can be the values by word in the URL; by default they are the words themselves.
    A filter with a ``default`` that always applies has no ``any``.
    """
    if convert is None:
        convert = one_of(words)
    elif isinstance(convert, Mapping):
        convert = _value_in(convert)
    return Filter(
        name, label, convert, Control.CHOICE, argument, words=words, any=any, default=default
    )


def _value_in(values: Mapping[str, object]) -> Callable[[str], object]:
    word = one_of(values)
    return lambda value: values[word(value)]


def day_filters(since: str = "since", until: str = "until") -> tuple[Filter, Filter]:
    """Return the filters for a first and a last day: moments, both of them inclusive."""
    return (
        Filter("from", "From", _first_moment, Control.DAY, since),
        Filter("to", "To", _last_moment, Control.DAY, until),
    )


def _first_moment(value: str) -> datetime | None:
    return day_range(day(value), None, time_zone()).gte


def _last_moment(value: str) -> datetime | None:
    return day_range(None, day(value), time_zone()).lte


@dataclass(frozen=True, slots=True)
class Sort:
    """An order of a list; ``values`` are what its ``read`` gets for it.

    ``name`` is the query parameter's value. ``order`` gives the pager its labels, ``caption`` the
    table its own.
    """

    name: str
    label: Sentence
    values: Mapping[str, object] = field(default_factory=dict)
    order: ListOrder = ListOrder.OTHER
    caption: Sentence = ""


_NO_HEADING = Markup()


@dataclass(frozen=True)
class Column(Generic[Item]):
    """A column of a list's page.

    ``cell`` returns text, or markup as ``link``, ``lines``, ``pill`` and ``moment`` of
    ``frame.parts`` make it. ``styles`` are classes, such as ``is-num`` (right-aligned),
    ``is-extra`` (on wide screens only) or ``is-tight``. On phones the ``short`` label is beside
    each value. The column that ``is_title`` has the headings of rows; the label of one that
    ``has_buttons`` is only read out, before its ``heading``.
    """

    label: Sentence
    cell: Callable[[Item], str]
    styles: Sequence[str] = ()
    short: Sentence = ""
    is_title: bool = False
    has_buttons: bool = False
    heading: Markup = _NO_HEADING

    @property
    def style(self) -> str:
        return " ".join(self.styles)

    @property
    def heading_style(self) -> str:
        return " ".join(name for name in self.styles if name in ("is-num", "is-extra"))


@dataclass(frozen=True)
class Table(Generic[Item]):
    """A few items in a table, outside their list."""

    columns: Sequence[Column[Item]]
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class EmptyState:
    """What a list without items says; ``endpoint`` is where the first one is made."""

    icon: str
    title: Sentence
    detail: Sentence
    command: str = ""
    endpoint: str = ""
    action: Sentence = ""


@dataclass(frozen=True, slots=True)
class Requested:
    """What the URL asks of a list.

    ``params`` are its filters and order as they are there, ``applied`` those that are valid, and
    ``values`` what the list's ``read`` gets for them.
    """

    params: Mapping[str, str]
    applied: Mapping[str, str]
    values: Mapping[str, Any]
    invalid: tuple[str, ...]
    sort: Sort | None


@dataclass(frozen=True, slots=True)
class ShownList:
    """A list as ``templates/console/list.html`` shows it; sentences are translated."""

    title: str
    intro: str
    label: str
    filter_label: str
    caption: str
    controls: Sequence[tuple[Filter, str, Mapping[str, str]]]
    params: Mapping[str, str]
    sorts: Mapping[str, str]
    default_sort: str
    tags: Sequence[tuple[str, str]]
    problems: Sequence[str]
    columns: Sequence[Column[Any]]
    items: Sequence[Any]
    summary: str
    turns: Turns
    files: Sequence[tuple[str, str]]
    no_match: str
    hint: str
    empty: EmptyState


@dataclass(frozen=True, kw_only=True)
class ListPage(Generic[Item]):
    """A list of the console; its views are the endpoints ``index`` and ``export`` of a page group.

    ``read`` returns a page of the list. Besides the ``PageRequest`` it gets the valid filters by
    their ``argument``, and the ``values`` of the sort order, of which the first is the default; a
    list with a single one has an ``order`` instead. What is searched for is sorted by how it
    matches if ``sorts_matches``. ``read_all`` returns what a file of any length has, by default
    the first ``MAX_ROWS`` are read by pages; ``forms`` are those of the file.
    ``label`` says what is listed, ``hint`` what to do when nothing matches. ``file`` is the name
    of the exported file without its extension, and ``file_columns`` are its columns.
    """

    title: Sentence
    intro: Sentence = ""
    label: Sentence
    filter_label: Sentence
    caption: Sentence
    count: RowCount = UNCOUNTED
    read: Callable[..., Page[Item]]
    read_all: Callable[..., Iterator[Item]] | None = None
    is_counted: bool = True
    filters: Sequence[Filter]
    sorts: Sequence[Sort] = ()
    order: ListOrder = ListOrder.OTHER
    sorts_matches: bool = False
    columns: Sequence[Column[Item]] = ()
    file: str
    file_columns: Columns[Item]
    forms: Sequence[str] = ("csv",)
    empty: EmptyState
    no_match: Sentence = ""
    hint: Sentence = "Try removing a filter."

    def requested(self, rejected: Collection[str] = ()) -> Requested:
        """Return what the URL asks for, without the filters that the use case ``rejected``."""
        params = query_params(*(one.name for one in self.filters), *(["sort"] * bool(self.sorts)))
        values: dict[str, object] = {}
        applied: dict[str, str] = {}
        invalid: list[str] = [*rejected]
        for one in self.filters:
            if one.name not in params or one.name in rejected:
                continue
            try:
                values[one.argument or one.name] = one.convert(params[one.name])
            except ValueError:
                invalid.append(one.name)
            else:
                applied[one.name] = params[one.name]
        sort = next((one for one in self.sorts if one.name == params.get("sort")), None)
        if sort is None and self.sorts:
            sort = self.sorts[0]
        if self.sorts_matches and "q" in applied:
            sort = None
        if sort is not None:
            values |= sort.values
        return Requested(params, applied, values, tuple(invalid), sort)

    def show(
        self,
        found: Page[Any] | None = None,
        *,
        requested: Requested | None = None,
        template: str = "list.html",
        columns: Sequence[Column[Any]] = (),
        words: Mapping[str, Mapping[str, str]] | None = None,
        options: Mapping[str, Mapping[str, str]] | None = None,
        summary: str = "",
        **values: object,
    ) -> Response:
        """Return the list's page, with more ``values`` for its template.

        It is read as the URL says unless a page was ``found`` for what was ``requested``
        already, with the items that the ``columns`` show. ``words`` are labels of filters'
        values by parameter, besides those that are declared, and ``options`` those to
        choose from if they are others.
        """
        requested = requested or self.requested()
        found = found or self.found(requested)
        named = {
            one.name: {**texts(one.words), **(words or {}).get(one.name, {})}
            for one in self.filters
        }
        choices = options or {}
        names = {one.name: text(one.label) for one in self.filters}
        applied = {name: names[name] for name in requested.applied}
        shown = ShownList(
            title=text(self.title),
            intro=text(self.intro) if self.intro else "",
            label=text(self.label),
            filter_label=text(self.filter_label),
            caption=text((requested.sort and requested.sort.caption) or self.caption),
            controls=[
                (one, text(one.title or one.label), choices.get(one.name, named[one.name]))
                for one in self.filters
            ],
            params=requested.params,
            sorts={one.name: text(one.label) for one in self.sorts[1:]},
            default_sort=text(self.sorts[0].label) if self.sorts else "",
            tags=tags(applied, named),
            problems=invalid_filter_messages(names, requested.invalid),
            columns=columns or self.columns,
            items=found.items,
            summary=summary or self.count.of(found.counts),
            turns=pager_links(found, requested.sort.order if requested.sort else self.order),
            files=[(text(_FILES[form]), self._file_url(form, requested)) for form in self.forms],
            no_match=text(self.no_match or self.count.no_match),
            hint=text(self.hint),
            empty=self.empty,
        )
        return page(template, list=shown, **values)

    def found(self, requested: Requested) -> Page[Item]:
        """Read the page of the list that the URL asks for."""
        return self.read(requested_page(is_counted=self.is_counted), **requested.values)

    def export(self, form: str = "csv") -> Response:
        """Return the file of every matching item, streamed while it is read."""
        values = self.requested().values
        if self.read_all is None:
            return export_list(
                self.file, self.file_columns, lambda page: self.read(page, **values)
            )
        items = self.read_all(**values)
        if form == "json":
            return json_file(self.file, started(items))
        return export_items(self.file, self.file_columns, items, is_limited=False)

    def _file_url(self, form: str, requested: Requested) -> str:
        values: dict[str, Any] = dict(requested.params)
        if len(self.forms) > 1:
            values["form"] = form
        return url_for(".export", **values)


_FILES = {"csv": translatable("Export CSV"), "json": translatable("Export JSON")}
_MAX_SEARCH = 256
