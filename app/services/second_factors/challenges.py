"""Challenges for a second factor, and what follows when a person adds, proves or removes one.

Each step of a challenge is one atomic statement, so that of concurrent answers one counts.
"""

import json
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain import second_factors
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.shop.settings import StaffSecondFactor
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.authorization.register import building_block
from app.services.second_factors.stored_factors import drop_codes, read_factors

CHALLENGE_ENDED = Problem(
    "INVALID", "This sign-in expired or was already used. Sign in again.", "challenge"
)

_REQUIRED = Problem(
    "SECOND_FACTOR_REQUIRED", "Enter a code or use a passkey to finish signing in."
)


@dataclass(frozen=True, slots=True)
class PendingSession:
    """How the session begins that a challenge of a sign-in opens."""

    method: SignInMethod = SignInMethod.PASSWORD
    place: SignInPlace = SignInPlace.API
    lifetime: timedelta | None = None
    audience: str = ""


class SecondFactorRequired(Refused):
    """The first factor was right; the sign-in goes on with ``challenge``."""

    def __init__(self, challenge: second_factors.Challenge, *, for_staff: bool = False) -> None:
        super().__init__(_REQUIRED)
        self.challenge = challenge
        self.for_staff = for_staff


@building_block
def ask(
    ports: Ports,
    session: Session,
    purpose: second_factors.ChallengePurpose,
    *,
    user_id: int | None = None,
    session_id: int | None = None,
    types: tuple[second_factors.SecondFactorType, ...] = (),
    pending: PendingSession | None = None,
) -> second_factors.Challenge:
    """Store a new challenge in the transaction of ``session``; only its client gets the token."""
    now = ports.clock.now()
    token = ports.randomness.token(second_factors.CHALLENGE_TOKEN_LENGTH)
    begins = pending or PendingSession()
    session.add(
        models.SecondFactorChallenge(
            digest=second_factors.digest_of_challenge(token),
            purpose=purpose.value,
            user_id=user_id,
            session_id=session_id,
            method=begins.method.value,
            in_console=begins.place is SignInPlace.CONSOLE,
            is_hosted=begins.place is SignInPlace.HOSTED,
            lifetime=None if begins.lifetime is None else int(begins.lifetime.total_seconds()),
            audience=write_audience(begins.audience),
            created_at=now,
            expires_at=now + second_factors.CHALLENGE_LIFETIME,
        )
    )
    return second_factors.Challenge(token, now + second_factors.CHALLENGE_LIFETIME, types)


@building_block
def is_open(
    ports: Ports, token: str, *purposes: second_factors.ChallengePurpose
) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of the challenge of ``token`` for as long as it takes answers."""
    challenge = models.SecondFactorChallenge
    return (
        challenge.digest == second_factors.digest_of_challenge(token),
        challenge.purpose.in_([purpose.value for purpose in purposes]),
        challenge.expires_at > ports.clock.now(),
        challenge.failures < second_factors.MAX_CHALLENGE_FAILURES,
    )


@building_block
def place_of(stored: models.SecondFactorChallenge) -> SignInPlace:
    """Return where the challenge's session will begin, and where it is to be answered."""
    if stored.is_hosted:
        return SignInPlace.HOSTED
    return SignInPlace.CONSOLE if stored.in_console else SignInPlace.API


@building_block
def count_answer(
    ports: Ports, session: Session, purpose: second_factors.ChallengePurpose, token: str
) -> models.SecondFactorChallenge:
    """Count an answer before it is looked at, and return its challenge.

    The count goes back to what it was only when the challenge is used up by a right answer, so
    that parallel answers can't exceed ``MAX_CHALLENGE_FAILURES``. Refuses INVALID on ``challenge``
    for one that is unknown, used, expired, for another purpose, or that had its last wrong answer.
    """
    stored = models.SecondFactorChallenge
    challenge: models.SecondFactorChallenge | None = session.scalar(
        update(stored)
        .where(*is_open(ports, token, purpose))
        .values(failures=stored.failures + 1)
        .returning(stored)
    )
    if challenge is None:
        raise Refused(CHALLENGE_ENDED)
    return challenge


@building_block
def use_up(session: Session, challenge_id: int) -> None:
    """Delete an answered challenge; refuses INVALID on ``challenge`` if another answer did."""
    used = session.scalar(
        delete(models.SecondFactorChallenge)
        .where(models.SecondFactorChallenge.id == challenge_id)
        .returning(models.SecondFactorChallenge.id)
    )
    if used is None:
        raise Refused(CHALLENGE_ENDED)


@building_block
def drop_challenges(session: Session, user_id: int) -> None:
    """End all challenges of an account: its password changed, or its sessions ended.

    Its codes by email end too.
    """
    session.execute(
        delete(models.SecondFactorChallenge).where(models.SecondFactorChallenge.user_id == user_id)
    )
    session.execute(delete(models.EmailCode).where(models.EmailCode.user_id == user_id))


@building_block
def write_audience(audience: str) -> str:
    """Return what is stored of an audience: clients choose it, and every database takes ASCII."""
    return json.dumps(audience) if audience else ""


@building_block
def read_audience(stored: models.SecondFactorChallenge | models.EmailCode) -> str:
    """Return the audience of the tokens of the session that a challenge or code opens."""
    return str(json.loads(stored.audience)) if stored.audience else ""


@building_block
def add_method(
    session: Session, actor: Actor, method: second_factors.AuthenticationMethod
) -> None:
    """Note in the caller's session that its person has just added a second factor."""
    stored = session.get(models.Session, actor.session_id or 0, with_for_update=True)
    if stored is not None:
        add_factor_method(stored, method)


@building_block
def add_factor_method(
    stored: models.Session, method: second_factors.AuthenticationMethod
) -> tuple[str, ...]:
    """Note a second factor in a locked session; return its authentication methods from now on."""
    by_password = stored.origin == SessionOrigin.PASSWORD.value
    amr = second_factors.methods_with_proof(
        second_factors.read_methods(stored.amr), method, by_password=by_password
    )
    stored.amr = second_factors.write_methods(amr)
    return amr


@building_block
def count_other_sessions(ports: Ports, session: Session, actor: Actor, user_id: int) -> int:
    """Return how many sessions of the user there are in addition to the caller's."""
    record = models.Session
    others = select(func.count(record.id)).where(
        record.user_id == user_id,
        record.id != (actor.session_id or 0),
        record.expires_at > ports.clock.now(),
    )
    return session.scalar(others) or 0


LAST_FACTOR = Problem(
    "REQUIRED",
    "This shop requires a second factor for staff. Add another one before you remove this one.",
)


@building_block
def settle_removal(session: Session, user: models.User) -> None:
    """Refuse the removal of the last factor while staff need one; else drop unusable codes.

    Called in the transaction of the removal, after it, with the user's row locked: what it refuses
    (REQUIRED) is rolled back. Without another factor, recovery codes open nothing. Unfinished
    sign-ins end: one may just have been answered with what is removed.
    """
    drop_challenges(session, user.id)
    if read_factors(session, user.id).is_active:
        return
    shop = session.get_one(models.Shop, models.SHOP_ID)
    is_required = shop.staff_second_factor == StaffSecondFactor.REQUIRED.value
    if is_required and user.is_staff:
        raise Refused(LAST_FACTOR)
    drop_codes(session, user.id)
