"""Sign in to the console with a second factor or passkey, and prove one again in its session."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.second_factors import ChallengePurpose, SecondFactorType
from app.domain.sign_in.sign_in_log import SignInMethod
from app.models import UserRecord
from app.ports import Ports
from app.services.authorization.register import account_owner_only, input_decides
from app.services.console.console_sessions import ConsoleSession, console_session
from app.services.second_factors.passkey_checks import party_of
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.passkey_sign_in import (
    PasskeyChallenge,
    options_for,
    prove_passkey,
)
from app.services.sign_in.reauthentication import own_id
from app.services.sign_in.second_factor_answers import find_challenge, use_code
from app.services.sign_in.second_factor_proofs import ask_for_proof, prove
from app.services.sign_in.second_factor_sign_in import finish_with_code
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in


@dataclass(frozen=True, slots=True)
class WaitingSignIn:
    """A sign-in to the console that waits for a second factor, and the ways to answer."""

    email: str
    expires_at: datetime
    types: tuple[SecondFactorType, ...]


@dataclass(frozen=True, slots=True)
class OwnFactors:
    """The ways in which the caller can prove who they are; none without a second factor.

    ``can_use_passkey``: one of them is a passkey, and the console's address is a host name.
    """

    types: tuple[SecondFactorType, ...]
    can_use_passkey: bool


@input_decides
def show_waiting_sign_in(ports: Ports, actor: Actor, *, challenge: str) -> WaitingSignIn:
    """Return the sign-in that waits for an answer to ``challenge``.

    Refuses INVALID on ``challenge`` for one that is over.
    """
    found = find_challenge(ports, actor, challenge, ChallengePurpose.SIGN_IN, in_console=True)
    with ports.database.reading() as session:
        email = session.scalar(select(UserRecord.email).where(UserRecord.id == found.user_id))
        types = read_factors(session, found.user_id or 0).types
    return WaitingSignIn(email or "", found.expires_at, _usable(ports, actor, types))


@input_decides
def verify_code_at_console(
    ports: Ports, actor: Actor, *, challenge: str, code: str
) -> ConsoleSession:
    """Finish a sign-in to the console with a code; refuses as ``verify_second_factor`` does."""
    with logged_sign_in(ports, actor, SignInEntry(SignInMethod.PASSWORD, in_console=True)):
        found = find_challenge(ports, actor, challenge, ChallengePurpose.SIGN_IN, in_console=True)
    entered = finish_with_code(ports, actor, found, challenge, code)
    return console_session(entered.opened, entered.user)


@input_decides
def challenge_passkey_at_console(
    ports: Ports, actor: Actor, *, challenge: str
) -> PasskeyChallenge:
    """Return the options to finish a sign-in with a passkey; refuses as ``challenge_passkey``."""
    return options_for(ports, actor, challenge, in_console=True)


@account_owner_only
def show_own_factors(ports: Ports, actor: Actor) -> OwnFactors:
    """Return how the caller can prove who they are with a second factor."""
    with ports.database.reading() as session:
        types = read_factors(session, own_id(actor)).types
    usable = _usable(ports, actor, types)
    return OwnFactors(types, SecondFactorType.PASSKEY in usable)


@account_owner_only
def confirm_code_again(ports: Ports, actor: Actor, *, code: str) -> None:
    """Refuse INVALID_SECOND_FACTOR on ``code`` unless it is one of the caller's own codes.

    The session has used a second factor from then on. The fifth wrong code in a row ends it.
    """
    prove(ports, actor, partial(use_code, ports, actor, own_id(actor), code))


@account_owner_only
def challenge_own_passkey(ports: Ports, actor: Actor) -> PasskeyChallenge:
    """Return the options to prove with a passkey who is at the keyboard of the session."""
    return options_for(ports, actor, ask_for_proof(ports, actor).token)


@account_owner_only
def confirm_passkey_again(ports: Ports, actor: Actor, *, challenge: str, credential: str) -> None:
    """Refuse INVALID_SECOND_FACTOR on ``credential`` unless it is of a passkey of the caller's.

    The session has used a second factor from then on.
    """
    found = find_challenge(ports, actor, challenge, ChallengePurpose.PROOF)
    prove(
        ports, actor, partial(prove_passkey, ports, actor, found, challenge, credential), found.id
    )


def _usable(
    ports: Ports, actor: Actor, types: tuple[SecondFactorType, ...]
) -> tuple[SecondFactorType, ...]:
    """Leave out passkeys where they can't work: the console's address is an IP address."""
    works = party_of(ports, actor) is not None
    return tuple(kind for kind in types if works or kind is not SecondFactorType.PASSKEY)
