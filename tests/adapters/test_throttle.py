"""What every throttle must do, wherever it counts: SQLite, PostgreSQL, Redis."""

import pytest

from app.domain.sign_in.login_throttle import EXPIRY_SECONDS, LEASE_SECONDS
from app.ports.throttle import Throttle
from tests.adapters.throttle_backends import ADDRESS, ANNA, BELA, NOW, OTHER_ADDRESS, Visitor

pytestmark = pytest.mark.both_databases

MOMENT = 0.25

UNKNOWN_EMAILS_RECORDED = (
    (2, 1.27),
    (3, 1.24),
    (4, 1.36),
    (5, 1.25),
    (6, 1.29),
    (7, 1.32),
    (8, 1.29),
    (9, 1.32),
    (10, 1.3),
    (11, 1.23),
    (12, 2.29),
    (13, 2.34),
)
"""Attempt, and after how many seconds of trying the recorded platform let it through."""


def test_second_concurrent_attempt_is_delayed(visitor: Visitor) -> None:
    assert visitor.begin().lease
    second = visitor.begin()
    assert (second.lease, second.wait) == ("", 1)


def test_attempts_from_two_ip_addresses_run_concurrently(throttle: Throttle) -> None:
    first, second = throttle.begin(ADDRESS, NOW), throttle.begin(OTHER_ADDRESS, NOW)
    assert first.lease
    assert second.lease
    assert first.lease != second.lease


def test_released_attempt_leaves_no_state(throttle: Throttle, visitor: Visitor) -> None:
    throttle.release(ADDRESS, visitor.begin().lease)
    assert throttle.find(ADDRESS, NOW) is None
    assert visitor.begin().lease


def test_wrong_passwords_double_the_wait_up_to_an_hour(visitor: Visitor) -> None:
    waits = visitor.fail(ANNA, times=15)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600, 3600]


def test_wrong_passwords_double_the_wait_for_any_account(visitor: Visitor) -> None:
    assert [*visitor.fail(ANNA), *visitor.fail(BELA), *visitor.fail(ANNA)] == [1, 2, 4]


def test_unknown_emails_wait_as_long_as_the_recorded_platform_made_them(visitor: Visitor) -> None:
    for attempt, waited in UNKNOWN_EMAILS_RECORDED:
        (wait,) = visitor.fail()
        assert wait <= waited < wait + 0.5, f"attempt {attempt}"


def test_unknown_emails_double_the_wait_after_every_ten(visitor: Visitor) -> None:
    assert visitor.fail(times=31) == [1] * 10 + [2] * 10 + [4] * 10 + [8]


def test_unknown_emails_and_wrong_passwords_are_counted_separately(visitor: Visitor) -> None:
    visitor.fail(times=5)
    assert visitor.fail(ANNA, times=2) == [1, 2]


def test_wrong_passwords_count_among_all_failures_of_the_address(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=4)
    assert visitor.fail(times=7) == [1] * 6 + [2]


def test_attempt_during_a_block_is_refused_without_extending_it(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=3)
    until = visitor.now
    for before in (4.0, 2.5, MOMENT):
        attempt = visitor.throttle.begin(ADDRESS, until - before)
        assert (attempt.lease, attempt.wait) == ("", before)
    assert visitor.throttle.begin(ADDRESS, until).lease


def test_refused_attempt_does_not_extend_counters(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=13)
    assert not visitor.throttle.begin(ADDRESS, visitor.now - MOMENT).lease
    failed_last = visitor.now - 3600
    visitor.now = failed_last + EXPIRY_SECONDS
    assert visitor.fail(ANNA) == [1]


def test_attempt_without_a_result_does_not_extend_counters(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=2)
    visitor.throttle.release(ADDRESS, visitor.begin().lease)
    visitor.now += EXPIRY_SECONDS - 2
    assert visitor.fail(ANNA) == [1]


def test_success_resets_the_failures_of_the_address(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=5)
    visitor.fail(times=16)
    visitor.succeed(BELA)
    assert visitor.fail(BELA) == [1]
    assert visitor.fail(times=10) == [1] * 9 + [2]


def test_success_resets_the_failures_against_its_own_user(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=5)
    visitor.succeed(ANNA)
    assert visitor.fail(ANNA, times=2) == [1, 2]


def test_another_users_success_does_not_reset_the_failures_against_a_user(
    visitor: Visitor,
) -> None:
    visitor.fail(ANNA, times=3)
    visitor.succeed(BELA)
    assert visitor.fail(BELA) == [1]
    assert visitor.fail(ANNA) == [8]


def test_failures_against_a_user_are_counted_per_ip_address(throttle: Throttle) -> None:
    first, second = Visitor(throttle), Visitor(throttle, OTHER_ADDRESS)
    assert first.fail(ANNA, times=4) == [1, 2, 4, 8]
    assert second.fail(ANNA) == [1]
    second.succeed(ANNA)
    assert first.fail(ANNA) == [16]


def test_failures_of_an_address_count_until_two_hours_after_the_last(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=3)
    visitor.now += EXPIRY_SECONDS - 4 - MOMENT
    assert visitor.fail(ANNA) == [8]
    visitor.now += EXPIRY_SECONDS - 8
    assert visitor.fail(ANNA) == [1]


def test_failures_for_unknown_emails_expire(visitor: Visitor) -> None:
    visitor.fail(times=10)
    visitor.now += EXPIRY_SECONDS - 1
    assert visitor.fail(times=2) == [1, 1]


def test_failures_against_a_user_expire_while_the_address_fails(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=4)
    visitor.succeed(BELA)
    visitor.now += EXPIRY_SECONDS / 2
    visitor.fail(BELA)
    visitor.now += EXPIRY_SECONDS / 2
    assert visitor.fail(ANNA) == [2]  # the second of the address, the first that counts for Anna


def test_failures_against_a_user_expire_two_hours_after_the_last(visitor: Visitor) -> None:
    for wait in (1, 2, 4):
        assert visitor.fail(ANNA) == [wait]
        visitor.succeed(BELA)
        visitor.now += EXPIRY_SECONDS - wait - MOMENT


def test_killed_attempt_expires(visitor: Visitor) -> None:
    assert visitor.begin().lease
    visitor.now = NOW + LEASE_SECONDS - MOMENT
    assert visitor.begin().wait == MOMENT
    visitor.now = NOW + LEASE_SECONDS
    assert visitor.begin().lease


def test_late_failure_counts_without_affecting_the_running_attempt(visitor: Visitor) -> None:
    late = visitor.begin().lease
    visitor.now += LEASE_SECONDS
    running = visitor.begin().lease
    assert visitor.throttle.fail(ADDRESS, late, ANNA, visitor.now) == 1
    assert not visitor.throttle.begin(ADDRESS, visitor.now + 2).lease
    assert visitor.throttle.fail(ADDRESS, running, ANNA, visitor.now + 2) == 2


def test_late_success_resets_without_affecting_the_running_attempt(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=3)
    late = visitor.begin().lease
    visitor.now += LEASE_SECONDS
    running = visitor.begin().lease
    visitor.throttle.succeed(ADDRESS, late, ANNA, visitor.now)
    assert not visitor.begin().lease
    assert visitor.throttle.fail(ADDRESS, running, ANNA, visitor.now) == 1


def test_late_success_ends_the_block_of_its_address(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=4)
    late = visitor.begin().lease
    visitor.now += LEASE_SECONDS
    assert visitor.throttle.fail(ADDRESS, visitor.begin().lease, ANNA, visitor.now) == 16
    visitor.throttle.succeed(ADDRESS, late, BELA, visitor.now)
    assert visitor.throttle.blocked(visitor.now) == ()
    assert visitor.begin().lease


def test_late_success_ends_the_block_even_while_another_attempt_runs(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=6)
    late = []
    for _ in range(2):
        late.append(visitor.begin().lease)
        visitor.now += LEASE_SECONDS
    assert visitor.begin().lease
    assert visitor.throttle.fail(ADDRESS, late[0], ANNA, visitor.now) > LEASE_SECONDS
    visitor.throttle.succeed(ADDRESS, late[1], ANNA, visitor.now)
    visitor.now += LEASE_SECONDS
    assert visitor.begin().lease


def test_late_release_does_not_affect_the_running_attempt(visitor: Visitor) -> None:
    late = visitor.begin().lease
    visitor.now += LEASE_SECONDS
    assert visitor.begin().lease
    visitor.throttle.release(ADDRESS, late)
    assert not visitor.begin().lease


def test_late_failure_never_shortens_a_block(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=4)
    late = visitor.begin().lease
    visitor.now += LEASE_SECONDS
    assert visitor.throttle.fail(ADDRESS, visitor.begin().lease, ANNA, visitor.now) == 16
    assert visitor.throttle.fail(ADDRESS, late, None, visitor.now) == 16


def test_failure_against_a_deleted_user_counts(visitor: Visitor) -> None:
    assert visitor.fail(999_999, times=2) == [1, 2]
