"""What an operator sees of every throttle and may undo: SQLite, PostgreSQL, Redis."""

import pytest

from app.domain.sign_in.login_throttle import EXPIRY_SECONDS
from app.ports.throttle import BlockedIp, Throttle
from tests.adapters.throttle_backends import (
    ADDRESS,
    ANNA,
    BELA,
    NOW,
    OTHER_ADDRESS,
    Place,
    Visitor,
)

pytestmark = pytest.mark.both_databases


def test_blocked_addresses_are_listed_longest_wait_first(throttle: Throttle) -> None:
    for count, address in ((1, "198.51.100.1"), (3, "198.51.100.3"), (2, "198.51.100.2")):
        Visitor(throttle, address, NOW - 2**count + 1).fail(ANNA, times=count - 1)
    Visitor(throttle, "198.51.100.1").fail()
    Visitor(throttle, "198.51.100.2").fail(ANNA)
    Visitor(throttle, "198.51.100.3").fail(ANNA)
    assert throttle.blocked(NOW) == (
        BlockedIp("198.51.100.3", NOW + 4, 3, 3),
        BlockedIp("198.51.100.2", NOW + 2, 2, 2),
        BlockedIp("198.51.100.1", NOW + 1, 0, 1),
    )
    assert [blocked.address for blocked in throttle.blocked(NOW, limit=1)] == ["198.51.100.3"]
    assert [blocked.address for blocked in throttle.blocked(NOW + 2)] == ["198.51.100.3"]
    assert throttle.blocked(NOW + 4) == ()


@pytest.mark.parametrize("user_id", [ANNA, None])
def test_unblocked_address_starts_at_zero(visitor: Visitor, user_id: int | None) -> None:
    throttle = visitor.throttle
    visitor.fail(user_id, times=12)
    visitor.now -= 1
    assert throttle.blocked(visitor.now)
    assert throttle.unblock(ADDRESS)
    assert throttle.blocked(visitor.now) == ()
    assert throttle.find(ADDRESS, visitor.now) is None
    assert visitor.fail(ANNA) == [1]


def test_unblocking_resets_failures_against_users(visitor: Visitor) -> None:
    visitor.fail(ANNA, times=3)
    visitor.succeed(BELA)
    assert visitor.throttle.unblock(ADDRESS)
    assert visitor.fail(ANNA) == [1]


def test_unblocking_without_failures_does_nothing(visitor: Visitor) -> None:
    assert not visitor.throttle.unblock(ADDRESS)
    visitor.succeed(ANNA)
    assert not visitor.throttle.unblock(ADDRESS)


def test_unblocking_one_address_keeps_the_others(throttle: Throttle) -> None:
    Visitor(throttle, OTHER_ADDRESS).fail(ANNA)
    assert not throttle.unblock(ADDRESS)
    assert [blocked.address for blocked in throttle.blocked(NOW)] == [OTHER_ADDRESS]


def test_address_state_can_be_read_until_it_expires(visitor: Visitor) -> None:
    find = visitor.throttle.find
    assert find(ADDRESS, NOW) is None
    visitor.fail(ANNA, times=2)
    visitor.fail(times=1)
    end = visitor.now
    assert find(ADDRESS, end) == BlockedIp(ADDRESS, end, 2, 3)
    assert find(ADDRESS, end + EXPIRY_SECONDS) is None


def test_failures_against_a_user_count_after_other_counters_reset(visitor: Visitor) -> None:
    visitor.fail(ANNA)
    failed = NOW
    visitor.succeed(BELA)
    find = visitor.throttle.find
    assert find(ADDRESS, visitor.now) == BlockedIp(ADDRESS, 0.0, 0, 0)
    assert find(ADDRESS, failed + EXPIRY_SECONDS) is None


def test_deleting_expired_counters_keeps_the_others(throttle: Throttle) -> None:
    faded, fresh = Visitor(throttle), Visitor(throttle, OTHER_ADDRESS)
    faded.fail(ANNA, times=3)
    fresh.now = faded.now + EXPIRY_SECONDS
    fresh.fail(ANNA, times=2)
    running = Visitor(throttle, "198.51.100.1", fresh.now)
    assert running.begin().lease
    throttle.delete_expired(fresh.now)
    assert fresh.fail(ANNA) == [4]
    assert not running.begin().lease


def test_blocked_addresses_are_counted_while_their_block_lasts(
    throttle: Throttle, place: Place
) -> None:
    Visitor(throttle).fail(ANNA, times=2)
    Visitor(throttle, OTHER_ADDRESS).fail(ANNA)
    assert place.counted(throttle.count_blocked(NOW)) == 2
    assert place.counted(throttle.count_blocked(NOW + 1)) == 1
    throttle.unblock(ADDRESS)
    assert place.counted(throttle.count_blocked(NOW + 1)) == 0


def test_failures_by_address_name_their_users(throttle: Throttle) -> None:
    visitor = Visitor(throttle)
    visitor.fail(ANNA, times=2)
    visitor.fail(BELA)
    visitor.fail()
    Visitor(throttle, OTHER_ADDRESS).fail()
    both = [ADDRESS, OTHER_ADDRESS]
    assert throttle.failures_against(both, NOW) == {ADDRESS: {ANNA: 2, BELA: 1}}
    assert throttle.failures_against([], NOW) == {}
    assert throttle.failures_against(both, visitor.now + EXPIRY_SECONDS) == {}
