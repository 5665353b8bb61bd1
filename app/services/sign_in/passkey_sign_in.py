"""Sign in with a passkey: alone, or as the second factor after a password."""

from dataclasses import dataclass, field
from functools import partial

from app.domain.authorization.actor import Actor
from app.domain.second_factors import (
    AuthenticationMethod,
    ChallengePurpose,
    SecondFactorType,
    methods_of_passkey,
    methods_of_sign_in,
)
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace
from app.domain.values.errors import Problem
from app.models import SecondFactorChallengeRecord
from app.ports import Ports
from app.services.authorization.register import building_block, input_decides
from app.services.authorization.shop_state import load_shop_state
from app.services.second_factors.challenges import PendingSession, ask
from app.services.second_factors.passkey_checks import (
    PasskeyQuestion,
    UsedPasskey,
    check_passkey,
    passkey_options,
)
from app.services.sign_in.second_factor_sign_in import (
    Proved,
    WrongAnswer,
    count_stored_answer,
    find_challenge,
    finish,
    first_method,
    prove,
    sign,
    sign_again,
)
from app.services.sign_in.sessions import PasswordSignIn, require_password_login
from app.services.sign_in.tokens import TokenPair
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in

_REFUSED = Problem(
    "INVALID_SECOND_FACTOR",
    "This passkey wasn't accepted. Try again, or sign in another way.",
    "credential",
)
_ANSWERED = (
    ChallengePurpose.SIGN_IN,
    ChallengePurpose.PASSKEY_SIGN_IN,
    ChallengePurpose.PROOF,
)


@dataclass(frozen=True, slots=True)
class PasskeyChallenge:
    """A challenge, and the options (JSON) with which a browser answers it."""

    token: str = field(repr=False)
    options: str


@input_decides
def challenge_passkey(
    ports: Ports, actor: Actor, *, challenge: str | None = None, audience: str = ""
) -> PasskeyChallenge:
    """Return the options to answer ``challenge`` with a passkey (`passkeyChallengeCreate`).

    Without ``challenge`` they are for a sign-in with a passkey alone: they name no passkey, so
    that they don't tell who has one. Refuses INVALID on ``challenge`` as ``verify_second_factor``
    does; INVALID on an IP address, where passkeys don't work; DISABLED_AUTHENTICATION_METHOD, but
    not for a challenge of ``ask_for_proof``.
    """
    if challenge is None:
        return ask_for_passkey(ports, actor, PendingSession(audience=audience))
    return options_for(ports, actor, challenge)


@building_block
def ask_for_passkey(ports: Ports, actor: Actor, begins: PendingSession) -> PasskeyChallenge:
    """Return the options for a sign-in with a passkey alone; refuses as ``challenge_passkey``."""
    require_password_login(load_shop_state(ports).switches)
    purpose = ChallengePurpose.PASSKEY_SIGN_IN
    pending = PendingSession(SignInMethod.PASSKEY, begins.place, begins.lifetime, begins.audience)
    with ports.database.transaction() as session:
        token = ask(ports, session, purpose, pending=pending).token
        session.flush()
        return PasskeyChallenge(token, passkey_options(ports, actor, session, purpose, token))


@building_block
def options_for(
    ports: Ports, actor: Actor, challenge: str, *, place: SignInPlace = SignInPlace.API
) -> PasskeyChallenge:
    """Return the options that name the passkeys of the account that ``challenge`` asks."""
    purposes = (ChallengePurpose.SIGN_IN, ChallengePurpose.PROOF)
    found = find_challenge(ports, actor, challenge, *purposes, place=place)
    purpose = ChallengePurpose(found.purpose)
    if purpose is ChallengePurpose.SIGN_IN:
        require_password_login(load_shop_state(ports).switches)
    with ports.database.transaction() as session:
        options = passkey_options(ports, actor, session, purpose, challenge)
    return PasskeyChallenge(challenge, options)


@input_decides
def verify_passkey(ports: Ports, actor: Actor, *, challenge: str, credential: str) -> TokenPair:
    """Return tokens for a passkey's answer to ``challenge_passkey`` (`passkeyVerify`).

    A passkey is a local credential: its session is like one that began with a password. Refuses
    as ``verify_second_factor`` does, with INVALID_SECOND_FACTOR on ``credential``.
    """
    with logged_sign_in(ports, actor, SignInEntry(SignInMethod.PASSKEY)):
        found = find_challenge(ports, actor, challenge, *_ANSWERED)
    if found.purpose == ChallengePurpose.PROOF.value:
        check = partial(prove_passkey, ports, actor, found, challenge, credential)
        return sign_again(ports, actor, found, prove(ports, actor, check, found.id))
    entered = _finish_with_passkey(ports, actor, found, challenge, credential)
    return sign(ports, actor, found, entered)


@building_block
def sign_in_with_passkey(
    ports: Ports,
    actor: Actor,
    *,
    challenge: str,
    credential: str,
    place: SignInPlace = SignInPlace.API,
) -> PasswordSignIn:
    """Open the session of ``ask_for_passkey``, or one whose password was right before.

    Refuses as ``verify_passkey`` does.
    """
    purposes = (ChallengePurpose.SIGN_IN, ChallengePurpose.PASSKEY_SIGN_IN)
    entry = SignInEntry(SignInMethod.PASSKEY, in_console=place is SignInPlace.CONSOLE)
    with logged_sign_in(ports, actor, entry):
        found = find_challenge(ports, actor, challenge, *purposes, place=place)
    return _finish_with_passkey(ports, actor, found, challenge, credential)


def _finish_with_passkey(
    ports: Ports, actor: Actor, found: SecondFactorChallengeRecord, token: str, credential: str
) -> PasswordSignIn:
    """Open the session of a sign-in whose challenge a passkey answers."""

    def check() -> Proved:
        used = _answer_with_passkey(ports, actor, found, token, credential)
        is_alone = found.user_id is None
        amr = (
            methods_of_passkey(used.method)
            if is_alone
            else methods_of_sign_in(used.method, first_method(found))
        )
        factor = None if is_alone else SecondFactorType.PASSKEY
        return Proved(used.user_id, amr, used.id, factor)

    return finish(ports, actor, found, check)


@building_block
def prove_passkey(
    ports: Ports, actor: Actor, found: SecondFactorChallengeRecord, token: str, credential: str
) -> AuthenticationMethod:
    """Return the method of the passkey that answers a proof; raises ``WrongAnswer``."""
    return _answer_with_passkey(ports, actor, found, token, credential).method


def _answer_with_passkey(
    ports: Ports, actor: Actor, found: SecondFactorChallengeRecord, token: str, credential: str
) -> UsedPasskey:
    """Return the passkey that gave ``credential``; raises ``WrongAnswer`` on ``credential``.

    It isn't counted as a guess at the account's codes: a passkey can't be guessed.
    """
    counted = count_stored_answer(ports, found, token)
    question = PasskeyQuestion(counted.passkey_challenge, counted.user_id, counted.id)
    used = check_passkey(ports, actor, question, credential)
    if used is None:
        raise WrongAnswer(_REFUSED)
    return used
