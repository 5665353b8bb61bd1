"""The throttle's steps in the database, one statement each."""

from sqlalchemy import text

BEGIN = text("""
    INSERT INTO throttle_addresses (address, lease, lease_until, updated_at)
    VALUES (:address, :lease, :lease_until, :now)
    ON CONFLICT (address) DO UPDATE
    SET lease = excluded.lease, lease_until = excluded.lease_until
    WHERE throttle_addresses.blocked_until <= :now
        AND (throttle_addresses.lease_until <= :now
            OR throttle_addresses.lease_until > :lease_most)
    RETURNING lease
""")

COUNT = text("""
    INSERT INTO throttle_addresses (address, known_failures, failures, updated_at)
    VALUES (:address, :known, 1, :now)
    ON CONFLICT (address) DO UPDATE
    SET known_failures = excluded.known_failures
            + CASE WHEN throttle_addresses.updated_at > :expired_before
                   THEN throttle_addresses.known_failures ELSE 0 END,
        failures = 1
            + CASE WHEN throttle_addresses.updated_at > :expired_before
                   THEN throttle_addresses.failures ELSE 0 END,
        updated_at = excluded.updated_at
    RETURNING known_failures, failures
""")

COUNT_USER = text("""
    INSERT INTO throttle_users (address, user_id, failures, updated_at)
    VALUES (:address, :user_id, 1, :now)
    ON CONFLICT (address, user_id) DO UPDATE
    SET failures = 1
            + CASE WHEN throttle_users.updated_at > :expired_before
                   THEN throttle_users.failures ELSE 0 END,
        updated_at = excluded.updated_at
    RETURNING failures
""")

BLOCK = text("""
    UPDATE throttle_addresses
    SET blocked_until = CASE WHEN blocked_until > :until THEN blocked_until ELSE :until END,
        lease_until = CASE WHEN lease = :lease THEN 0 ELSE lease_until END
    WHERE address = :address
    RETURNING blocked_until
""")

REBASE = text("""
    UPDATE throttle_addresses
    SET blocked_until = CASE WHEN blocked_until - updated_at > :longest THEN :now + :longest
            WHEN blocked_until > updated_at THEN :now + (blocked_until - updated_at)
            ELSE :now END,
        updated_at = :now
    WHERE address = :address AND (updated_at > :latest OR blocked_until > :now + :longest)
""")
"""After the clock was put back: as ``blocked_until_now`` says, and counters fade from now."""

REBASE_USERS = text("""
    UPDATE throttle_users SET updated_at = :now WHERE address = :address AND updated_at > :now
""")

GUESS = text("""
    INSERT INTO password_guesses (user_id, guesses, updated_at)
    VALUES (:user_id, 1, :now)
    ON CONFLICT (user_id) DO UPDATE
    SET guesses = 1
            + CASE WHEN password_guesses.updated_at > :expired_before
                    AND password_guesses.updated_at <= :latest
                   THEN password_guesses.guesses ELSE 0 END,
        updated_at = excluded.updated_at
    WHERE password_guesses.guesses < :most
        OR password_guesses.updated_at <= :expired_before
        OR password_guesses.updated_at > :latest
    RETURNING guesses
""")
