"""Ranges of moments, as clients write them."""

from datetime import UTC, date, datetime, timedelta, timezone

from app.domain.values.pages import Range, day_range, moment_range
from tests.fixtures.cases import cases

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
AHEAD = timezone(timedelta(hours=5))
BEHIND = timezone(timedelta(hours=-5))


@cases(
    ("time", "meant"),
    [
        (NOON, NOON),
        (NOON.replace(tzinfo=None), NOON),
        (datetime(2026, 3, 1, 17, tzinfo=AHEAD), NOON),
        (datetime.min.replace(tzinfo=AHEAD), datetime.min.replace(tzinfo=UTC)),
        (datetime.max.replace(tzinfo=BEHIND), datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_time_without_a_zone_is_utc(time: datetime, meant: datetime) -> None:
    assert moment_range(time, None) == Range(meant, None)
    assert moment_range(None, time) == Range(None, meant)


def test_day_range_includes_the_whole_last_day() -> None:
    day = date(2026, 3, 1)
    midnight = datetime(2026, 3, 1, tzinfo=UTC)
    assert day_range(day, day) == Range(midnight, midnight + timedelta(days=1, microseconds=-1))
    assert day_range(None, None) == Range(None, None)
    assert day_range(date.min, date.max).lte == datetime.max.replace(tzinfo=UTC)
