"""A throttle whose clock was put back, wherever it counts."""

import pytest

from app.domain.sign_in.login_throttle import EXPIRY_SECONDS, MAX_BLOCK_SECONDS
from tests.adapters.throttle_backends import ADDRESS, ANNA, Visitor

pytestmark = pytest.mark.both_databases


def test_clock_set_back_does_not_extend_a_block(visitor: Visitor) -> None:
    (wait,) = visitor.fail(ANNA)
    visitor.now -= wait + 7200
    put_back = visitor.now
    waited = visitor.begin().wait
    assert 0 < waited <= wait
    assert visitor.throttle.blocked(put_back)[0].blocked_until <= put_back + wait
    visitor.now += waited
    assert visitor.begin().lease


def test_block_is_at_most_an_hour_for_any_clock(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=13)
    visitor.now -= MAX_BLOCK_SECONDS + 7200
    assert visitor.begin().wait <= MAX_BLOCK_SECONDS
    visitor.now += MAX_BLOCK_SECONDS
    assert visitor.begin().lease


def test_failure_after_the_clock_was_set_back_blocks_no_longer(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=3)
    lease = visitor.begin().lease
    visitor.now -= 7200
    assert visitor.throttle.fail(ADDRESS, lease, ANNA, visitor.now) == 8


def test_clock_set_back_does_not_extend_a_lease(visitor: Visitor) -> None:
    assert visitor.begin().lease
    visitor.now -= 7200
    assert visitor.begin().lease


def test_clocks_that_differ_by_seconds_keep_attempts_apart(visitor: Visitor) -> None:
    assert visitor.begin().lease
    visitor.now -= 5
    assert not visitor.begin().lease


def test_failures_still_count_after_the_clock_was_set_back(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=4)
    visitor.now -= 7200
    visitor.now += visitor.begin().wait
    assert visitor.fail(ANNA) == [16]
    visitor.now += EXPIRY_SECONDS
    assert visitor.fail(ANNA) == [1]


def test_failure_of_a_fast_clock_blocks_at_most_an_hour(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=12)
    lease = visitor.begin().lease
    visitor.throttle.fail(ADDRESS, lease, ANNA, visitor.now + 200)
    assert visitor.begin().wait <= MAX_BLOCK_SECONDS
    visitor.now += MAX_BLOCK_SECONDS
    assert visitor.begin().lease
