"""``python -m benchmarks burst``, small: everything arrives, and its goals are judged."""

from dataclasses import replace

import pytest

from benchmarks.burst import WEBHOOKS, Burst, measure, misses, report

GOOD = Burst(
    delivered=50_000,
    making=10.0,
    draining=80.0,
    alone=(5.0, 2.0),
    meanwhile=(9.0, 3.0),
    memory_before=100.0,
    memory_most=110.0,
)


@pytest.mark.thorough
def test_small_burst_is_delivered_and_measured() -> None:
    burst = measure(60, alone_seconds=0.5)

    assert burst.delivered == 60 * WEBHOOKS
    assert burst.draining > 0
    assert min(*burst.alone, *burst.meanwhile) > 0
    assert burst.memory_most >= burst.memory_before > 0


def test_report_names_each_missed_goal() -> None:
    assert misses(GOOD) == []
    assert "MISSED" not in report(GOOD)

    slow = replace(GOOD, draining=91.0, meanwhile=(10.1, 3.0), memory_most=133.0)

    assert len(misses(slow)) == 3
    assert report(slow).count("MISSED") == 3
    assert misses(replace(GOOD, meanwhile=(10.1, 3.0))) == ["the API's p99"]
