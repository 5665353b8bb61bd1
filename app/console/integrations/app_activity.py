"""The tab of an app's page with its API requests, their errors, and unused permissions."""

from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from app.console.frame import charts
from app.console.frame.formatting import amount, milliseconds, time_element
from app.console.frame.parts import Fact
from app.domain.values.text import translatable
from app.services.apps.activity import ActivityPeriod, AppActivity
from app.web.translation import text

NO_VALUE = "\N{EN DASH}"
ACTIVITY_PERIODS = {
    ActivityPeriod.DAY: translatable("24 hours"),
    ActivityPeriod.MONTH: translatable("30 days"),
}
_ACTIVITY_TITLES = {
    ActivityPeriod.DAY: translatable("API requests by hour"),
    ActivityPeriod.MONTH: translatable("API requests by day"),
}
_REQUEST_KINDS = (
    charts.Kind("ok", translatable("Succeeded"), translatable("{number:,} succeeded")),
    charts.Kind("bad", translatable("Failed"), translatable("{number:,} failed")),
)


@dataclass(frozen=True, slots=True)
class ActivityView:
    """The tab of an app's API requests; ``since`` is empty where none was counted yet."""

    intervals: tuple[tuple[str, str, bool], ...]
    chart: charts.StackChart
    columns: tuple[str, ...]
    table: tuple[charts.FigureRow, ...]
    facts: tuple[Fact, ...]
    codes: tuple[tuple[str, str], ...]
    unused: tuple[tuple[str, Markup | str], ...]
    since: Markup | str


def make_activity_view(found: AppActivity, period: ActivityPeriod, now: datetime) -> ActivityView:
    spans = [
        charts.Span(one.began, (one.requests - one.errors, one.errors)) for one in found.spans
    ]
    chart = charts.make_stack_chart(
        text(_ACTIVITY_TITLES[period]),
        translatable("{label}: no requests"),
        _REQUEST_KINDS,
        spans,
        period.step,
    )
    table = tuple(
        charts.FigureRow(
            charts.span_label(one.began, period.step),
            (
                (text("Requests"), amount(one.requests)),
                (text("Failed"), amount(one.errors)),
                (text("Slow"), amount(one.slow)),
            ),
        )
        for one in reversed(found.spans)
    )
    since = found.counted_since
    return ActivityView(
        intervals=tuple(
            (value.value, text(label), value is period)
            for value, label in ACTIVITY_PERIODS.items()
        ),
        chart=chart,
        columns=tuple(label for label, _ in table[0].figures),
        table=table,
        facts=(
            Fact(text("Requests"), amount(found.requests)),
            Fact(text("Failed"), amount(found.errors)),
            Fact(text("1 s or longer"), amount(found.slow)),
            Fact(text("Slowest"), milliseconds(found.slowest) if found.requests else NO_VALUE),
        ),
        codes=tuple((code, amount(count)) for code, count in found.codes.items()),
        unused=tuple(
            (
                text(use.permission.label),
                text("Never") if use.last_used_at is None else time_element(use.last_used_at, now),
            )
            for use in found.permissions
            if use.is_unused
        ),
        since="" if since is None else time_element(since, now),
    )
