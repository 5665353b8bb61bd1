"""The login throttle's counters in the database, SQLite's and PostgreSQL's alike."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from sqlalchemy import (
    CursorResult,
    Select,
    delete,
    exists,
    func,
    literal,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.sign_in import login_throttle
from app.ports.database import Database, NamedRow
from app.ports.system import Clock
from app.ports.throttle import AccountBlocks, Attempt, BlockedIp, Guess

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


_address = models.ThrottleAddress
_user = models.ThrottleUser
_guesses = models.PasswordGuess


class SqlThrottle:
    """Counters in the tables of ``models.sign_in``; every change is one transaction.

    The two counters of an address fade together, two hours after its last failure of any kind.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def timestamp(self, shared_clock: Clock) -> float:
        return shared_clock.timestamp()

    def begin(self, address: str, now: float) -> Attempt:
        wait, is_ahead = self._wait(address, now)
        if is_ahead:
            with self._database.transaction(signs_in=True) as session:
                _rebase(session, address, now)
        if wait > 0:
            # Decided by reading: many attempts at a blocked address don't cause writes.
            return Attempt("", wait)
        lease = secrets.token_hex(16)
        values = {
            "address": address,
            "lease": lease,
            "lease_until": now + login_throttle.LEASE_SECONDS,
            "lease_most": now + login_throttle.MAX_LEASE_SECONDS,
            "now": now,
        }
        with self._database.transaction(signs_in=True) as session:
            got = session.scalar(BEGIN, values)
        # None: somebody else began since we looked.
        return Attempt("", login_throttle.RUNNING_WAIT_SECONDS) if got is None else Attempt(lease)

    def fail(self, address: str, lease: str, user_id: int | None, now: float) -> float:
        touch = {
            "address": address,
            "now": now,
            "expired_before": login_throttle.expired_before(now),
        }
        has_user = user_id is not None
        with self._database.transaction(signs_in=True) as session:
            _rebase(session, address, now)
            known_failures, failures = session.execute(
                COUNT, {**touch, "known": int(has_user)}
            ).one()
            seconds = login_throttle.block_seconds(
                failures=failures,
                known_failures=known_failures if has_user else 0,
                user_failures=_count_against(session, user_id, touch),
            )
            blocked_until: float = session.execute(
                BLOCK, {"address": address, "lease": lease, "until": now + seconds}
            ).scalar_one()
        return blocked_until - now

    def succeed(self, address: str, lease: str, user_id: int, now: float) -> None:
        ended = (_address.lease == lease) | (_address.lease_until <= now)
        with self._database.transaction(signs_in=True) as session:
            session.execute(delete(_address).where(_address.address == address, ended))
            # What is left has an attempt running that began after this one's lease had ended.
            session.execute(
                update(_address)
                .where(_address.address == address)
                .values(blocked_until=0.0, known_failures=0, failures=0)
            )
            session.execute(
                delete(_user).where(_user.address == address, _user.user_id == user_id)
            )
            session.execute(delete(_guesses).where(_guesses.user_id == user_id))

    def release(self, address: str, lease: str) -> None:
        with self._database.transaction(signs_in=True) as session:
            session.execute(
                update(_address)
                .where(_address.address == address, _address.lease == lease)
                .values(lease_until=0.0)
            )

    def guess(self, user_id: int, now: float) -> Guess:
        since, latest = login_throttle.guess_window(now)
        values = {"user_id": user_id, "now": now, "expired_before": since, "latest": latest}
        try:
            with self._database.transaction(signs_in=True) as session:
                number = session.scalar(GUESS, {**values, "most": login_throttle.MAX_GUESSES})
        except IntegrityError:
            # The user was deleted a moment ago, so there is no password to guess.
            number = login_throttle.MAX_GUESSES
        if number is not None:
            return Guess(number)
        with self._database.reading() as reading:
            guessed_at = reading.scalar(
                select(_guesses.updated_at).where(_guesses.user_id == user_id)
            )
        return Guess(0, login_throttle.guess_wait_seconds(guessed_at=guessed_at or now, now=now))

    def undo_guess(self, user_id: int) -> None:
        with self._database.transaction(signs_in=True) as session:
            session.execute(
                update(_guesses)
                .where(_guesses.user_id == user_id, _guesses.guesses > 0)
                .values(guesses=_guesses.guesses - 1)
            )

    def reset_guesses(self, user_id: int) -> None:
        with self._database.transaction(signs_in=True) as session:
            session.execute(delete(_guesses).where(_guesses.user_id == user_id))

    def blocked(self, now: float, limit: int = 100) -> Sequence[BlockedIp]:
        statement = (
            select(_address)
            .where(_address.blocked_until > now)
            .order_by(_address.blocked_until.desc(), _address.address)
            .limit(limit)
        )
        with self._database.reading() as session:
            return tuple(_blocked_ip(found, now) for found in session.scalars(statement))

    def count_blocked(self, now: float) -> Select[int]:
        return select(func.count()).select_from(_address).where(_address.blocked_until > now)

    def failures_against(
        self, addresses: Collection[str], now: float
    ) -> Mapping[str, Mapping[int, int]]:
        counted = select(_user.address, _user.user_id, _user.failures).where(
            _user.address.in_(addresses), _user.updated_at > login_throttle.expired_before(now)
        )
        found: dict[str, dict[int, int]] = {}
        with self._database.reading() as session:
            for address, user_id, failures in session.execute(counted):
                found.setdefault(address, {})[user_id] = failures
        return found

    def find(self, address: str, now: float) -> BlockedIp | None:
        counted = _address.updated_at > login_throttle.expired_before(now)
        against_users = select(_user.address).where(
            _user.address == address, _user.updated_at > login_throttle.expired_before(now)
        )
        with self._database.reading() as session:
            found = session.scalar(
                select(_address).where(_address.address == address, _address.failures > 0, counted)
            )
            if found is not None:
                return _blocked_ip(found, now)
            against_somebody = session.scalar(select(exists(against_users)))
        return BlockedIp(address, 0.0, 0, 0) if against_somebody else None

    def blocks_of(self, user_id: int, addresses: Collection[str], now: float) -> AccountBlocks:
        since, latest = login_throttle.guess_window(now)
        guessed = select(
            literal("").label("address"),
            literal(0.0).label("blocked_until"),
            _guesses.updated_at,
            literal(0).label("known_failures"),
            _guesses.guesses.label("failures"),
        ).where(
            _guesses.user_id == user_id,
            _guesses.guesses >= login_throttle.MAX_GUESSES,
            _guesses.updated_at > since,
            _guesses.updated_at <= latest,
        )
        blocked = select(
            _address.address,
            _address.blocked_until,
            _address.updated_at,
            _address.known_failures,
            _address.failures,
        ).where(_address.address.in_(addresses), _address.blocked_until > now)
        with self._database.reading() as session:
            rows = session.execute(union_all(guessed, blocked)).all()
        until, found = None, []
        for row in rows:
            if row.address:
                found.append(_blocked_ip(row, now))
            else:
                until = now + login_throttle.guess_wait_seconds(guessed_at=row.updated_at, now=now)
        return AccountBlocks(sorted(found, key=lambda block: -block.blocked_until), until)

    def unblock(self, address: str) -> bool:
        with self._database.transaction(signs_in=True) as session:
            of_address = session.scalars(
                delete(_address).where(_address.address == address).returning(_address.failures)
            ).all()
            of_users = session.scalars(
                delete(_user).where(_user.address == address).returning(_user.failures)
            ).all()
        return any((*of_address, *of_users))

    def eviction(self) -> str:
        return ""

    def delete_expired(self, now: float) -> int:
        with self._database.transaction(signs_in=True) as session:
            addresses = session.scalars(
                delete(_address)
                .where(
                    _address.updated_at <= login_throttle.expired_before(now),
                    _address.blocked_until <= now,
                    _address.lease_until <= now,
                )
                .returning(_address.failures)
            ).all()
            users = session.scalars(
                delete(_user)
                .where(_user.updated_at <= login_throttle.expired_before(now))
                .returning(_user.failures)
            ).all()
            guesses = session.scalars(
                delete(_guesses)
                .where(_guesses.updated_at <= login_throttle.expired_before(now))
                .returning(_guesses.guesses)
            ).all()
        return len(addresses) + len(users) + len(guesses)

    def _wait(self, address: str, now: float) -> tuple[float, bool]:
        """How long ``address`` waits, and whether its block is from before the clock went back."""
        with self._database.reading() as session:
            found = session.execute(
                select(_address.blocked_until, _address.lease_until, _address.updated_at).where(
                    _address.address == address
                )
            ).one_or_none()
        if found is None:
            return 0.0, False
        block = {"blocked_until": found.blocked_until, "counted_at": found.updated_at, "now": now}
        wait = login_throttle.wait_seconds(
            blocked_until=login_throttle.blocked_until_now(**block),
            lease_until=found.lease_until,
            now=now,
        )
        return wait, login_throttle.is_in_future(**block)


def _rebase(session: Session, address: str, now: float) -> None:
    values = {"address": address, "now": now}
    most = {
        "longest": float(login_throttle.MAX_BLOCK_SECONDS),
        "latest": now + login_throttle.CLOCK_DIFFERENCE_SECONDS,
    }
    rebased = session.execute(REBASE, {**values, **most})
    if cast("CursorResult[object]", rebased).rowcount:
        session.execute(REBASE_USERS, values)


def _count_against(session: Session, user_id: int | None, touch: Mapping[str, object]) -> int:
    if user_id is None:
        return 0
    try:
        with session.begin_nested():
            failures: int = session.execute(COUNT_USER, {**touch, "user_id": user_id}).scalar_one()
    except IntegrityError:
        # The user was deleted while the password was compared.
        return 0
    return failures


def _blocked_ip(found: models.ThrottleAddress | NamedRow, now: float) -> BlockedIp:
    until = login_throttle.blocked_until_now(
        blocked_until=found.blocked_until, counted_at=found.updated_at, now=now
    )
    return BlockedIp(found.address, until, found.known_failures, found.failures)
