"""How the URL of a list filters and sorts it, and the chips above the list that set it.

A chip applies as soon as something is chosen, and works without script: it is a ``details``
element with a menu of links, or with a form for what is typed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any
from urllib.parse import urlencode

from flask import request, url_for
from markupsafe import Markup

from app.console.frame.formatting import html_text, local, time_zone
from app.console.frame.session import now
from app.domain.urls.redirects import with_query
from app.domain.values.pages import day_range
from app.domain.values.text import Sentence, translatable
from app.web.converters import day, one_of
from app.web.translation import text

_MAX_SEARCH = 256
MOMENT = "%Y-%m-%dT%H:%M:%S"
"""How a moment is written where a day can be: that of a chart's column, in the person's zone."""


def query_params(*names: str) -> dict[str, str]:
    """Return the query parameters called ``names``, without empty ones."""
    return {name: value for name in names if (value := request.args.get(name, "").strip())}


class ListOrder(Enum):
    """What a list is sorted by, as far as its pager tells; each has the pager's labels."""

    NEWEST_FIRST = (translatable("Newer"), translatable("Older"))
    OLDEST_FIRST = (translatable("Older"), translatable("Newer"))
    OTHER = (translatable("Previous"), translatable("Next"))


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
    default: str = ""
    placeholder: Sentence = ""
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The ID of the control in the page."""
        return f"by-{self.name}"


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
    default: str = "",
) -> Filter:
    """Return a filter that is chosen among ``words``.

    ``convert`` can be the values by word in the URL; by default they are the words themselves.
    A ``default`` always applies.
    """
    if convert is None:
        convert = one_of(words)
    elif isinstance(convert, Mapping):
        convert = _value_in(convert)
    return Filter(name, label, convert, Control.CHOICE, argument, words=words, default=default)


def _value_in(values: Mapping[str, object]) -> Callable[[str], object]:
    word = one_of(values)
    return lambda value: values[word(value)]


def day_filters(since: str = "since", until: str = "until") -> tuple[Filter, Filter]:
    """Return the filters for a first and a last day: moments, both of them inclusive."""
    return (
        Filter("from", "From date", _first_moment, Control.DAY, since),
        Filter("to", "To date", _last_moment, Control.DAY, until),
    )


def _first_moment(value: str) -> datetime | None:
    return _moment(value) or day_range(day(value), None, time_zone()).gte


def _last_moment(value: str) -> datetime | None:
    moment = _moment(value)
    if moment is not None:
        return moment + timedelta(seconds=1) - timedelta(microseconds=1)
    return day_range(None, day(value), time_zone()).lte


def _moment(value: str) -> datetime | None:
    """Return the moment that a chart leads to; ``None`` for what is a day."""
    if "T" not in value:
        return None
    moment = datetime.strptime(value, MOMENT).replace(tzinfo=time_zone())
    if not _YEARS[0] <= moment.year <= _YEARS[1]:
        raise ValueError(value)
    return moment


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


def invalid_filter_messages(names: Mapping[str, str], invalid: Iterable[str]) -> list[str]:
    """Return a sentence for each filter that isn't applied; ``names`` are the filters' labels."""
    return [
        text("{filter}: “{value}” isn't valid.", filter=names[name], value=value)
        for name, value in query_params(*invalid).items()
    ]


@dataclass(frozen=True, slots=True)
class Facet:
    """A chip above a list that filters or sorts it as soon as something is chosen.

    ``summary`` is its label with what is chosen. Its menu has ``options``: their labels, their
    URLs, and whether they are chosen; and a form with ``fields``, which are filters with their
    labels and values. ``without`` is the URL that removes the filter, empty if none applies, and
    ``remove_label`` the name of that link.
    """

    summary: str
    label: str
    options: Sequence[tuple[str, str, bool]] = ()
    fields: Sequence[tuple[Filter, str, str]] = ()
    without: str = ""
    remove_label: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The query parameters of its form."""
        return frozenset(one.name for one, _, _ in self.fields)


def _facet(label: str, value: str, without: str = "", **menu: Any) -> Facet:
    chosen = text("{name}: {value}", name=label, value=value)
    summary = (
        html_text("{name}: {value}", name=label, value=Markup("<b>{}</b>").format(value))
        if value
        else label
    )
    remove = text("Remove filter {filter}", filter=chosen) if without else ""
    return Facet(summary, label, without=without, remove_label=remove, **menu)


def make_facets(
    requested: Requested,
    filters: Sequence[Filter],
    sorts: Sequence[Sort],
    named: Mapping[str, Mapping[str, str]],
    options: Mapping[str, Mapping[str, str]],
) -> list[Facet]:
    """Return the chips above a list, all but its search.

    ``named`` are the labels of values by filter, ``options`` those to choose from if they are
    others.
    """
    facets = _Facets(requested, named)
    made, days = [], [one for one in filters if one.control is Control.DAY]
    for one in filters:
        if one.control is Control.CHOICE:
            made.append(facets.of_choice(one, options.get(one.name, named[one.name])))
        elif one.control is Control.TEXT or (
            one.control is Control.HIDDEN and one.name in requested.applied
        ):
            made.append(facets.of_text(one))
        elif one in days[:1]:
            made.append(facets.of_days(*days))
    return made + ([facets.of_sorts(sorts)] if sorts else [])


class _Facets:
    """Makes the chips of a list from what its URL asks for, with the labels of values."""

    def __init__(self, requested: Requested, named: Mapping[str, Mapping[str, str]]) -> None:
        self._requested = requested
        self._named = named
        self._url = url_for(request.endpoint or "", **(request.view_args or {}))

    def _url_with(self, *removed: str, **added: str) -> str:
        kept = {key: one for key, one in self._requested.params.items() if key not in removed}
        return with_query(self._url, **{**kept, **added})

    def of_choice(self, one: Filter, words: Mapping[str, str]) -> Facet:
        """Return the chip of a filter that is chosen among ``words``."""
        value = self._requested.applied.get(one.name, one.default)
        start = self._url_with(one.name)
        start += "&" if "?" in start else "?"
        options = [
            (label, f"{start}{urlencode({one.name: key})}", key == value)
            for key, label in words.items()
        ]
        shown = self._named[one.name].get(value, value)
        return _facet(text(one.label), shown, self._without(one), options=options)

    def of_text(self, one: Filter) -> Facet:
        """Return the chip of a filter that is entered, or that only a link sets."""
        value = self._requested.applied.get(one.name, "")
        shown = self._named[one.name].get(value, value)
        title = text(one.title or one.label)
        fields = [(one, title, self._requested.params.get(one.name, ""))]
        if one.control is Control.HIDDEN:
            fields = []
        return _facet(text(one.label), shown, self._without(one), fields=fields)

    def of_days(self, first: Filter, last: Filter) -> Facet:
        """Return the chip of a first and a last day, with common ranges of days."""
        today = local(now()).date()
        ranges = [(text(label), today - timedelta(days=back)) for label, back in _RANGES]
        applied = self._requested.applied
        since, until = applied.get(first.name, ""), applied.get(last.name, "")
        options = [
            (
                label,
                self._url_with(first.name, last.name, **{first.name: began.isoformat()}),
                since == began.isoformat() and not until,
            )
            for label, began in ranges
        ]
        chosen = next((label for label, _, is_chosen in options if is_chosen), "")
        entered = self._requested.params
        fields = [
            (one, text(one.title or one.label), entered.get(one.name, "")[:_TO_DAYS])
            for one in (first, last)
        ]
        without = self._url_with(first.name, last.name) if since or until else ""
        shown = chosen or _day_words(since, until)
        return _facet(text("Date"), shown, without, options=options, fields=fields)

    def of_sorts(self, sorts: Sequence[Sort]) -> Facet:
        """Return the chip of the order."""
        sort = self._requested.sort
        named: list[dict[str, str]] = [{}, *({"sort": one.name} for one in sorts[1:])]
        options = [
            (text(one.label), self._url_with("sort", **added), one is sort)
            for one, added in zip(sorts, named, strict=True)
        ]
        return _facet(text("Sort"), text(sort.label if sort else "Best match"), options=options)

    def _without(self, one: Filter) -> str:
        return self._url_with(one.name) if one.name in self._requested.applied else ""


_RANGES = (
    (translatable("Today"), 0),
    (translatable("Last 7 days"), 6),
    (translatable("Last 30 days"), 29),
)
"""Ranges of days until today, and how many days before it they begin."""


_YEARS = (2000, 2999)
_TO_MINUTES, _TO_DAYS = len("2026-11-20 12:00"), len("2026-11-20")


def _day_words(since: str, until: str) -> str:
    """Return a range of days, or of minutes; empty without any."""
    since, until = (one.replace("T", " ")[:_TO_MINUTES] for one in (since, until))
    if since and until:
        return text("{first} to {last}", first=since, last=until)
    if since:
        return text("since {day}", day=since)
    return text("until {day}", day=until) if until else ""
