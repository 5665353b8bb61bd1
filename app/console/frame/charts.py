"""Charts as numbers for SVG, which the template draws with attributes and classes alone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, log10

from app.console.frame.formatting import amount, format_moment, local
from app.domain.values.text import translatable
from app.web.translation import text

_HEIGHT = 100.0
_STACK_WIDTH, _STACK_GAP = 20.0, 2.0
_DASH = 4.0
_STEPS = (1, 2, 3, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a column: its place and size in the chart's own units, and its class."""

    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Stack:
    """One column: its parts, from below, what it says as a tooltip, and the list of its items.

    ``url`` is empty if there is no such list.
    """

    title: str
    bars: tuple[Bar, ...]
    url: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over columns, as paths; ``top`` is the value of the highest grid line."""

    paths: tuple[str, ...]
    width: int
    top: int


def line_paths(rows: Sequence[Sequence[float | None]]) -> Lines:
    """Return a line for each of ``rows``, interrupted where a value is ``None``."""
    top = round_up(ceil(max((value or 0.0 for row in rows for value in row), default=0.0)))
    width = max(map(len, rows), default=0) * _STACK_WIDTH
    return Lines(tuple(_path(row, top) for row in rows), round(width), top)


def _path(row: Sequence[float | None], top: int) -> str:
    """Return a path through the columns' centres; a value without neighbours is a short line."""
    steps, is_drawing = [], False
    for place, value in enumerate(row):
        if value is None:
            is_drawing = False
            continue
        x, y = (place + 0.5) * _STACK_WIDTH, _HEIGHT * (1 - value / top)
        following = row[place + 1] if place + 1 < len(row) else None
        if is_drawing:
            steps.append(f"L{x:g} {y:.1f}")
        elif following is None:
            steps.append(f"M{x - _DASH:g} {y:.1f} L{x + _DASH:g} {y:.1f}")
        else:
            steps.append(f"M{x:g} {y:.1f}")
        is_drawing = True
    return " ".join(steps)


def round_up(value: int) -> int:
    """The next number that is easy to read, at least 1."""
    if value < 1:
        return 1
    power = int(10 ** int(log10(value)))
    return next(step * power for step in _STEPS if step * power >= value)


_DAY = timedelta(days=1)
_WEEK = timedelta(weeks=1)
_TOPS = {_DAY: translatable("{number:,} per day"), _WEEK: translatable("{number:,} per week")}
_TOP = translatable("{number:,} per hour")
_FIRST_COLUMNS = {_DAY: translatable("Day"), _WEEK: translatable("Week from")}
_FIRST_COLUMN = translatable("Hour")
_LABELLED_HOURS, _LABELLED_WEEKS = 6, 4


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of a column's parts: its CSS class, its label, and its sum in words."""

    name: str
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class Span:
    """A column: when it begins, and a number for each kind."""

    began: datetime
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Legend:
    """A kind of the chart's parts, with its sum in words."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A span of the chart as a row of its table; ``url`` lists its items, if any."""

    label: str
    figures: tuple[tuple[str, str], ...]
    url: str = ""


@dataclass(frozen=True, slots=True)
class StackChart:
    """The chart and its table; ``stacks`` is empty if all numbers are 0."""

    title: str
    legend: tuple[Legend, ...]
    stacks: tuple[Stack, ...]
    width: int
    top: str
    summary: str
    labels: tuple[tuple[str, str], ...]
    is_by_day: bool
    first_column: str
    columns: tuple[str, ...]
    table: tuple[FigureRow, ...]


def make_stack_chart(
    title: str,
    nothing: str,
    kinds: Sequence[Kind],
    spans: Sequence[Span],
    step: timedelta,
    url_of: Callable[[Span], str] = lambda _span: "",
) -> StackChart:
    """Return the chart of ``spans``, the oldest first, each as long as ``step``.

    ``nothing`` is the tooltip of an empty column, with ``{label}``. The legend leaves out kinds
    whose sum is 0, except the first. ``url_of`` returns where the items of a span are listed.
    """
    columns = [span.numbers for span in spans]
    top = round_up(max(map(sum, columns), default=0))
    sums = [sum(numbers[place] for numbers in columns) for place in range(len(kinds))]
    legend = tuple(
        Legend(kind.name, text(kind.words, number=number))
        for place, (kind, number) in enumerate(zip(kinds, sums, strict=True))
        if number or place == 0
    )
    stacks = (
        Stack(
            _tooltip(span, kinds, nothing, step),
            tuple(_bars(span, kinds, place, top)),
            url_of(span) if any(span.numbers) else "",
        )
        for place, span in enumerate(spans)
    )
    return StackChart(
        title=title,
        legend=legend,
        stacks=tuple(stacks) if any(sums) else (),
        width=round(len(columns) * _STACK_WIDTH),
        top=text(_TOPS.get(step, _TOP), number=top),
        summary=text(
            "{title}: {figures}.", title=title, figures=", ".join(entry.words for entry in legend)
        ),
        labels=_axis_labels([span.began for span in spans], step),
        is_by_day=step == _DAY,
        first_column=text(_FIRST_COLUMNS.get(step, _FIRST_COLUMN)),
        columns=tuple(text(kind.label) for kind in kinds),
        table=tuple(_rows(kinds, spans, step, url_of)),
    )


def _bars(span: Span, kinds: Sequence[Kind], place: int, top: int) -> Iterator[Bar]:
    """Yield the part of a column for each kind that isn't 0, the first one below."""
    x, width = place * _STACK_WIDTH + _STACK_GAP, _STACK_WIDTH - 2 * _STACK_GAP
    y = _HEIGHT
    for kind, number in zip(kinds, span.numbers, strict=True):
        height = _HEIGHT * number / top
        y -= height
        if number:
            yield Bar(kind.name, round(x, 2), round(y, 2), round(width, 2), round(height, 2))


def span_label(began: datetime, step: timedelta) -> str:
    """Return what a span is called: ``Sun 12:00``, ``1 Mar``."""
    at = local(began)
    if step < _DAY:
        return format_moment(at, text("EEE HH:mm"))
    return format_moment(at, text("d MMM"))


def _axis_labels(begins: Sequence[datetime], step: timedelta) -> tuple[tuple[str, str], ...]:
    """Return the labels below a chart, each with a part that narrow screens leave out."""
    if step == _DAY:
        return tuple((str(at.day), format_moment(at, text(" MMM"))) for at in map(local, begins))
    if step < _DAY:
        hours = tuple((span_label(began, step), "") for began in begins[::_LABELLED_HOURS])
        return (*hours, (text("Now"), ""))
    return tuple((span_label(began, step), "") for began in begins[::_LABELLED_WEEKS])


def _rows(
    kinds: Sequence[Kind], spans: Sequence[Span], step: timedelta, url_of: Callable[[Span], str]
) -> Iterable[FigureRow]:
    for span in reversed(spans):
        figures = zip(kinds, span.numbers, strict=True)
        yield FigureRow(
            span_label(span.began, step),
            tuple((text(kind.label), amount(number)) for kind, number in figures),
            url_of(span) if any(span.numbers) else "",
        )


def _tooltip(span: Span, kinds: Sequence[Kind], nothing: str, step: timedelta) -> str:
    label = span_label(span.began, step)
    parts = [
        text(kind.words, number=number)
        for kind, number in zip(kinds, span.numbers, strict=True)
        if number
    ]
    if not parts:
        return text(nothing, label=label)
    return text("{label}: {parts}", label=label, parts=", ".join(parts))
