"""Processes and threads that attempt at the same moment, wherever the throttle counts."""

from threading import Barrier

import pytest

from app.domain.sign_in.login_throttle import LEASE_SECONDS
from app.ports.throttle import BlockedIp, Throttle
from tests.adapters.processes import PROCESSES
from tests.adapters.throttle_backends import (
    ADDRESS,
    ANNA,
    BELA,
    NOW,
    Place,
    begin_and_hang,
    begin_together,
    run_programs,
)

pytestmark = [pytest.mark.first, pytest.mark.both_databases, pytest.mark.xdist_group("processes")]

RIVALS = 20


def test_one_of_twenty_attempts_in_two_processes_runs(place: Place) -> None:
    start, answers = PROCESSES.Barrier(RIVALS, timeout=60), PROCESSES.Queue()
    halves = [
        PROCESSES.Process(target=begin_together, args=(place, RIVALS // 2, start, answers))
        for _ in range(2)
    ]
    for half in halves:
        half.start()
    for half in halves:
        half.join(180)
        half.close()
    leases = [answers.get(timeout=180) for _ in range(RIVALS)]
    assert len([lease for lease in leases if lease]) == 1


def test_one_of_twenty_attempts_in_one_process_runs(throttle: Throttle) -> None:
    for attempt in range(5):
        now = NOW + attempt
        start, leases = Barrier(RIVALS, timeout=60), list[str]()

        def begin(now: float = now, start: Barrier = start, leases: list[str] = leases) -> None:
            start.wait(60)
            leases.append(throttle.begin(ADDRESS, now).lease)

        run_programs(begin, RIVALS)
        (lease,) = filter(None, leases)
        throttle.release(ADDRESS, lease)


@pytest.mark.parametrize("user_id", [ANNA, None])
def test_failures_at_the_same_moment_are_all_counted(
    throttle: Throttle, user_id: int | None
) -> None:
    start, waits = Barrier(RIVALS, timeout=60), list[float]()

    def fail() -> None:
        start.wait(60)
        waits.append(throttle.fail(ADDRESS, "", user_id, NOW))

    run_programs(fail, RIVALS)
    wait, known = (2, 0) if user_id is None else (3600, RIVALS)
    assert max(waits) == wait
    assert throttle.find(ADDRESS, NOW) == BlockedIp(ADDRESS, NOW + wait, known, RIVALS)


def test_concurrent_failures_and_successes_do_not_interfere(throttle: Throttle) -> None:
    start, done = Barrier(RIVALS, timeout=60), list[str]()

    def fail_and_succeed() -> None:
        start.wait(60)
        for user_id in (ANNA, BELA):
            throttle.fail(ADDRESS, "", user_id, NOW)
            throttle.succeed(ADDRESS, "", user_id, NOW)
        done.append("done")

    run_programs(fail_and_succeed, RIVALS)
    assert len(done) == RIVALS
    assert throttle.begin(ADDRESS, NOW).lease


def test_killed_process_blocks_no_longer_than_its_lease(place: Place) -> None:
    answers = PROCESSES.Queue()
    process = PROCESSES.Process(target=begin_and_hang, args=(place, answers))
    process.start()
    assert answers.get(timeout=180)
    process.kill()
    process.join(180)
    process.close()
    throttle = place.open()
    assert not throttle.begin(ADDRESS, NOW + LEASE_SECONDS - 1).lease
    assert throttle.begin(ADDRESS, NOW + LEASE_SECONDS).lease
