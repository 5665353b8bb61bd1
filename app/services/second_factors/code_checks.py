"""Store recovery codes, and check codes: of authenticator apps or recovery, each accepted once.

Callers limit guesses; nothing is counted here.
"""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.keys import authenticator_app_purpose
from app.domain.mails.mail import MailKind
from app.domain.second_factors import (
    RECOVERY_BYTES,
    SecondFactorType,
    find_step,
    make_recovery_codes,
    read_one_time_code,
    read_recovery_code,
    selector_of,
)
from app.models import AuthenticatorAppRecord, RecoveryCodeRecord, UserRecord
from app.ports import Ports
from app.ports.database import account
from app.ports.keys import DecryptionError
from app.services.authorization.register import building_block
from app.services.outbox.security_notices import notify
from app.services.second_factors.stored_factors import read_factors

HashedCode = tuple[str, str]
"""A recovery code and its hash."""


@building_block
def hash_new_codes(ports: Ports) -> list[HashedCode]:
    """Make a set of recovery codes; never inside a transaction, because hashing is slow."""
    codes = make_recovery_codes(ports.randomness.secret(RECOVERY_BYTES))
    return [(code, ports.passwords.hash(code)) for code in codes]


@building_block
def hash_first_codes(ports: Ports, user_id: int) -> list[HashedCode]:
    """Make recovery codes for an account that is about to get a factor and has none; else none."""
    with ports.database.reading() as session:
        has_codes = read_factors(session, user_id).recovery_codes > 0
    return [] if has_codes else hash_new_codes(ports)


@building_block
def store_first_codes(
    ports: Ports, session: Session, user_id: int, codes: Sequence[HashedCode]
) -> tuple[str, ...]:
    """Store what ``hash_first_codes`` made, and return the codes, to be shown once.

    Returns none if the account got codes meanwhile. The user's row is locked.
    """
    if not codes or read_factors(session, user_id).recovery_codes:
        return ()
    return replace_codes(ports, session, user_id, codes)


@building_block
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


@building_block
def drop_codes(session: Session, user_id: int) -> None:
    """Delete all recovery codes of an account."""
    session.execute(delete(RecoveryCodeRecord).where(RecoveryCodeRecord.user_id == user_id))


@building_block
def check_code(ports: Ports, actor: Actor, user_id: int, code: str) -> SecondFactorType | None:
    """Accept a code of the user's authenticator app or a recovery code, and use it up.

    Returns what the code is of, ``None`` for a wrong or used one. Never inside a transaction:
    comparing a recovery code is slow by design. Of concurrent calls with one code, one gets it
    accepted. ``actor`` is the caller, who can be anonymous while ``user_id`` signs in. The account
    gets a mail when a recovery code is used.
    """
    one_time_code = read_one_time_code(code)
    if one_time_code:
        accepted = _accept_one_time_code(ports, user_id, one_time_code)
        return SecondFactorType.AUTHENTICATOR_APP if accepted else None
    recovery_code = read_recovery_code(code)
    if recovery_code and _accept_recovery_code(ports, actor, user_id, recovery_code):
        return SecondFactorType.RECOVERY_CODES
    return None


def _accept_one_time_code(ports: Ports, user_id: int, code: str) -> bool:
    app, now = AuthenticatorAppRecord, ports.clock.now()
    query = select(app.secret, app.last_step).where(
        app.user_id == user_id, app.confirmed_at.is_not(None)
    )
    with ports.database.reading() as session:
        stored = session.execute(query).one_or_none()
    if stored is None or not stored.secret:
        return False  # there is none, or it was reported
    try:
        secret = ports.encryption.decrypt(authenticator_app_purpose(user_id), stored.secret)
    except DecryptionError:
        return False  # SECRET_KEY was lost: `flask doctor` reports it, and recovery codes work
    code_at = partial(ports.authenticator_apps.code_at, secret)
    step = find_step(code, now.timestamp(), stored.last_step, code_at)
    if step is None:
        return False
    accepted = (
        update(app)
        .where(
            app.user_id == user_id,
            app.confirmed_at.is_not(None),
            app.secret == stored.secret,
            app.last_step < step,
        )
        .values(last_step=step, last_used_at=now)
        .returning(app.user_id)
    )
    with ports.database.transaction(account(user_id)) as session:
        return session.scalar(accepted) is not None


def _accept_recovery_code(ports: Ports, actor: Actor, user_id: int, code: str) -> bool:
    record = RecoveryCodeRecord
    unused = (
        record.user_id == user_id,
        record.selector == selector_of(code),
        record.used_at.is_(None),
    )
    with ports.database.reading() as session:
        code_hash = session.scalar(select(record.code_hash).where(*unused))
    # Without a hash it takes just as long, so that time doesn't tell which codes there are.
    if not ports.passwords.verify_sign_in(code_hash, code):
        return False
    accepted = (
        update(record)
        .where(*unused, record.code_hash == code_hash)
        .values(used_at=ports.clock.now())
        .returning(record.user_id)
    )
    with ports.database.transaction(account(user_id)) as session:
        # The account before its codes, as where they are replaced or reset.
        session.get(UserRecord, user_id, with_for_update=True)
        if session.scalar(accepted) is None:
            return False
        left = {"left": str(read_factors(session, user_id).recovery_codes)}
        notify(ports, actor, session, user_id, MailKind.RECOVERY_CODE_USED, left)
        return True
