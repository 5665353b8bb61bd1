"""Ranges of moments, as clients write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.domain.ranges import Range, moments

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
AHEAD = timezone(timedelta(hours=5))
BEHIND = timezone(timedelta(hours=-5))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (NOON, NOON),
        (NOON.replace(tzinfo=None), NOON),
        (datetime(2026, 3, 1, 17, tzinfo=AHEAD), NOON),
        (datetime.min.replace(tzinfo=AHEAD), datetime.min.replace(tzinfo=UTC)),
        (datetime.max.replace(tzinfo=BEHIND), datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_a_moment_is_meant_in_utc(given: datetime, meant: datetime) -> None:
    assert moments(given, None) == Range(meant, None)
    assert moments(None, given) == Range(None, meant)
