"""A webhook's figures: success rate, median and 95th percentile."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from app.domain.deliveries.statistics import ChartPeriod, DeliverySpan, all_durations, success_rate
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, 34, 56, tzinfo=UTC)


@cases(
    ("period", "number", "first", "last"),
    [
        (ChartPeriod.DAY, 24, "2026-02-28T13:00+00:00", "2026-03-01T12:00+00:00"),
        (ChartPeriod.TWO_WEEKS, 14, "2026-02-16T00:00+00:00", "2026-03-01T00:00+00:00"),
    ],
)
def test_period_is_divided_evenly(period: ChartPeriod, number: int, first: str, last: str) -> None:
    begins = period.edges(NOW)[:-1]
    ends = [one.isoformat(timespec="minutes") for one in (begins[0], begins[-1])]
    assert (len(begins), ends) == (number, [first, last])
    assert {after - before for before, after in pairwise(begins)} == {period.step}
    assert begins[-1] <= NOW < begins[-1] + period.step


@cases(
    ("durations", "median", "slowest"),
    [
        ((), None, None),
        ((0.3,), 0.3, 0.3),
        ((0.1, 0.3), 0.2, 0.29),
        (tuple(number / 100 for number in range(101)), 0.5, 0.95),
    ],
)
def test_response_times_have_median_and_percentile(
    durations: tuple[float, ...], median: float | None, slowest: float | None
) -> None:
    span = DeliverySpan(NOW, 1, 0, 0, durations)
    assert span.median == (median if median is None else pytest.approx(median))
    assert span.slowest == (slowest if slowest is None else pytest.approx(slowest))


@cases(
    ("delivered", "failed", "waiting", "rate"),
    [(0, 0, 0, None), (0, 0, 5, None), (1, 0, 5, 1.0), (0, 2, 0, 0.0), (3, 1, 0, 0.75)],
)
def test_success_rate_leaves_out_what_waits(
    delivered: int, failed: int, waiting: int, rate: float | None
) -> None:
    assert success_rate((DeliverySpan(NOW, delivered, failed, waiting),)) == rate


def test_durations_of_all_spans_are_taken_together() -> None:
    spans = (
        DeliverySpan(NOW, 1, 0, 0, (0.1,)),
        DeliverySpan(NOW + timedelta(hours=1), 1, 0, 0, (0.3, 0.5)),
    )
    assert all_durations(spans).median == 0.3
