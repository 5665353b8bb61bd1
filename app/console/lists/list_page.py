"""Lists whose filters, sorting and page are in the URL, and the same lists as files.

A ``ListPage`` declares a list once: what narrows and sorts it, the columns of its page and of its
file, and its sentences. ``show`` returns the page, ``export`` the file; ``ARCHITECTURE.md`` has an
example.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from flask import Response, request, url_for
from markupsafe import Markup

from app.console.frame.formatting import amount, capitalize_first
from app.console.frame.page_layout import page
from app.console.frame.session import actor, ports
from app.console.lists.files import Columns, export_items, export_list, json_file, started
from app.console.lists.filters import (
    Control,
    Facet,
    Filter,
    ListOrder,
    Requested,
    Sort,
    invalid_filter_messages,
    make_facets,
    query_params,
)
from app.domain.urls.redirects import with_query
from app.domain.values.errors import Refused
from app.domain.values.pages import MAX_COUNTED, Counts, Page, PageRequest, read_cursor
from app.domain.values.text import Plural, Sentence, translatable
from app.web.translation import text, texts, translated

Item = TypeVar("Item")
Result = TypeVar("Result")
PAGE = 25
"""Rows of a page."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The URLs of the neighbouring pages, empty where there is none, and their labels."""

    previous: str = ""
    next: str = ""
    previous_label: str = translatable("Previous")
    next_label: str = translatable("Next")


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

    def sentence(self, counts: Counts) -> str:
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


def pager_links(page: Page[object], order: ListOrder = ListOrder.OTHER) -> Turns:
    """Return the URLs of the pages before and after ``page``."""
    back = url_with(before=page.cursors[0], after=None) if page.has_previous else ""
    on = url_with(after=page.cursors[-1], before=None) if page.has_next else ""
    return Turns(back, on, *order.value)


_NO_HEADING = Markup()


@dataclass(frozen=True)
class Column(Generic[Item]):
    """A column of a list's page.

    ``cell`` returns text, or markup as ``link``, ``lines``, ``pill`` and ``moment`` of
    ``frame.parts`` make it. ``styles`` are classes: ``is-num`` (right-aligned), ``is-extra`` (on
    wide screens only), ``is-cut`` (its end is cut off where there is no room; ``is-most`` gets
    the most of it, ``is-some`` the least). On phones a row has two lines: its title and
    ``is-state``, ``is-cut`` and ``is-when``; below them is ``is-third``, and ``is-wide`` isn't
    shown. In a list that ``is_stacked`` each value is below the other, beside its ``short``
    label. The column that ``is_title`` has the headings of rows; the label of one that
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
        return " ".join(name for name in self.styles if name in ("is-num", "is-extra", "is-wide"))

    def attributes(self, cell: str) -> dict[str, str | None]:
        """Return the attributes of a cell; what is cut off stands in its tooltip."""
        words = Markup(cell).striptags() if "is-cut" in self.styles else ""  # noqa: S704 - is read
        return {"class": self.style or None, "title": words or None}


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
class ShownList:
    """A list as ``templates/console/list.html`` shows it; sentences are translated.

    ``search`` is its filter by text, with its label and what is searched for. ``clear_url`` is
    the list without filters, empty if none applies.
    """

    title: str
    intro: str
    label: str
    filter_label: str
    caption: str
    search: tuple[Filter, str, str] | None
    facets: Sequence[Facet]
    params: Mapping[str, str]
    clear_url: str
    problems: Sequence[str]
    columns: Sequence[Column[Any]]
    items: Sequence[Any]
    summary: str
    turns: Turns
    files: Sequence[tuple[str, str]]
    no_match: str
    hint: str
    empty: EmptyState
    is_stacked: bool


@dataclass(frozen=True, kw_only=True)
class ListPage(Generic[Item]):
    """A list of the console; its views are the endpoints ``index`` and ``export`` of a page group.

    ``read`` returns a page of the list. Besides the ``PageRequest`` it gets the valid filters by
    their ``argument``, and the ``values`` of the sort order, of which the first is the default; a
    list with a single one has an ``order`` instead. What is searched for is sorted by how it
    matches if ``sorts_matches``. ``read_all`` returns what a file of any length has, by default
    the first ``MAX_ROWS`` are read by pages; ``forms`` are those of the file.
    ``label`` says what is listed, ``hint`` what to do when nothing matches. ``file`` is the name
    of the exported file without its extension, and ``file_columns`` are its columns. A list whose
    rows have no page of their own ``is_stacked`` on phones. A page that shows more has a
    ``template`` that extends ``list.html``.
    """

    template: str = "list.html"
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
    is_stacked: bool = False

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
        found = found or self.load_page(requested)
        named = {
            one.name: {**texts(one.words), **(words or {}).get(one.name, {})}
            for one in self.filters
        }
        names = {one.name: text(one.label) for one in self.filters}
        shown = ShownList(
            title=text(self.title),
            intro=text(self.intro) if self.intro else "",
            label=text(self.label),
            filter_label=text(self.filter_label),
            caption=text((requested.sort and requested.sort.caption) or self.caption),
            search=self._search(requested),
            facets=make_facets(requested, self.filters, self.sorts, named, options or {}),
            params=requested.params,
            clear_url=url_for(request.endpoint or "") if requested.applied else "",
            problems=invalid_filter_messages(names, requested.invalid),
            columns=columns or self.columns,
            items=found.items,
            summary=summary or self.count.sentence(found.counts),
            turns=pager_links(found, requested.sort.order if requested.sort else self.order),
            files=[(text(_FILES[form]), self._file_url(form, requested)) for form in self.forms],
            no_match=text(self.no_match or self.count.no_match),
            hint=text(self.hint),
            empty=self.empty,
            is_stacked=self.is_stacked,
        )
        return page(self.template, list=shown, **values)

    def _search(self, requested: Requested) -> tuple[Filter, str, str] | None:
        for one in self.filters:
            if one.control is Control.SEARCH:
                value = requested.params.get(one.name, "")
                return one, text(one.title or one.label), value
        return None

    def load_page(self, requested: Requested) -> Page[Item]:
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


def reader(
    use_case: Callable[..., Result], make_filter: Callable[..., object]
) -> Callable[..., Result]:
    """Return the ``read`` or ``read_all`` of a list whose ``use_case`` takes a filter last."""
    return lambda *page, **values: use_case(ports(), actor(), *page, make_filter(**values))


_FILES = {"csv": translatable("Export CSV"), "json": translatable("Export JSON")}
