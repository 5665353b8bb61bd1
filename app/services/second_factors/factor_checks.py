"""Check answers to a challenge: codes, each accepted once, and passkeys; store recovery codes.

Codes are of authenticator apps or recovery. Callers limit guesses; nothing is counted here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain import second_factors
from app.domain.authorization.actor import Actor
from app.domain.keys import authenticator_app_purpose
from app.domain.mails.mail import MailKind
from app.domain.mails.values import passkey_values
from app.domain.urls.web_urls import RelyingParty, relying_party
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.ports.database import account
from app.ports.keys import DecryptionError
from app.ports.second_factors import KnownPasskey, PasskeyRefused
from app.services.audit.log import record, user_change
from app.services.authorization.register import building_block
from app.services.lists.paging import columns_for, record_from
from app.services.outbox.security_notices import notify
from app.services.second_factors.challenges import CHALLENGE_ENDED, is_open
from app.services.second_factors.stored_factors import PASSKEY, drop_codes, read_factors

HashedCode = tuple[str, str]
"""A recovery code and its hash."""


@building_block
def hash_new_codes(ports: Ports) -> list[HashedCode]:
    """Make a set of recovery codes; never inside a transaction, because hashing is slow."""
    codes = second_factors.make_recovery_codes(
        ports.randomness.secret(second_factors.RECOVERY_BYTES)
    )
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
        models.RecoveryCode(
            user_id=user_id,
            selector=second_factors.selector_of(code),
            code_hash=code_hash,
            created_at=now,
        )
        for code, code_hash in codes
    )
    session.flush()
    return tuple(code for code, _ in codes)


@building_block
def check_code(
    ports: Ports, actor: Actor, user_id: int, code: str
) -> second_factors.SecondFactorType | None:
    """Accept a code of the user's authenticator app or a recovery code, and use it up.

    Returns what the code is of, ``None`` for a wrong or used one. Never inside a transaction:
    comparing a recovery code is slow by design. Of concurrent calls with one code, one gets it
    accepted. ``actor`` is the caller, who can be anonymous while ``user_id`` signs in. The account
    gets a mail when a recovery code is used.
    """
    one_time_code = second_factors.read_one_time_code(code)
    if one_time_code:
        accepted = _accept_one_time_code(ports, user_id, one_time_code)
        return second_factors.SecondFactorType.AUTHENTICATOR_APP if accepted else None
    recovery_code = second_factors.read_recovery_code(code)
    if recovery_code and _accept_recovery_code(ports, actor, user_id, recovery_code):
        return second_factors.SecondFactorType.RECOVERY_CODES
    return None


def _accept_one_time_code(ports: Ports, user_id: int, code: str) -> bool:
    app, now = models.AuthenticatorApp, ports.clock.now()
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
    step = second_factors.find_step(code, now.timestamp(), stored.last_step, code_at)
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
    record = models.RecoveryCode
    unused = (
        record.user_id == user_id,
        record.selector == second_factors.selector_of(code),
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
        session.get(models.User, user_id, with_for_update=True)
        if session.scalar(accepted) is None:
            return False
        left = {"left": str(read_factors(session, user_id).recovery_codes)}
        notify(ports, actor, session, user_id, MailKind.RECOVERY_CODE_USED, left)
        return True


RANDOM_LENGTH: Final = 64
"""Letters and digits of challenges and user handles, which are base64url of 48 bytes."""

NO_PASSKEYS = Problem(
    "INVALID",
    "Passkeys don't work on an IP address. Open this page by its host name, such as "
    "http://localhost:8000.",
)


@dataclass(frozen=True, slots=True)
class UsedPasskey:
    """A passkey that answered right, and its method in ``amr``: "hwk", or "swk" if synced."""

    id: int
    user_id: int
    method: second_factors.AuthenticationMethod


@dataclass(frozen=True, slots=True)
class _Passkey:
    id: int
    user_id: int
    user_handle: str
    public_key: str
    is_synced: bool
    name: str


@building_block
def party_of(ports: Ports, actor: Actor) -> RelyingParty | None:
    """Return for which host the caller's passkeys are made; ``None`` on an IP address."""
    settings = ports.configuration
    return relying_party(actor.issuer, settings.passkey_rp_id, settings.passkey_origins)


@building_block
def require_party(ports: Ports, actor: Actor) -> RelyingParty:
    """Return what ``party_of`` does; refuses INVALID on an IP address."""
    party = party_of(ports, actor)
    if party is None:
        raise Refused(NO_PASSKEYS)
    return party


@building_block
def passkey_options(
    ports: Ports,
    actor: Actor,
    session: Session,
    purpose: second_factors.ChallengePurpose,
    token: str,
) -> str:
    """Return the options (JSON) with which a browser answers the challenge of ``token``.

    They name the passkeys of the challenge's account; those of a sign-in by a passkey alone name
    none. Asking again ends the options before. Refuses CHALLENGE_ENDED as ``count_answer`` does,
    and for a challenge of another session; INVALID on an IP address.
    """
    party = require_party(ports, actor)
    random = ports.randomness.token(RANDOM_LENGTH)
    user_id = store_random(ports, actor, session, purpose, token, random)
    known = () if user_id is None else known_passkeys(session, user_id)
    return ports.passkeys.request_options(party, random, known)


@building_block
def store_random(
    ports: Ports,
    actor: Actor,
    session: Session,
    purpose: second_factors.ChallengePurpose,
    token: str,
    random: str,
) -> int | None:
    """Store the ``random`` challenge of new options; return whose passkey is asked for, if known.

    Refuses CHALLENGE_ENDED as ``passkey_options`` does.
    """
    stored = models.SecondFactorChallenge
    is_own = or_(stored.session_id.is_(None), stored.session_id == actor.session_id)
    asked = session.execute(
        update(stored)
        .where(*is_open(ports, token, purpose), is_own)
        .values(passkey_challenge=random)
        .returning(stored.user_id)
    ).one_or_none()
    if asked is None:
        raise Refused(CHALLENGE_ENDED)
    user_id: int | None = asked.user_id
    return user_id


@building_block
def known_passkeys(session: Session, user_id: int) -> Sequence[KnownPasskey]:
    """Return an account's passkeys as a browser finds them."""
    rows = session.execute(
        select(models.Passkey.credential_id, models.Passkey.transports)
        .where(models.Passkey.user_id == user_id)
        .order_by(models.Passkey.id)
    )
    return [KnownPasskey(row.credential_id, tuple(row.transports.split())) for row in rows]


@building_block
def check_passkey(
    ports: Ports, actor: Actor, asked: models.SecondFactorChallenge, answer: str
) -> UsedPasskey | None:
    """Return the passkey that gave ``answer`` (JSON), ``None`` if it isn't a right one.

    Right are the answers to the options of ``asked`` alone, from one of Latchkey's pages, with the
    person verified, by a passkey of its account; without an account the passkey says who it is.
    One whose counter hasn't grown is refused too: it was cloned (WebAuthn, section 6.1.1). Stores
    the counter and time of use. Never inside a transaction. Of concurrent calls with one answer
    the first counts, the others are refused CHALLENGE_ENDED.
    """
    party = party_of(ports, actor)
    if party is None or not asked.passkey_challenge:
        return None
    try:
        passkey = _find(ports, asked, answer)
        challenge, public_key = asked.passkey_challenge, passkey.public_key
        used = ports.passkeys.verify_use(party, challenge, public_key, answer)
    except PasskeyRefused:
        return None
    if used.is_synced != passkey.is_synced:
        return None  # this never changes (WebAuthn, section 6.1.3)
    if not _store_use(ports, asked, passkey, used.sign_count):
        _report_clone(ports, actor, passkey)
        return None
    return UsedPasskey(passkey.id, passkey.user_id, method_of(is_synced=passkey.is_synced))


@building_block
def method_of(*, is_synced: bool) -> second_factors.AuthenticationMethod:
    """Return the value of ``amr`` for a passkey: is it on one device, or copied by software."""
    methods = second_factors.AuthenticationMethod
    return methods.SOFTWARE_KEY if is_synced else methods.HARDWARE_KEY


def _find(ports: Ports, asked: models.SecondFactorChallenge, answer: str) -> _Passkey:
    claim = ports.passkeys.read_claim(answer)
    query = select(*columns_for(_Passkey, models.Passkey))
    named = models.Passkey.credential_id == claim.credential_id
    with ports.database.reading() as session:
        row = session.execute(query.where(named)).one_or_none()
    if row is None or not row.public_key:
        raise PasskeyRefused("unknown or reported passkey")
    passkey = record_from(_Passkey, row)
    if asked.user_id not in (None, passkey.user_id):
        raise PasskeyRefused("passkey of another account")
    if claim.user_handle != passkey.user_handle and (claim.user_handle or asked.user_id is None):
        raise PasskeyRefused("user handle of another account")
    return passkey


def _store_use(
    ports: Ports, asked: models.SecondFactorChallenge, passkey: _Passkey, sign_count: int
) -> bool:
    """Store the counter and the time; false if the counter hasn't grown since the last use.

    Refuses CHALLENGE_ENDED if the challenge was answered meanwhile: an answer that is sent twice
    comes with the same counter, but from no other authenticator.
    """
    stored_challenge = models.SecondFactorChallenge
    random, counter = stored_challenge.passkey_challenge, models.Passkey.sign_count
    with ports.database.transaction(account(passkey.user_id)) as session:
        stored = session.scalar(
            update(models.Passkey)
            .where(
                models.Passkey.id == passkey.id,
                counter < sign_count if sign_count else counter == 0,
            )
            .values(sign_count=sign_count, last_used_at=ports.clock.now())
            .returning(models.Passkey.id)
        )
        is_first = session.scalar(
            update(stored_challenge)
            .where(stored_challenge.id == asked.id, random == asked.passkey_challenge)
            .values(passkey_challenge="")
            .returning(stored_challenge.id)
        )
        if is_first is None:
            raise Refused(CHALLENGE_ENDED)
    return stored is not None


def _report_clone(ports: Ports, actor: Actor, passkey: _Passkey) -> None:
    with ports.database.transaction(account(passkey.user_id)) as session:
        user = session.get(models.User, passkey.user_id, with_for_update=True)
        if user is None:
            return  # the account was deleted meanwhile, with its passkeys
        after = {"passkey": passkey.name}
        record(ports, actor, session, user_change("second_factor.cloned", user, after=after))
        values = {**passkey_values(passkey.name), PASSKEY: str(passkey.id)}
        notify(ports, actor, session, user.id, MailKind.PASSKEY_COPIED, values)
