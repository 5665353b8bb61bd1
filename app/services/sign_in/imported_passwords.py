"""Imported passwords: replaced at the first sign-in; refusals take as long for every account."""

from datetime import datetime

from sqlalchemy import func, literal, select, text, update
from sqlalchemy.orm import Session

from app.domain.imports.runs import digest_of_text
from app.domain.passwords.imported_hashes import ImportedPasswordState, UnusableHash, parse_hash
from app.models import ImportedPasswordRecord, UserRecord
from app.models.imports import WAITING
from app.ports import Ports
from app.ports.database import account
from app.ports.passwords import Match, PasswordsBusy
from app.ports.process_cache import ImportedCost
from app.services.authorization.register import part

_SAMPLE = 200
"""Hashes that are looked at from either end, the oldest accounts and the newest."""

_GOOD_FOR = 60.0
"""Seconds after which they are looked at again."""


@part
def imported_seconds(ports: Ports) -> float:
    """Return what checking an imported password costs, 0 if none waits for its first sign-in.

    For ``PasswordHasher.verify`` wherever someone without a session waits for a refusal. It is the
    most expensive one of a sample, as each process last saw it.
    """
    now = ports.clock.timestamp()
    known = ports.cache.imported_cost
    if known is None or abs(now - known.read_at) >= _GOOD_FOR:
        known = ImportedCost(_read_seconds(ports), now)
        ports.cache.imported_cost = known
    return known.seconds


@part
def renew_hash(ports: Ports, user_id: int, stored: str, password: str, match: Match) -> None:
    """Replace ``stored``, which matches ``password``, unless a new hash would be like it.

    A new one is ours, at today's cost, of the password's NFC form. The next sign-in does it if the
    hasher is busy. Never inside a transaction.
    """
    if not ports.passwords.needs_rehash(stored, match):
        return
    try:
        renewed = ports.passwords.hash(password)
    except PasswordsBusy:
        return
    unchanged = (UserRecord.id == user_id, UserRecord.password_hash == stored)
    with ports.database.transaction(account(user_id)) as session:
        locked = select(UserRecord.id).where(*unchanged, UserRecord.is_active)
        if session.scalar(locked.with_for_update()) is None:
            return
        session.execute(
            update(UserRecord).where(UserRecord.id == user_id).values(password_hash=renewed)
        )
        _follow(session, user_id, stored, renewed, ports.clock.now())


@part
def leave_imported_password(session: Session, user_id: int) -> None:
    """Record that the user has another password, or none, than was imported."""
    session.execute(
        update(ImportedPasswordRecord)
        .where(ImportedPasswordRecord.user_id == user_id)
        .values(state=ImportedPasswordState.CHANGED.value)
    )


def _follow(session: Session, user_id: int, stored: str, renewed: str, now: datetime) -> None:
    """Keep the digest of an imported password in step, so that it doesn't count as edited."""
    imported = ImportedPasswordRecord
    session.execute(
        update(imported)
        .where(imported.user_id == user_id, imported.written_digest == digest_of_text(stored))
        .values(
            state=ImportedPasswordState.REPLACED.value,
            written_digest=digest_of_text(renewed),
            replaced_at=func.coalesce(
                imported.replaced_at, literal(now, imported.replaced_at.type)
            ),
        )
    )


def _read_seconds(ports: Ports) -> float:
    imported = ImportedPasswordRecord
    waiting = (
        select(UserRecord.password_hash)
        .join(imported, imported.user_id == UserRecord.id)
        .where(text(WAITING))
        .limit(_SAMPLE)
    )
    with ports.database.reading() as session:
        hashes = session.scalars(waiting.order_by(imported.user_id.desc())).all()
        if len(hashes) == _SAMPLE:
            hashes = [*hashes, *session.scalars(waiting.order_by(imported.user_id))]
    return max(map(_seconds, hashes), default=0)


def _seconds(password_hash: str | None) -> float:
    try:
        return parse_hash(password_hash or "").seconds
    except UnusableHash:
        return 0
