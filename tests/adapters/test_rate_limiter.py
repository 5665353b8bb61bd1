"""Rate limits in the process and in Redis, and a Redis that is away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.adapters.queue.rate_limiter import LimitsRateLimiter, Windows, connect_rate_limiter
from app.adapters.system import SystemClock
from app.domain.sign_in.rate_limits import parse_rates
from tests.fakes.clock import FakeClock

RATES = parse_rates("3/minute")
BOTH = parse_rates("2/minute;3/hour")


@pytest.fixture(params=["process", "redis"])
def limiter(request: pytest.FixtureRequest) -> Iterator[LimitsRateLimiter]:
    """A limiter of each kind, which nobody has used."""
    if request.param == "process":
        yield connect_rate_limiter(FakeClock())
        return
    # Redis tells the end of a window by the machine's clock.
    yield connect_rate_limiter(SystemClock(), request.getfixturevalue("redis_url"))


def test_uses_within_the_limit_pass_and_the_next_must_wait(limiter: LimitsRateLimiter) -> None:
    assert [limiter.count("a", "client", RATES) for _ in range(3)] == [0, 0, 0]
    assert 55 <= limiter.count("a", "client", RATES) <= 60


def test_clients_and_names_are_counted_apart(limiter: LimitsRateLimiter) -> None:
    for _ in range(4):
        limiter.count("a", "client", RATES)
    assert limiter.count("a", "another", RATES) == 0
    assert limiter.count("b", "client", RATES) == 0


def test_all_rates_apply_and_refused_uses_are_not_counted() -> None:
    clock = FakeClock()
    limiter = connect_rate_limiter(clock)
    assert [limiter.count("a", "client", BOTH) for _ in range(2)] == [0, 0]
    assert {limiter.count("a", "client", BOTH) for _ in range(20)} == {60}
    clock.pass_(minutes=1)
    assert limiter.count("a", "client", BOTH) == 0
    assert limiter.count("a", "client", BOTH) == 3540


def test_refused_uses_do_not_extend_the_wait() -> None:
    clock = FakeClock()
    limiter = connect_rate_limiter(clock)
    for _ in range(50):
        limiter.count("a", "client", RATES)
    clock.pass_(seconds=59)
    assert limiter.count("a", "client", RATES) == 1
    clock.pass_(seconds=1)
    assert limiter.count("a", "client", RATES) == 0


def test_clock_set_back_never_extends_a_window() -> None:
    clock = FakeClock()
    limiter = connect_rate_limiter(clock)
    for _ in range(4):
        limiter.count("a", "client", RATES)
    clock.pass_(hours=-2)
    assert limiter.count("a", "client", RATES) == 0


def test_memory_is_bounded_for_any_number_of_clients() -> None:
    windows = Windows(FakeClock(), most=100)
    for number in range(1000):
        windows.incr(str(number), 60, 1)
    assert windows.reset() == 100


def test_active_client_is_not_evicted_by_others() -> None:
    windows = Windows(FakeClock(), most=10)
    for number in range(100):
        windows.incr("busy", 60, 1)
        windows.incr(str(number), 60, 1)
    assert windows.get("busy") == 100


def test_two_processes_share_their_counts_in_redis(redis_url: str) -> None:
    clock = SystemClock()
    here, there = connect_rate_limiter(clock, redis_url), connect_rate_limiter(clock, redis_url)
    assert [here.count("a", "client", RATES) for _ in range(3)] == [0, 0, 0]
    assert there.count("a", "client", RATES) > 0


def test_process_counts_while_redis_is_unreachable(tmp_path: Path) -> None:
    clock = FakeClock()
    limiter = connect_rate_limiter(clock, f"unix://{tmp_path}/nobody.sock")
    assert [limiter.count("a", "client", RATES) for _ in range(3)] == [0, 0, 0]
    assert limiter.count("a", "client", RATES) > 0
    clock.pass_(seconds=6)
    assert limiter.count("a", "client", RATES) > 0
