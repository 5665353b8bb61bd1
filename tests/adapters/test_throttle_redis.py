"""What Redis alone is asked: to forget by itself, and to be missed in the right way."""

import socket
from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from app.adapters.queue.throttle_redis import RedisThrottle, connect_redis_throttle
from app.domain.sign_in.login_throttle import EXPIRY_SECONDS
from app.ports.throttle import Throttle, ThrottleUnavailable
from tests.adapters.throttle_backends import ADDRESS, ANNA, NOW, Visitor

CALLS: tuple[Callable[[Throttle], object], ...] = (
    lambda throttle: throttle.begin(ADDRESS, NOW),
    lambda throttle: throttle.fail(ADDRESS, "lease", ANNA, NOW),
    lambda throttle: throttle.succeed(ADDRESS, "lease", ANNA, NOW),
    lambda throttle: throttle.release(ADDRESS, "lease"),
    lambda throttle: throttle.blocked(NOW),
    lambda throttle: throttle.find(ADDRESS, NOW),
    lambda throttle: throttle.unblock(ADDRESS),
    lambda throttle: throttle.delete_expired(NOW),
    lambda throttle: throttle.eviction(),
)


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Something that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_redis_keys_expire(redis_url: str, redis: Redis) -> None:
    throttle = connect_redis_throttle(redis_url)
    throttle.begin("198.51.100.1", NOW)
    Visitor(throttle).fail(ANNA, times=2)
    keys = [str(key) for key in redis.scan_iter()]
    assert len(keys) == 5
    for key in keys:
        assert key.startswith("latchkey:throttle:")
        assert 0 < redis.ttl(key) <= EXPIRY_SECONDS, key


def test_success_leaves_no_key(redis_url: str, redis: Redis) -> None:
    visitor = Visitor(connect_redis_throttle(redis_url))
    visitor.fail(ANNA)
    visitor.succeed(ANNA)
    assert redis.dbsize() == 0


def test_released_attempt_leaves_no_key(redis_url: str, redis: Redis) -> None:
    throttle = connect_redis_throttle(redis_url)
    throttle.release(ADDRESS, throttle.begin(ADDRESS, NOW).lease)
    assert redis.dbsize() == 0


def test_unblocked_address_leaves_no_key(redis_url: str, redis: Redis) -> None:
    throttle = connect_redis_throttle(redis_url)
    Visitor(throttle).fail(ANNA, times=2)
    throttle.unblock(ADDRESS)
    assert redis.dbsize() == 0


def test_ended_blocks_are_cleared_from_the_operators_list(redis_url: str, redis: Redis) -> None:
    throttle = connect_redis_throttle(redis_url)
    Visitor(throttle).fail()
    throttle.delete_expired(NOW + 1)
    assert not redis.exists("latchkey:throttle:blocked")


def test_expired_failures_against_users_are_removed(redis_url: str, redis: Redis) -> None:
    visitor = Visitor(connect_redis_throttle(redis_url))
    for user_id in range(10, 20):
        visitor.fail(user_id)
        visitor.succeed(ANNA)
    visitor.now += EXPIRY_SECONDS
    visitor.fail(ANNA)
    assert redis.hgetall(f"latchkey:throttle:users:{ADDRESS}") == {str(ANNA): "1"}
    assert redis.zcard(f"latchkey:throttle:touched:{ADDRESS}") == 1


def test_throttles_are_separated_by_prefix(redis: Redis) -> None:
    Visitor(RedisThrottle(redis, "one")).fail(ANNA, times=3)
    assert Visitor(RedisThrottle(redis, "two")).fail(ANNA) == [1]


@pytest.mark.parametrize("call", CALLS)
def test_unreachable_redis_has_its_own_error(
    listener: socket.socket, call: Callable[[Throttle], object]
) -> None:
    port = listener.getsockname()[1]
    listener.close()
    throttle = connect_redis_throttle(f"redis://:secret@127.0.0.1:{port}/0")
    with pytest.raises(ThrottleUnavailable, match="Redis") as caught:
        call(throttle)
    assert "secret" not in str(caught.value)


def test_unresponsive_redis_times_out(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    throttle = connect_redis_throttle(f"redis://127.0.0.1:{port}/0?socket_timeout=0.05")
    with pytest.raises(ThrottleUnavailable, match="Timeout"):
        throttle.begin(ADDRESS, NOW)


def test_redis_with_unusable_data_is_unavailable(redis_url: str, redis: Redis) -> None:
    redis.set(f"latchkey:throttle:address:{ADDRESS}", "not a hash")
    with pytest.raises(ThrottleUnavailable, match="WRONGTYPE"):
        connect_redis_throttle(redis_url).begin(ADDRESS, NOW)


def test_broken_connection_is_reopened(redis_url: str, redis: Redis) -> None:
    throttle = connect_redis_throttle(redis_url)
    lease = throttle.begin(ADDRESS, NOW).lease
    own = redis.client_info()
    # Other tests that run now have connections to other databases of the server.
    others = [
        client["id"]
        for client in redis.client_list()
        if client["db"] == str(own["db"]) and client["id"] != str(own["id"])
    ]
    assert sum(redis.client_kill_filter(_id=key) for key in others) >= 1
    assert throttle.fail(ADDRESS, lease, ANNA, NOW) == 1


def test_restarted_redis_gets_the_scripts_again(redis_url: str, redis: Redis) -> None:
    throttle = connect_redis_throttle(redis_url)
    assert throttle.begin(ADDRESS, NOW).lease
    redis.script_flush()
    redis.flushdb()
    assert Visitor(throttle).fail(ANNA) == [1]
