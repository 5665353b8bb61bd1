"""Charts of stacked columns by hour, day or week, each with a legend and a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.console.charts import Stack, stacked_by_kind
from app.console.formatting import amount, written
from app.console.time_zone import local
from app.domain.values.text import translatable
from app.web.translation import text

_DAY = timedelta(days=1)
_WEEK = timedelta(weeks=1)
_TOPS = {
    _DAY: translatable("{number:,} per day"),
    _WEEK: translatable("{number:,} per week"),
}
_TOP = translatable("{number:,} per hour")
_FIRST_COLUMNS = {_DAY: translatable("Day"), _WEEK: translatable("Week from")}
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
    """A span of the chart as a row of its table."""

    label: str
    figures: tuple[tuple[str, str], ...]


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
    title: str, nothing: str, kinds: Sequence[Kind], spans: Sequence[Span], step: timedelta
) -> StackChart:
    """Return the chart of ``spans``, the oldest first, each as long as ``step``.

    ``nothing`` is the tooltip of an empty column, with ``{label}``. The legend leaves out kinds
    whose sum is 0, except the first.
    """
    numbers = [span.numbers for span in spans]
    titles = [_tooltip(span, kinds, nothing, step) for span in spans]
    stacks = stacked_by_kind(numbers, [kind.name for kind in kinds], titles)
    sums = [sum(row[place] for row in numbers) for place in range(len(kinds))]
    legend = tuple(
        Legend(kind.name, text(kind.words, number=number))
        for place, (kind, number) in enumerate(zip(kinds, sums, strict=True))
        if number or place == 0
    )
    return StackChart(
        title=title,
        legend=legend,
        stacks=stacks.stacks if any(sums) else (),
        width=stacks.width,
        top=text(_TOPS.get(step, _TOP), number=stacks.top),
        summary=text(
            "{title}: {figures}.", title=title, figures=", ".join(entry.words for entry in legend)
        ),
        labels=axis_labels([span.began for span in spans], step),
        is_by_day=step == _DAY,
        first_column=first_column(step),
        columns=tuple(text(kind.label) for kind in kinds),
        table=tuple(_rows(kinds, spans, step)),
    )


def span_label(began: datetime, step: timedelta) -> str:
    """Return what a span is called: ``Sun 12:00``, ``1 Mar``."""
    at = local(began)
    if step < _DAY:
        return written(at, text("EEE HH:mm"))
    return written(at, text("d MMM"))


def first_column(step: timedelta) -> str:
    """Return the heading of a table's column of spans."""
    return text(_FIRST_COLUMNS[step]) if step in _FIRST_COLUMNS else text("Hour")


def axis_labels(begins: Sequence[datetime], step: timedelta) -> tuple[tuple[str, str], ...]:
    """Return the labels below a chart, each with a part that narrow screens leave out."""
    if step == _DAY:
        return tuple((str(at.day), written(at, text(" MMM"))) for at in map(local, begins))
    if step < _DAY:
        hours = tuple((span_label(began, step), "") for began in begins[::_LABELLED_HOURS])
        return (*hours, (text("Now"), ""))
    return tuple((span_label(began, step), "") for began in begins[::_LABELLED_WEEKS])


def _rows(kinds: Sequence[Kind], spans: Sequence[Span], step: timedelta) -> Iterable[FigureRow]:
    for span in reversed(spans):
        figures = zip(kinds, span.numbers, strict=True)
        yield FigureRow(
            span_label(span.began, step),
            tuple((text(kind.label), amount(number)) for kind, number in figures),
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
