"""The throttle's steps in Redis, one Lua script each.

The keys are always the same four: the address's hash, its failures by user, when it last failed
against each of these, and all blocked addresses by the end of their block. Times are Unix seconds.
"""

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
