"""The login throttle's counters in Redis (or Valkey), for installations of several machines.

Each step is one Lua script, so it is atomic. Counters expire after two hours without use. They
must not be evicted: ``maxmemory-policy noeviction``.
"""

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnectionError
from redis.exceptions import RedisError
from redis.retry import Retry

from app.adapters.throttle_scripts import (
    BEGIN,
    BLOCK,
    COUNT,
    GUESS,
    RELEASE,
    REMOVE,
    SUCCEED,
    TAKE_BACK,
)
from app.domain.sign_in.login_throttle import (
    CLOCK_DIFFERENCE_SECONDS,
    EXPIRY_SECONDS,
    GUESSES_EXPIRY_SECONDS,
    LEASE_SECONDS,
    MAX_BLOCK_SECONDS,
    MAX_GUESSES,
    MAX_LEASE_SECONDS,
    block_seconds,
    blocked_until_now,
    expired_before,
    guess_wait_seconds,
    guess_window,
    wait_seconds,
)
from app.ports.clock import Clock
from app.ports.throttle import AccountBlocks, Attempt, BlockedIp, Guess, ThrottleUnavailable

_PREFIX = "latchkey:throttle"
_KEEPS_ALL = "noeviction"
_WAIT_SECONDS = 2.0
"""How long a login waits for Redis before it is refused; ``?socket_timeout=`` in the URL wins."""


class RedisThrottle:
    """Counters under keys that begin with ``prefix``, unique to the installation.

    An address has a hash (``address``), one of failures by user (``users``) and their times
    (``touched``); ``blocked`` sorts the blocked addresses for the operator.
    """

    def __init__(self, redis: Redis, prefix: str = _PREFIX) -> None:
        self._redis = redis
        self._prefix = prefix
        self._begin = redis.register_script(BEGIN)
        self._count = redis.register_script(COUNT)
        self._block = redis.register_script(BLOCK)
        self._succeed = redis.register_script(SUCCEED)
        self._release = redis.register_script(RELEASE)
        self._guess = redis.register_script(GUESS)
        self._take_back = redis.register_script(TAKE_BACK)
        self._remove = redis.register_script(REMOVE)

    def timestamp(self, shared_clock: Clock) -> float:
        with _reachable():
            seconds, microseconds = self._redis.time()
        return float(seconds) + microseconds / 1_000_000

    def begin(self, address: str, now: float) -> Attempt:
        lease = secrets.token_hex(16)
        arguments = (
            lease,
            now,
            now + LEASE_SECONDS,
            EXPIRY_SECONDS,
            address,
            now + MAX_LEASE_SECONDS,
            MAX_BLOCK_SECONDS,
            CLOCK_DIFFERENCE_SECONDS,
        )
        with _reachable():
            blocked_until, lease_until = self._begin(self._keys(address), arguments)
        wait = wait_seconds(
            blocked_until=float(blocked_until), lease_until=float(lease_until), now=now
        )
        return Attempt("", wait) if wait > 0 else Attempt(lease)

    def fail(self, address: str, lease: str, user_id: int | None, now: float) -> float:
        # Two scripts, so that the arithmetic stays in one place for every store. The lease holds
        # until the second; a process killed in between has had its failure counted.
        keys = self._keys(address)
        user = "" if user_id is None else user_id
        with _reachable():
            failures, known_failures, user_failures = self._count(
                keys,
                (
                    now,
                    expired_before(now),
                    user,
                    EXPIRY_SECONDS,
                    address,
                    MAX_BLOCK_SECONDS,
                    CLOCK_DIFFERENCE_SECONDS,
                ),
            )
            seconds = block_seconds(
                failures=failures, known_failures=known_failures, user_failures=user_failures
            )
            blocked_until = self._block(keys, (address, lease, now + seconds, now, EXPIRY_SECONDS))
        return float(blocked_until) - now

    def succeed(self, address: str, lease: str, user_id: int, now: float) -> None:
        with _reachable():
            self._succeed(self._keys(address), (address, lease, user_id, now))
            self._redis.delete(self._guesses_of(user_id))

    def release(self, address: str, lease: str) -> None:
        with _reachable():
            self._release(self._keys(address), (lease,))

    def guess(self, user_id: int, now: float) -> Guess:
        arguments = (now, *guess_window(now), MAX_GUESSES, GUESSES_EXPIRY_SECONDS)
        with _reachable():
            number, guessed_at = self._guess([self._guesses_of(user_id)], arguments)
        if number:
            return Guess(int(number))
        return Guess(0, guess_wait_seconds(guessed_at=float(guessed_at), now=now))

    def undo_guess(self, user_id: int) -> None:
        with _reachable():
            self._take_back([self._guesses_of(user_id)])

    def reset_guesses(self, user_id: int) -> None:
        with _reachable():
            self._redis.delete(self._guesses_of(user_id))

    def blocked(self, now: float, limit: int = 100) -> Sequence[BlockedIp]:
        with _reachable():
            addresses = self._redis.zrange(
                f"{self._prefix}:blocked",
                "+inf",
                f"({now}",
                desc=True,
                byscore=True,
                offset=0,
                num=limit,
            )
            found = [self.find(str(address), now) for address in addresses]
        return tuple(
            blocked_ip
            for blocked_ip in found
            if blocked_ip is not None and blocked_ip.blocked_until > now
        )

    def count_blocked(self, now: float) -> int:
        with _reachable():
            return int(self._redis.zcount(f"{self._prefix}:blocked", f"({now}", "+inf"))

    def failures_against(
        self, addresses: Collection[str], now: float
    ) -> Mapping[str, Mapping[int, int]]:
        oldest = expired_before(now)
        ordered = list(addresses)
        with _reachable(), self._redis.pipeline(transaction=False) as pipeline:
            for address in ordered:
                _, users, touched, _ = self._keys(address)
                pipeline.hgetall(users)
                pipeline.zrangebyscore(touched, f"({oldest}", "+inf")
            answers = pipeline.execute()
        found = {}
        for address, failures, fresh in zip(ordered, answers[::2], answers[1::2], strict=True):
            counted = {int(user): int(failures[user]) for user in fresh if user in failures}
            if counted:
                found[address] = counted
        return found

    def find(self, address: str, now: float) -> BlockedIp | None:
        of_address, _, touched, _ = self._keys(address)
        oldest = expired_before(now)
        with _reachable():
            fields = self._redis.hgetall(of_address)
            if float(fields.get("updated_at", 0)) > oldest:
                until = blocked_until_now(
                    blocked_until=float(fields.get("blocked_until", 0)),
                    counted_at=float(fields["updated_at"]),
                    now=now,
                )
                return BlockedIp(
                    address,
                    until,
                    int(fields.get("known_failures", 0)),
                    int(fields["failures"]),
                )
            against_somebody = self._redis.zcount(touched, f"({oldest}", "+inf")
        return BlockedIp(address, 0.0, 0, 0) if against_somebody else None

    def blocks_of(self, user_id: int, addresses: Collection[str], now: float) -> AccountBlocks:
        since, latest = guess_window(now)
        with _reachable():
            guesses = self._redis.hgetall(self._guesses_of(user_id))
            held = [self.find(address, now) for address in addresses]
        guessed_at, until = float(guesses.get("updated_at", 0)), None
        if int(guesses.get("guesses", 0)) >= MAX_GUESSES and since < guessed_at <= latest:
            until = now + guess_wait_seconds(guessed_at=guessed_at, now=now)
        found = [block for block in held if block is not None and block.blocked_until > now]
        return AccountBlocks(sorted(found, key=lambda block: -block.blocked_until), until)

    def unblock(self, address: str) -> bool:
        with _reachable():
            return bool(self._remove(self._keys(address), (address,)))

    def eviction(self) -> str:
        with _reachable():
            policy = str(self._redis.info("memory")["maxmemory_policy"])
        return "" if policy == _KEEPS_ALL else policy

    def delete_expired(self, now: float) -> int:
        with _reachable():
            self._redis.zremrangebyscore(f"{self._prefix}:blocked", "-inf", now)
        return 0

    def _guesses_of(self, user_id: int) -> str:
        return f"{self._prefix}:guesses:{user_id}"

    def _keys(self, address: str) -> tuple[str, str, str, str]:
        of_address, users, touched = (
            f"{self._prefix}:{kind}:{address}" for kind in ("address", "users", "touched")
        )
        return of_address, users, touched, f"{self._prefix}:blocked"


def connect_redis_throttle(url: str) -> RedisThrottle:
    """The throttle in the Redis at ``url``; connects when first asked for something.

    A connection that broke while it was idle is opened anew, once. What timed out is not sent
    again: it may have been counted.
    """
    once = Retry(NoBackoff(), 1, supported_errors=(NoConnectionError,))
    return RedisThrottle(
        Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=_WAIT_SECONDS,
            socket_connect_timeout=_WAIT_SECONDS,
            retry=once,
        )
    )


@contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise ThrottleUnavailable("The login throttle's Redis (REDIS_URL)", str(error)) from error
