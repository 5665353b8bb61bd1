"""The arithmetic of the login throttle, in figures and in what holds for all figures."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.sign_in.login_throttle import (
    EXPIRY_SECONDS,
    LEASE_SECONDS,
    MAX_BLOCK_SECONDS,
    RUNNING_WAIT_SECONDS,
    block_seconds,
    expired_before,
    wait_seconds,
)
from tests.fixtures.cases import cases

COUNTS = st.integers(min_value=0, max_value=10**9)


@cases(
    ("known_failures", "seconds"),
    [
        (1, 1),
        (2, 2),
        (3, 4),
        (4, 8),
        (5, 16),
        (11, 1024),
        (12, 2048),
        (13, 3600),
        (14, 3600),
        (10**9, 3600),
    ],
)
def test_every_wrong_password_doubles_the_wait(known_failures: int, seconds: int) -> None:
    assert block_seconds(failures=1, known_failures=known_failures) == seconds
    assert block_seconds(failures=1, user_failures=known_failures) == seconds


@cases(
    ("failures", "seconds"),
    [
        (1, 1),
        (9, 1),
        (10, 1),
        (11, 2),
        (20, 2),
        (21, 4),
        (30, 4),
        (31, 8),
        (120, 2048),
        (121, 3600),
        (10**9, 3600),
    ],
)
def test_with_unknown_emails_the_wait_doubles_after_every_tenth_failure(
    failures: int, seconds: int
) -> None:
    assert block_seconds(failures=failures) == seconds


@cases(
    ("failures", "known_failures", "user_failures", "seconds"),
    [(31, 1, 1, 8), (5, 5, 1, 16), (5, 1, 5, 16), (41, 4, 3, 16), (12, 2, 2, 2), (0, 0, 0, 1)],
)
def test_longest_of_three_waits_applies(
    failures: int, known_failures: int, user_failures: int, seconds: int
) -> None:
    assert (
        block_seconds(
            failures=failures, known_failures=known_failures, user_failures=user_failures
        )
        == seconds
    )


@given(failures=COUNTS, known_failures=COUNTS, user_failures=COUNTS)
def test_no_wait_is_shorter_than_a_second_or_longer_than_an_hour(
    failures: int, known_failures: int, user_failures: int
) -> None:
    seconds = block_seconds(
        failures=failures, known_failures=known_failures, user_failures=user_failures
    )
    assert 1 <= seconds <= MAX_BLOCK_SECONDS == 3600


@given(
    smaller=st.tuples(COUNTS, COUNTS, COUNTS),
    more=st.tuples(*[st.integers(min_value=0, max_value=40)] * 3),
)
def test_another_failure_never_shortens_the_wait(
    smaller: tuple[int, int, int], more: tuple[int, int, int]
) -> None:
    larger = tuple(count + added for count, added in zip(smaller, more, strict=True))
    before, after = (
        block_seconds(failures=k, known_failures=n, user_failures=m)
        for k, n, m in (smaller, larger)
    )
    assert before <= after


@given(st.integers(min_value=1, max_value=12))
def test_below_the_limit_the_wait_is_a_power_of_two(known_failures: int) -> None:
    waited = block_seconds(failures=known_failures, known_failures=known_failures)
    assert waited == 2 ** (known_failures - 1)


def test_counter_expires_two_hours_after_its_last_use() -> None:
    assert expired_before(10_000.0) == 10_000.0 - 7200
    assert EXPIRY_SECONDS == 7200


def test_block_never_outlives_the_counters_behind_it() -> None:
    assert MAX_BLOCK_SECONDS < EXPIRY_SECONDS


@cases(
    ("blocked_until", "lease_until", "seconds"),
    [
        (0.0, 0.0, 0.0),
        (1000.0, 1000.0, 0.0),
        (1000.5, 0.0, 0.5),
        (1064.0, 0.0, 64.0),
        (1064.0, 1000.0 + LEASE_SECONDS, 64.0),
        (0.0, 1000.25, 0.25),
        (0.0, 1000.0 + LEASE_SECONDS, RUNNING_WAIT_SECONDS),
    ],
)
def test_ip_address_waits_for_its_block_or_running_attempt(
    blocked_until: float, lease_until: float, seconds: float
) -> None:
    waited = wait_seconds(blocked_until=blocked_until, lease_until=lease_until, now=1000.0)
    assert waited == seconds
