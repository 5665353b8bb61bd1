"""The login throttle's counters in Redis (or Valkey), for installations of several machines.

Each step is one Lua script, so it is atomic. Counters expire after two hours without use. They
must not be evicted: ``maxmemory-policy noeviction``.

A script's keys are always the same four: the address's hash, its failures by user, when it last
failed against each of these, and all blocked addresses by the end of their block. Times are Unix
seconds.
"""

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnectionError
from redis.exceptions import RedisError
from redis.retry import Retry

from app.domain.sign_in import login_throttle
from app.ports.system import Clock
from app.ports.throttle import AccountBlocks, Attempt, BlockedIp, Guess, ThrottleUnavailable

_REBASE = """
local function rebase(address, now, longest, ahead)
    local held = redis.call('HMGET', KEYS[1], 'blocked_until', 'updated_at')
    local until_then, counted_at = tonumber(held[1] or '0'), tonumber(held[2] or '0')
    if counted_at <= now + ahead and until_then <= now + longest then return end
    local rest = math.min(math.max(until_then - counted_at, 0), longest)
    local blocked_until = string.format('%.6f', now + rest)
    local counted = string.format('%.6f', now)
    redis.call('HSET', KEYS[1], 'blocked_until', blocked_until, 'updated_at', counted)
    redis.call('ZADD', KEYS[4], 'XX', blocked_until, address)
    for _, user_id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. counted, '+inf')) do
        redis.call('ZADD', KEYS[3], 'XX', counted, user_id)
    end
end
"""
"""After the clock was put back: a block lasts as long from now as it was meant to last."""

BEGIN = (
    _REBASE
    + """
local lease, now, lease_most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[6])
rebase(ARGV[5], now, tonumber(ARGV[7]), tonumber(ARGV[8]))
local held = redis.call('HMGET', KEYS[1], 'blocked_until', 'lease_until', 'lease')
local lease_until = tonumber(held[2] or '0')
local running = lease_until > now and lease_until <= lease_most and held[3] ~= lease
if running or tonumber(held[1] or '0') > now then
    return {held[1] or '0', held[2] or '0'}
end
redis.call('HSET', KEYS[1], 'lease', lease, 'lease_until', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return {'0', '0'}
"""
)
"""Take the lease unless the address waits: why it does, until when for each reason, or zeros."""

COUNT = (
    _REBASE
    + """
local now, expired_before, user_id, ttl = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
rebase(ARGV[5], tonumber(now), tonumber(ARGV[6]), tonumber(ARGV[7]))
if tonumber(redis.call('HGET', KEYS[1], 'updated_at') or '0') <= expired_before then
    redis.call('HDEL', KEYS[1], 'known_failures', 'failures')
end
redis.call('HSET', KEYS[1], 'updated_at', now)
redis.call('EXPIRE', KEYS[1], ttl)
local failures = redis.call('HINCRBY', KEYS[1], 'failures', 1)
if user_id == '' then
    return {failures, 0, 0}
end
local known_failures = redis.call('HINCRBY', KEYS[1], 'known_failures', 1)
for _, faded in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', expired_before)) do
    redis.call('HDEL', KEYS[2], faded)
    redis.call('ZREM', KEYS[3], faded)
end
local user_failures = redis.call('HINCRBY', KEYS[2], user_id, 1)
redis.call('ZADD', KEYS[3], now, user_id)
redis.call('EXPIRE', KEYS[2], ttl)
redis.call('EXPIRE', KEYS[3], ttl)
return {failures, known_failures, user_failures}
"""
)
"""Count a failure: k, n and m of the arithmetic; no user is an empty text."""

BLOCK = """
local address, lease, wanted, now, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local blocked_until = redis.call('HGET', KEYS[1], 'blocked_until')
if tonumber(blocked_until or '0') < tonumber(wanted) then
    blocked_until = wanted
    redis.call('HSET', KEYS[1], 'blocked_until', wanted)
end
if redis.call('HGET', KEYS[1], 'lease') == lease then
    redis.call('HDEL', KEYS[1], 'lease', 'lease_until')
end
redis.call('EXPIRE', KEYS[1], ttl)
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
redis.call('ZADD', KEYS[4], blocked_until, address)
redis.call('EXPIRE', KEYS[4], ttl)
return blocked_until
"""
"""Block the address, never shorter than it is already, and end the attempt: until when."""

SUCCEED = """
local address, lease, user_id, now = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local held = redis.call('HMGET', KEYS[1], 'lease_until', 'lease')
if tonumber(held[1] or '0') > now and held[2] ~= lease then
    redis.call('HDEL', KEYS[1], 'blocked_until', 'known_failures', 'failures', 'updated_at')
else
    redis.call('DEL', KEYS[1])
end
redis.call('HDEL', KEYS[2], user_id)
redis.call('ZREM', KEYS[3], user_id)
redis.call('ZREM', KEYS[4], address)
"""
"""Forget what is held against the address, and its failures against the user."""

GUESS = """
local now, since, latest = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local held = redis.call('HMGET', KEYS[1], 'guesses', 'updated_at')
local guesses, guessed_at = tonumber(held[1] or '0'), tonumber(held[2] or '0')
if guessed_at <= since or guessed_at > latest then
    guesses = 0
end
if guesses >= tonumber(ARGV[4]) then
    return {0, held[2]}
end
redis.call('HSET', KEYS[1], 'guesses', guesses + 1, 'updated_at', now)
redis.call('EXPIRE', KEYS[1], ARGV[5])
return {guesses + 1, now}
"""
"""Count a guess at a user's password, unless too many count: its number or 0, and the last."""

TAKE_BACK = """
if tonumber(redis.call('HGET', KEYS[1], 'guesses') or '0') > 0 then
    redis.call('HINCRBY', KEYS[1], 'guesses', -1)
end
"""
"""Uncount a guess that was not compared."""

RELEASE = """
if redis.call('HGET', KEYS[1], 'lease') == ARGV[1] then
    redis.call('HDEL', KEYS[1], 'lease', 'lease_until')
end
"""
"""End the attempt, and nothing else."""

REMOVE = """
local of_address = tonumber(redis.call('HGET', KEYS[1], 'failures') or '0')
local of_users = redis.call('ZCARD', KEYS[3])
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[1])
return of_address + of_users
"""
"""Forget the address: above zero when anything was held against it."""


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
            now + login_throttle.LEASE_SECONDS,
            login_throttle.EXPIRY_SECONDS,
            address,
            now + login_throttle.MAX_LEASE_SECONDS,
            login_throttle.MAX_BLOCK_SECONDS,
            login_throttle.CLOCK_DIFFERENCE_SECONDS,
        )
        with _reachable():
            blocked_until, lease_until = self._begin(self._keys(address), arguments)
        wait = login_throttle.wait_seconds(
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
                    login_throttle.expired_before(now),
                    user,
                    login_throttle.EXPIRY_SECONDS,
                    address,
                    login_throttle.MAX_BLOCK_SECONDS,
                    login_throttle.CLOCK_DIFFERENCE_SECONDS,
                ),
            )
            seconds = login_throttle.block_seconds(
                failures=failures, known_failures=known_failures, user_failures=user_failures
            )
            blocked_until = self._block(
                keys, (address, lease, now + seconds, now, login_throttle.EXPIRY_SECONDS)
            )
        return float(blocked_until) - now

    def succeed(self, address: str, lease: str, user_id: int, now: float) -> None:
        with _reachable():
            self._succeed(self._keys(address), (address, lease, user_id, now))
            self._redis.delete(self._guesses_of(user_id))

    def release(self, address: str, lease: str) -> None:
        with _reachable():
            self._release(self._keys(address), (lease,))

    def guess(self, user_id: int, now: float) -> Guess:
        arguments = (
            now,
            *login_throttle.guess_window(now),
            login_throttle.MAX_GUESSES,
            login_throttle.GUESSES_EXPIRY_SECONDS,
        )
        with _reachable():
            number, guessed_at = self._guess([self._guesses_of(user_id)], arguments)
        if number:
            return Guess(int(number))
        return Guess(0, login_throttle.guess_wait_seconds(guessed_at=float(guessed_at), now=now))

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
        oldest = login_throttle.expired_before(now)
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
        oldest = login_throttle.expired_before(now)
        with _reachable():
            fields = self._redis.hgetall(of_address)
            if float(fields.get("updated_at", 0)) > oldest:
                until = login_throttle.blocked_until_now(
                    blocked_until=float(fields.get("blocked_until", 0)),
                    counted_at=float(fields["updated_at"]),
                    now=now,
                )
                return BlockedIp(
                    address, until, int(fields.get("known_failures", 0)), int(fields["failures"])
                )
            against_somebody = self._redis.zcount(touched, f"({oldest}", "+inf")
        return BlockedIp(address, 0.0, 0, 0) if against_somebody else None

    def blocks_of(self, user_id: int, addresses: Collection[str], now: float) -> AccountBlocks:
        since, latest = login_throttle.guess_window(now)
        with _reachable():
            guesses = self._redis.hgetall(self._guesses_of(user_id))
            held = [self.find(address, now) for address in addresses]
        guessed_at, until = float(guesses.get("updated_at", 0)), None
        if (
            int(guesses.get("guesses", 0)) >= login_throttle.MAX_GUESSES
            and since < guessed_at <= latest
        ):
            until = now + login_throttle.guess_wait_seconds(guessed_at=guessed_at, now=now)
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
    """Return the throttle in the Redis at ``url``; connects when first asked for something.

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
