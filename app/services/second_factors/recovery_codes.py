"""An account's set of recovery codes, stored as password hashes."""

from collections.abc import Sequence

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.domain.second_factors import (
    RECOVERY_BYTES,
    make_recovery_codes,
    selector_of,
)
from app.models import RecoveryCodeRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.second_factors.stored_factors import read_factors

HashedCode = tuple[str, str]
"""A recovery code and its hash."""


@part
def hash_new_codes(ports: Ports) -> list[HashedCode]:
    """Make a set of recovery codes; never inside a transaction, because hashing is slow."""
    codes = make_recovery_codes(ports.randomness.secret(RECOVERY_BYTES))
    return [(code, ports.passwords.hash(code)) for code in codes]


@part
def hash_first_codes(ports: Ports, user_id: int) -> list[HashedCode]:
    """Make recovery codes for an account that is about to get a factor and has none; else none."""
    with ports.database.reading() as session:
        has_codes = read_factors(session, user_id).recovery_codes > 0
    return [] if has_codes else hash_new_codes(ports)


@part
def store_first_codes(
    ports: Ports, session: Session, user_id: int, codes: Sequence[HashedCode]
) -> tuple[str, ...]:
    """Store what ``hash_first_codes`` made, and return the codes, to be shown once.

    Returns none if the account got codes meanwhile. The user's row is locked.
    """
    if not codes or read_factors(session, user_id).recovery_codes:
        return ()
    return replace_codes(ports, session, user_id, codes)


@part
def replace_codes(
    ports: Ports, session: Session, user_id: int, codes: Sequence[HashedCode]
) -> tuple[str, ...]:
    """Store ``codes`` instead of those the account has, and return them, to be shown once."""
    drop_codes(session, user_id)
    now = ports.clock.now()
    session.add_all(
        RecoveryCodeRecord(
            user_id=user_id, selector=selector_of(code), code_hash=code_hash, created_at=now
        )
        for code, code_hash in codes
    )
    session.flush()
    return tuple(code for code, _ in codes)


@part
def drop_codes(session: Session, user_id: int) -> None:
    """Delete all recovery codes of an account."""
    session.execute(delete(RecoveryCodeRecord).where(RecoveryCodeRecord.user_id == user_id))
