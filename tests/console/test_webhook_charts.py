"""What a webhook's charts say, with none, one, many and missing numbers."""

from datetime import UTC, datetime, timedelta

from app.console.frame.charts import line_paths
from app.console.integrations.webhook_page import make_webhook_charts
from app.domain.deliveries.statistics import ChartPeriod, DeliverySpan
from app.domain.values.times import span_edges
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EMPTY = tuple(
    DeliverySpan(began, 0, 0, 0) for began in span_edges(NOW, timedelta(days=1), 14)[:-1]
)
NONE = "\N{EN DASH}"
SPACE = "\N{NO-BREAK SPACE}"
TODAY = EMPTY[-1].began


def spans_with(last: DeliverySpan) -> tuple[DeliverySpan, ...]:
    return (*EMPTY[:-1], last)


def test_no_deliveries_say_so() -> None:
    charts = make_webhook_charts(EMPTY, ChartPeriod.TWO_WEEKS)
    assert (charts.rate, charts.deliveries.stacks, charts.times) == ("", (), None)
    assert charts.nothing == "No events were sent in the last 14 days."
    assert dict(charts.table[0].figures)["Success rate"] == NONE
    assert dict(charts.table[0].figures)["Median"] == NONE


def test_one_delivery_is_charted() -> None:
    spans = spans_with(DeliverySpan(TODAY, 1, 0, 0, (0.084,)))
    charts = make_webhook_charts(spans, ChartPeriod.TWO_WEEKS)
    assert charts.title == "Health by day"
    assert charts.rate == f"100{SPACE}%"
    assert charts.deliveries.summary == "Deliveries by day: 1 delivered."
    assert charts.deliveries.stacks[0].title == "16 Feb: no deliveries"
    assert charts.deliveries.stacks[-1].title == "1 Mar: 1 delivered"
    assert charts.times is not None
    caption = "Response time by day: 84 ms median, 84 ms 95th percentile."
    assert charts.times.summary.replace(SPACE, " ") == caption
    (column,) = charts.times.columns
    title = "1 Mar: median 84 ms, 95th percentile 84 ms"
    assert (column.x, column.title.replace(SPACE, " ")) == (260, title)


def test_many_deliveries_are_charted() -> None:
    spans = spans_with(DeliverySpan(TODAY, 12_000, 1, 3))
    charts = make_webhook_charts(spans, ChartPeriod.TWO_WEEKS)
    assert charts.rate == f"99.9{SPACE}%"
    assert [one.words for one in charts.deliveries.legend] == [
        "12,000 delivered",
        "1 failed",
        "3 waiting",
    ]
    assert charts.deliveries.top == "20,000 per day"
    first = charts.table[0]
    assert (first.label, dict(first.figures)["Delivered"]) == ("1 Mar", "12,000")


@cases(
    ("delivered", "failed", "waiting", "rate"),
    [(0, 0, 2, ""), (0, 3, 0, "0 %"), (3, 0, 1, "100 %"), (2, 1, 0, "66.7 %")],
)
def test_rate_is_of_what_was_sent(delivered: int, failed: int, waiting: int, rate: str) -> None:
    spans = spans_with(DeliverySpan(TODAY, delivered, failed, waiting))
    assert make_webhook_charts(spans, ChartPeriod.TWO_WEEKS).rate == rate.replace(" ", SPACE)


def test_hours_are_named_by_day_and_time() -> None:
    spans = tuple(
        DeliverySpan(began, 1, 0, 0) for began in span_edges(NOW, timedelta(hours=1), 24)[:-1]
    )
    charts = make_webhook_charts(spans, ChartPeriod.DAY)
    assert charts.title == "Health by hour"
    assert charts.table[0].label == "Sun 12:00"
    assert charts.deliveries.first_column == "Hour"
    assert charts.deliveries.top == "1 per hour"
    labels = [label for label, _ in charts.deliveries.labels]
    assert labels == ["Sat 13:00", "Sat 19:00", "Sun 01:00", "Sun 07:00", "Now"]
    assert [(one.label, one.is_chosen) for one in charts.intervals] == [
        ("24 hours", True),
        ("14 days", False),
    ]


@cases(
    ("values", "path"),
    [
        ([], ""),
        ([None, None], ""),
        ([5.0, 10.0], "M10 50.0 L30 0.0"),
        ([10.0, None, 5.0, 5.0], "M6 0.0 L14 0.0 M50 50.0 L70 50.0"),
        ([None, 10.0], "M26 0.0 L34 0.0"),
    ],
)
def test_line_is_interrupted_where_a_value_is_missing(
    values: list[float | None], path: str
) -> None:
    assert line_paths([values]).paths == (path,)
