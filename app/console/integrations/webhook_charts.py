"""The charts of a webhook: deliveries by state, response times, and both as a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.console.frame.charts import (
    FigureRow,
    Kind,
    Legend,
    Span,
    StackChart,
    lines,
    make_stack_chart,
    span_label,
)
from app.console.frame.formatting import amount, milliseconds, percent
from app.domain.deliveries.statistics import (
    ChartPeriod,
    DeliverySpan,
    all_durations,
    success_rate,
)
from app.domain.values.text import translatable
from app.web.translation import text

PERIODS = {
    ChartPeriod.DAY: translatable("24 hours"),
    ChartPeriod.TWO_WEEKS: translatable("14 days"),
}
_TITLES = {
    ChartPeriod.DAY: translatable("Health by hour"),
    ChartPeriod.TWO_WEEKS: translatable("Health by day"),
}
_DELIVERIES = {
    ChartPeriod.DAY: translatable("Deliveries by hour"),
    ChartPeriod.TWO_WEEKS: translatable("Deliveries by day"),
}
_TIMES = {
    ChartPeriod.DAY: translatable("Response time by hour: {figures}."),
    ChartPeriod.TWO_WEEKS: translatable("Response time by day: {figures}."),
}
_NOTHING = {
    ChartPeriod.DAY: translatable("No events were sent in the last 24 hours."),
    ChartPeriod.TWO_WEEKS: translatable("No events were sent in the last 14 days."),
}
_KINDS = (
    Kind("ok", translatable("Delivered"), translatable("{number:,} delivered")),
    Kind("bad", translatable("Failed"), translatable("{number:,} failed")),
    Kind("idle", translatable("Waiting"), translatable("{number:,} waiting")),
)
_NONE = "\N{EN DASH}"
_SECOND = 1000


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval that can be chosen."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the lines' chart: its place, and what it says as a tooltip."""

    x: int
    title: str


@dataclass(frozen=True, slots=True)
class TimesChart:
    """Median and 95th percentile as lines: their classes and paths."""

    legend: tuple[Legend, ...]
    paths: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    width: int
    top: str
    summary: str


@dataclass(frozen=True, slots=True)
class WebhookCharts:
    """The charts; ``times`` is ``None`` without responses, ``rate`` empty if none was sent."""

    title: str
    intervals: tuple[Interval, ...]
    rate: str
    deliveries: StackChart
    nothing: str
    times: TimesChart | None
    columns: tuple[str, ...]
    table: tuple[FigureRow, ...]


def make_webhook_charts(spans: tuple[DeliverySpan, ...], period: ChartPeriod) -> WebhookCharts:
    """Return the charts of ``spans``, oldest first."""
    columns = [Span(span.began, (span.delivered, span.failed, span.waiting)) for span in spans]
    deliveries = make_stack_chart(
        text(_DELIVERIES[period]),
        translatable("{label}: no deliveries"),
        _KINDS,
        columns,
        period.step,
    )
    table = tuple(_row(span, period.step) for span in reversed(spans))
    return WebhookCharts(
        title=text(_TITLES[period]),
        intervals=tuple(
            Interval(value.value, text(label), value is period) for value, label in PERIODS.items()
        ),
        rate=_rate(success_rate(spans)),
        deliveries=deliveries,
        nothing=text(_NOTHING[period]),
        times=_times(spans, period),
        columns=tuple(label for label, _ in table[0].figures),
        table=table,
    )


def _rate(share: float | None) -> str:
    if share is None:
        return ""
    # Rounding up would call a webhook with failures faultless.
    return percent(share) if share in {0, 1} else percent(min(share, 0.999), 1)


def _row(span: DeliverySpan, step: timedelta) -> FigureRow:
    figures = (
        (text("Delivered"), amount(span.delivered)),
        (text("Failed"), amount(span.failed)),
        (text("Waiting"), amount(span.waiting)),
        (text("Success rate"), _rate(success_rate((span,))) or _NONE),
        (text("Median"), _duration(span.median)),
        (text("95th percentile"), _duration(span.slowest)),
    )
    return FigureRow(span_label(span.began, step), figures)


def _duration(seconds: float | None) -> str:
    return _NONE if seconds is None else milliseconds(_SECOND * seconds)


def _times(spans: tuple[DeliverySpan, ...], period: ChartPeriod) -> TimesChart | None:
    together = all_durations(spans)
    if together.median is None:
        return None
    drawn = lines([_in_milliseconds(one.slowest for one in spans), _medians(spans)])
    legend = (
        Legend("p50", text("{duration} median", duration=_duration(together.median))),
        Legend("p95", text("{duration} 95th percentile", duration=_duration(together.slowest))),
    )
    figures = ", ".join(one.words for one in legend)
    return TimesChart(
        legend=legend,
        paths=tuple(zip(("p95", "p50"), drawn.paths, strict=True)),
        columns=tuple(_columns(spans, drawn.width, period.step)),
        width=drawn.width,
        top=milliseconds(drawn.top),
        summary=text(_TIMES[period], figures=figures),
    )


def _medians(spans: Sequence[DeliverySpan]) -> list[float | None]:
    return _in_milliseconds(span.median for span in spans)


def _in_milliseconds(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None else _SECOND * value for value in values]


def _columns(spans: Sequence[DeliverySpan], width: int, step: timedelta) -> Iterable[Column]:
    for place, span in enumerate(spans):
        if span.median is not None:
            title = text(
                "{label}: median {median}, 95th percentile {slowest}",
                label=span_label(span.began, step),
                median=_duration(span.median),
                slowest=_duration(span.slowest),
            )
            yield Column(place * width // len(spans), title)
