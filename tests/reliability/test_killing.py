"""Nothing that was committed is lost, whenever server and worker are killed."""

from pathlib import Path

import pytest

from tests.reliability.crash_run import Result, Trial, run_trial

pytestmark = pytest.mark.first

CHANGES, KILLS = 24, 2


def assert_nothing_is_lost(result: Result) -> None:
    assert result.changes == CHANGES <= result.noted <= CHANGES + KILLS
    assert result.is_whole, result


def test_every_change_is_delivered_although_all_processes_are_killed_again_and_again(
    sqlite_url: str, tmp_path: Path
) -> None:
    """On SQLite alone, with one worker."""
    assert_nothing_is_lost(run_trial(tmp_path, sqlite_url, Trial(CHANGES, KILLS)))


@pytest.mark.thorough
def test_every_change_is_delivered_although_two_redis_workers_are_killed(
    postgresql_url: str, redis_url: str, tmp_path: Path
) -> None:
    """On PostgreSQL and Redis, with two worker processes; ``make soak`` kills the Redis, too.

    ``make test`` kills one worker, above; what it took from the queue is sent by another one in
    ``test_killed_workers_lease_is_taken_over``, on both databases.
    """
    trial = Trial(CHANGES, KILLS, workers=2, redis_url=redis_url)
    assert_nothing_is_lost(run_trial(tmp_path, postgresql_url, trial))
