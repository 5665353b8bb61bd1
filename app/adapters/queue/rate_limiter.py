"""Rate limits by the ``limits`` library: in Redis if configured, else in the process.

Fixed windows that begin with a client's first use: one counter per limit and client, and the
client can continue exactly at the window's end.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil
from threading import Lock
from typing import TypeVar

import structlog
from cachetools import FIFOCache
from limits import RateLimitItem, parse_many
from limits.errors import StorageError
from limits.storage import RedisStorage, Storage
from limits.strategies import FixedWindowRateLimiter
from typing_extensions import override

from app.domain.sign_in.rate_limits import Rates
from app.ports.system import Clock

SCHEME = "counts"
"""What Flask-Limiter finds ``Counts`` by: ``counts://``."""

_KEY_PREFIX = "latchkey:limits"
_MAX_WINDOWS = 50_000
_AWAY_SECONDS = 5.0
_TIMEOUT_SECONDS = 0.5
"""How long a request waits for Redis before its use is counted in the process."""

_NO_WINDOW = 0.0, 0

Result = TypeVar("Result")
_log = structlog.get_logger(__name__)


class Windows:
    """Counters of this process, at most ``most``: the one counted longest ago is dropped first.

    Each key has its count and the end of its window. The library's own memory store is not used:
    it never drops a key, and looks at all of them a hundred times a second.
    """

    def __init__(self, clock: Clock, most: int = _MAX_WINDOWS) -> None:
        self._clock = clock
        self._windows: FIFOCache[str, tuple[float, int]] = FIFOCache(most)
        self._lock = Lock()

    def incr(self, key: str, expiry: float, amount: int) -> int:
        now = self._clock.timestamp()
        with self._lock:
            end, count = self._windows.get(key, _NO_WINDOW)
            if not now < end <= now + expiry:  # over, or from before the clock was put back
                end, count = now + expiry, 0
            self._windows[key] = end, count + amount
            return count + amount

    def get(self, key: str) -> int:
        end, count = self._window(key)
        return count if end > self._clock.timestamp() else 0

    def get_expiry(self, key: str) -> float:
        end, _ = self._window(key)
        return max(end, self._clock.timestamp())

    def clear(self, key: str) -> None:
        with self._lock:
            self._windows.pop(key, None)

    def reset(self) -> int:
        with self._lock:
            count = len(self._windows)
            self._windows.clear()
            return count

    def _window(self, key: str) -> tuple[float, int]:
        with self._lock:
            return self._windows.get(key, _NO_WINDOW)


class Counts(Storage):
    """A storage of the ``limits`` library: Redis, or this process without one.

    An unreachable Redis is skipped for a few seconds, so that a flood doesn't wait for it at every
    request.
    """

    STORAGE_SCHEME = [SCHEME]  # noqa: RUF012 - the library's own way to register

    def __init__(
        self,
        uri: str | None = None,
        *,
        clock: Clock,
        redis: RedisStorage | None = None,
        wrap_exceptions: bool = False,
    ) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self._clock = clock
        self._windows = Windows(clock)
        self._redis = redis
        self._away_until = 0.0

    @property
    def storage(self) -> str:
        """The storage that ``flask limiter config`` shows."""
        return "this process" if self._redis is None else "Redis"

    @property
    @override
    def base_exceptions(self) -> type[Exception]:
        return StorageError

    @override
    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        return self._ask(
            lambda redis: redis.incr(key, expiry, amount),
            lambda: self._windows.incr(key, expiry, amount),
        )

    @override
    def get(self, key: str) -> int:
        return self._ask(lambda redis: redis.get(key), lambda: self._windows.get(key))

    @override
    def get_expiry(self, key: str) -> float:
        return self._ask(
            lambda redis: redis.get_expiry(key), lambda: self._windows.get_expiry(key)
        )

    @override
    def check(self) -> bool:
        return self._redis is None or bool(self._redis.check())

    @override
    def reset(self) -> int | None:
        return self._ask(lambda redis: redis.reset(), self._windows.reset)

    @override
    def clear(self, key: str) -> None:
        self._ask(lambda redis: redis.clear(key), lambda: self._windows.clear(key))

    def _ask(
        self, in_redis: Callable[[RedisStorage], Result], in_process: Callable[[], Result]
    ) -> Result:
        now = self._clock.timestamp()
        is_left_alone = now < self._away_until <= now + _AWAY_SECONDS
        if self._redis is None or is_left_alone:
            return in_process()
        try:
            return in_redis(self._redis)
        except StorageError as error:
            self._away_until = now + _AWAY_SECONDS
            _log.warning("rate_limits.redis_away", reason=str(error.storage_error))
            return in_process()


class LimitsRateLimiter:
    """The library's fixed windows over ``counts``."""

    def __init__(self, counts: Counts, clock: Clock) -> None:
        self._counts = counts
        self._clock = clock
        self._windows = FixedWindowRateLimiter(counts)

    def count(self, name: str, client: str, rates: Rates) -> int:
        for item in _items(rates):
            # What one rate refuses uses nothing up of the rates behind it.
            if not self._windows.hit(item, name, client):
                return self._wait(item, name, client)
        return 0

    def _wait(self, item: RateLimitItem, name: str, client: str) -> int:
        end = self._counts.get_expiry(item.key_for(name, client))
        return min(max(1, ceil(end - self._clock.timestamp())), item.get_expiry())


def connect_rate_limiter(clock: Clock, redis_url: str = "") -> LimitsRateLimiter:
    """A limiter that counts in the Redis at ``redis_url``, or without one in this process."""
    return LimitsRateLimiter(Counts(clock=clock, redis=connect_redis(redis_url)), clock)


def connect_redis(url: str) -> RedisStorage | None:
    """Return the library's storage in the Redis at ``url``; without one, ``None``."""
    if not url:
        return None
    return RedisStorage(
        url,
        key_prefix=_KEY_PREFIX,
        wrap_exceptions=True,
        socket_timeout=_TIMEOUT_SECONDS,
        socket_connect_timeout=_TIMEOUT_SECONDS,
    )


@lru_cache(maxsize=256)
def _items(rates: Rates) -> tuple[RateLimitItem, ...]:
    return tuple(parse_many(";".join(rate.text for rate in rates)))
