"""Spans of charts: full hours, and days of a time zone."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from app.domain.values.times import span_edges
from tests.fixtures.cases import cases

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@cases("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_hours_follow_each_other_and_the_last_holds_now(zone: str) -> None:
    now = datetime(2026, 3, 29, 12, 34, 56, tzinfo=UTC)
    edges = span_edges(now.astimezone(ZoneInfo(zone)), HOUR, 24)
    assert len(edges) == 25
    assert {after - before for before, after in pairwise(edges)} == {HOUR}
    assert edges[-2] <= now < edges[-1]


def test_days_begin_at_midnight_of_the_time_zone() -> None:
    now = datetime(2026, 3, 29, 23, 30, tzinfo=UTC)
    tokyo = ZoneInfo("Asia/Tokyo")
    edges = span_edges(now.astimezone(tokyo), DAY, 2)
    assert [edge.astimezone(tokyo).isoformat() for edge in edges] == [
        "2026-03-29T00:00:00+09:00",
        "2026-03-30T00:00:00+09:00",
        "2026-03-31T00:00:00+09:00",
    ]


def test_day_of_a_clock_change_has_another_length() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    edges = span_edges(datetime(2026, 3, 29, 12, tzinfo=berlin), DAY, 2)
    assert [after - before for before, after in pairwise(edges)] == [DAY, DAY - HOUR]
