"""Finish a sign-in with a second factor, prove one in a session, or sign in with a passkey alone.

A challenge takes ``MAX_FAILURES`` answers, an account ``MAX_GUESSES`` wrong codes in a row; each
is counted before it is looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import models
from app.domain import second_factors
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import read_grant
from app.domain.mails.mail import MailKind
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace
from app.domain.sign_in.tokens import CSRF_TOKEN_LENGTH
from app.domain.values.errors import Problem, Refused, TokenFault, TokenRejected
from app.ports import Ports
from app.ports.database import Subject, SubjectKind, account
from app.ports.throttle import ThrottleUnavailable
from app.services.authorization.register import account_owner_only, building_block, input_decides
from app.services.authorization.session_rights import find_session, switches_of
from app.services.authorization.shop_state import load_shop_state
from app.services.outbox.security_notices import notify
from app.services.second_factors import challenges
from app.services.second_factors.factor_checks import (
    UsedPasskey,
    check_code,
    check_passkey,
    passkey_options,
)
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in import sessions
from app.services.sign_in.login_throttle import UNCOUNTABLE, attempt, count_guess
from app.services.sign_in.reauthentication import end_current_session, own_id
from app.services.sign_in.tokens import TokenPair, audience_of, sign_pair, verify_argument_token
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in

_TOO_MANY = Problem(
    "LOGIN_ATTEMPT_DELAYED",
    "Too many incorrect codes. Try again in {count} minute.",
    plural="Too many incorrect codes. Try again in {count} minutes.",
)


class WrongAnswer(Refused):
    """The code or passkey isn't right (INVALID_SECOND_FACTOR).

    ``is_last_guess``: the account's codes can't be guessed further for now.
    """

    def __init__(self, problem: Problem, *, is_last_guess: bool = False) -> None:
        super().__init__(problem)
        self.is_last_guess = is_last_guess


@building_block
def find_challenge(
    ports: Ports,
    actor: Actor,
    token: str,
    *purposes: second_factors.ChallengePurpose,
    place: SignInPlace = SignInPlace.API,
) -> models.SecondFactorChallenge:
    """Return the challenge of ``token`` if it can be answered here by ``actor``.

    Refuses CHALLENGE_ENDED for one that is unknown or over, is for another purpose, belongs to the
    other of API, console and hosted pages, or to another session than the actor's own.
    """
    stored = models.SecondFactorChallenge
    with ports.database.reading() as session:
        found: models.SecondFactorChallenge | None = session.scalar(
            select(stored).where(
                *challenges.is_open(ports, token, *purposes),
                stored.in_console.is_(place is SignInPlace.CONSOLE),
                stored.is_hosted.is_(place is SignInPlace.HOSTED),
            )
        )
    if found is None or not _can_answer(actor, found):
        raise Refused(challenges.CHALLENGE_ENDED)
    return found


def _answer_with_code(
    ports: Ports, actor: Actor, found: models.SecondFactorChallenge, token: str, code: str
) -> second_factors.SecondFactorType:
    """Return what a right ``code`` of the challenge's account is of; raises as ``use_code``.

    Never inside a transaction, and once per request.
    """
    if found.user_id is None:
        raise Refused(challenges.CHALLENGE_ENDED)  # a passkey alone says who it is
    return use_code(ports, actor, found.user_id, code, challenge=(found, token))


@building_block
def use_code(
    ports: Ports,
    actor: Actor,
    user_id: int,
    code: str,
    *,
    challenge: tuple[models.SecondFactorChallenge, str] | None = None,
) -> second_factors.SecondFactorType:
    """Use up a code of the account's authenticator app, or a recovery code; return which.

    Raises ``WrongAnswer`` on ``code``; refuses LOGIN_ATTEMPT_DELAYED for an hour after
    ``MAX_GUESSES`` wrong ones in a row, of which the owner gets a mail. The count goes on until
    ``reset_guesses``: a right password doesn't reset it. Never inside a transaction.
    """
    try:
        number = count_guess(ports, user_id, _TOO_MANY)
        try:
            left = MAX_GUESSES - number
            if challenge is not None:
                failures = _count_stored_answer(ports, *challenge).failures
                left = min(left, second_factors.MAX_CHALLENGE_FAILURES - failures)
            used = check_code(ports, actor, user_id, code)
        except Exception:
            ports.throttle.undo_guess(user_id)  # nothing was compared
            raise
    except ThrottleUnavailable as error:
        raise Refused(UNCOUNTABLE) from error
    if used is None:
        is_last_guess = number >= MAX_GUESSES
        if is_last_guess:
            with ports.database.transaction() as session:
                notify(ports, actor, session, user_id, MailKind.INCORRECT_CODES)
        raise WrongAnswer(
            incorrect_code("INVALID_SECOND_FACTOR", left), is_last_guess=is_last_guess
        )
    return used


def _count_stored_answer(
    ports: Ports, found: models.SecondFactorChallenge, token: str
) -> models.SecondFactorChallenge:
    """Count an answer in a transaction, before it is looked at."""
    with ports.database.transaction(Subject(SubjectKind.SESSION, found.id)) as session:
        return challenges.count_answer(
            ports, session, second_factors.ChallengePurpose(found.purpose), token
        )


def _can_answer(actor: Actor, found: models.SecondFactorChallenge) -> bool:
    """Whether a challenge of a session comes back in that session, from its owner."""
    if found.session_id is None:
        return True
    return actor.is_account_owner and actor.session_id == found.session_id


@building_block
def incorrect_code(code: str, left: int) -> Problem:
    """Return the problem with an incorrect code, after which so many attempts are ``left``."""
    if left <= 0:
        return Problem(code, "Incorrect code. No attempts are left.", "code")
    return Problem(
        code,
        "Incorrect code. {count} attempt left.",
        "code",
        plural="Incorrect code. {count} attempts left.",
        values={"count": left},
    )


NO_SESSION = Problem(
    "INVALID",
    "This access token is your identity provider's. Sign in again there with a second factor.",
)
_NO_FACTOR = Problem(
    "NOT_FOUND", "Your account has no second factor. Add one in the console, on your account page."
)


@account_owner_only
def ask_for_proof(ports: Ports, actor: Actor, *, token: str = "") -> second_factors.Challenge:
    """Return a challenge that the caller answers in this session (`secondFactorChallengeCreate`).

    It takes the place of the session's earlier one. ``token`` is the caller's access token: the
    new tokens are for the same audience. Refuses INVALID for a provider's own token,
    which has no session here, and NOT_FOUND for an account without a second factor.
    """
    user_id = own_id(actor)
    if actor.session_id is None:
        raise Refused(NO_SESSION)
    audience = audience_of(verify_argument_token(ports, actor, token, "").claims) if token else ""
    with ports.database.transaction() as session:
        # The account before its session and challenges, as where they end.
        session.get(models.User, user_id, with_for_update=True)
        if session.get(models.Session, actor.session_id, with_for_update=True) is None:
            raise TokenRejected(TokenFault.INVALID)  # ended since this request began
        types = read_factors(session, user_id).types
        if not types:
            raise Refused(_NO_FACTOR)
        session.execute(
            delete(models.SecondFactorChallenge).where(
                models.SecondFactorChallenge.session_id == actor.session_id,
                models.SecondFactorChallenge.purpose
                == second_factors.ChallengePurpose.PROOF.value,
            )
        )
        return challenges.ask(
            ports,
            session,
            second_factors.ChallengePurpose.PROOF,
            user_id=user_id,
            session_id=actor.session_id,
            types=types,
            pending=challenges.PendingSession(audience=audience),
        )


@building_block
def prove(
    ports: Ports,
    actor: Actor,
    check: Callable[[], second_factors.AuthenticationMethod],
    challenge_id: int | None = None,
) -> sessions.OpenedSession:
    """Note the second factor that ``check`` finds in the caller's session; use up the challenge.

    Returns the session for new tokens. Raises ``WrongAnswer`` as ``check`` does; the last wrong
    code that the account has left ends the session, in which someone guesses. Never inside a
    transaction.
    """
    user_id, session_id = own_id(actor), actor.session_id
    if session_id is None:
        raise Refused(NO_SESSION)
    try:
        method = check()
        ports.throttle.reset_guesses(user_id)
    except WrongAnswer as wrong:
        if wrong.is_last_guess:
            end_current_session(ports, actor, f"{MAX_GUESSES} incorrect codes in a row.")
        raise
    except ThrottleUnavailable as error:
        raise Refused(UNCOUNTABLE) from error
    with ports.database.transaction() as session:
        # The session before its challenge: a session that ends takes its challenges along.
        stored = session.get(models.Session, session_id, with_for_update=True)
        if stored is None:
            raise Refused(challenges.CHALLENGE_ENDED)
        if challenge_id is not None:
            challenges.use_up(session, challenge_id)
        return _raise(ports, stored, method)


def _raise(
    ports: Ports, stored: models.Session, method: second_factors.AuthenticationMethod
) -> sessions.OpenedSession:
    """Add ``method`` to the session.

    Where the provider gave no refresh token, the session gets none here either.
    """
    origin = SessionOrigin(stored.origin)
    amr = challenges.add_factor_method(stored, method)
    csrf_token = ports.randomness.token(CSRF_TOKEN_LENGTH)
    stored.refresh_digest = sessions.digest_of_csrf_token(csrf_token)
    return sessions.OpenedSession(
        stored.token,
        origin,
        ports.clock.timestamp(),
        stored.expires_at.timestamp(),
        csrf_token,
        read_grant(stored.scope),
        amr,
        can_refresh=origin is SessionOrigin.PASSWORD or bool(stored.provider_refresh_token),
    )


@dataclass(frozen=True, slots=True)
class Proved:
    """Whose code or passkey was right, and the authentication methods of their session."""

    user_id: int
    amr: tuple[str, ...]
    passkey_id: int | None = None
    second_factor: second_factors.SecondFactorType | None = None


@input_decides
def verify_second_factor(ports: Ports, actor: Actor, *, challenge: str, code: str) -> TokenPair:
    """Return the tokens that ``create_token`` or ``set_password`` held back.

    This is `secondFactorVerify`.

    ``code`` is of the account's authenticator app, or a recovery code. A challenge of
    ``ask_for_proof`` gives new tokens of the caller's own session.

    Refuses INVALID on ``challenge`` for one that is over, or not the caller's to answer;
    INVALID_SECOND_FACTOR on ``code``, which the login throttle counts like a wrong password;
    LOGIN_ATTEMPT_DELAYED; and what ``create_token`` refuses once a password was right.
    """
    purposes = (second_factors.ChallengePurpose.SIGN_IN, second_factors.ChallengePurpose.PROOF)
    with logged_sign_in(ports, actor, SignInEntry(SignInMethod.PASSWORD)):
        found = find_challenge(ports, actor, challenge, *purposes)
    if found.purpose == second_factors.ChallengePurpose.PROOF.value:
        check = partial(_prove_code, ports, actor, found, challenge, code)
        return _sign_again(ports, actor, found, prove(ports, actor, check, found.id))
    return _sign(ports, actor, found, _finish_with_code(ports, actor, found, challenge, code))


def _prove_code(
    ports: Ports, actor: Actor, found: models.SecondFactorChallenge, token: str, code: str
) -> second_factors.AuthenticationMethod:
    _answer_with_code(ports, actor, found, token, code)
    return second_factors.AuthenticationMethod.ONE_TIME_CODE


def _first_method(found: models.SecondFactorChallenge) -> second_factors.AuthenticationMethod:
    """Return what was right before the second factor: a password, or a code by email."""
    by_code = found.method == SignInMethod.EMAIL_CODE.value
    return (
        second_factors.AuthenticationMethod.ONE_TIME_CODE
        if by_code
        else second_factors.AuthenticationMethod.PASSWORD
    )


@building_block
def finish_with_code(
    ports: Ports, actor: Actor, token: str, code: str, place: SignInPlace
) -> sessions.PasswordSignIn:
    """Open the session of a challenge of ``place``; refuses as ``verify_second_factor`` does."""
    is_console = place is SignInPlace.CONSOLE
    with logged_sign_in(ports, actor, SignInEntry(SignInMethod.PASSWORD, in_console=is_console)):
        purpose = second_factors.ChallengePurpose.SIGN_IN
        found = find_challenge(ports, actor, token, purpose, place=place)
    return _finish_with_code(ports, actor, found, token, code)


def _finish_with_code(
    ports: Ports, actor: Actor, found: models.SecondFactorChallenge, token: str, code: str
) -> sessions.PasswordSignIn:
    def check() -> Proved:
        factor = _answer_with_code(ports, actor, found, token, code)
        amr = second_factors.methods_of_sign_in(
            second_factors.AuthenticationMethod.ONE_TIME_CODE, _first_method(found)
        )
        return Proved(found.user_id or 0, amr, second_factor=factor)

    return _finish(ports, actor, found, check)


def _finish(
    ports: Ports, actor: Actor, found: models.SecondFactorChallenge, check: Callable[[], Proved]
) -> sessions.PasswordSignIn:
    """Check an answer as an attempt of the login throttle, then open the session."""
    entry = SignInEntry(
        SignInMethod(found.method), user_id=found.user_id, in_console=found.in_console
    )
    with logged_sign_in(ports, actor, entry):
        sessions.require_password_login(load_shop_state(ports).switches)
        with attempt(ports, actor.address) as this:
            try:
                proved = check()
            except WrongAnswer:
                this.fail(found.user_id)
                raise
            entry.user_id, entry.second_factor = proved.user_id, proved.second_factor
            entered = _open_session(ports, actor, found, entry, proved)
            this.succeed(proved.user_id)
        return entered


def _open_session(
    ports: Ports,
    actor: Actor,
    found: models.SecondFactorChallenge,
    entry: SignInEntry,
    proved: Proved,
) -> sessions.PasswordSignIn:
    """Use up the challenge and open the session, if mode and account still allow it.

    A passkey that was deleted or reported since it was checked opens none.
    """
    lifetime = None if found.lifetime is None else timedelta(seconds=found.lifetime)
    begins = challenges.PendingSession(
        entry.method, challenges.place_of(found), lifetime, challenges.read_audience(found)
    )
    with ports.database.transaction(account(proved.user_id)) as session:
        # The account before its challenge, as where all of an account's challenges end.
        user = session.get(models.User, proved.user_id, with_for_update=True)
        challenges.use_up(session, found.id)
        shop = session.get_one(models.Shop, models.SHOP_ID)
        sessions.require_password_login(switches_of(shop, ports.clock.now()))
        if user is None or not _still_works(session, proved):
            raise Refused(challenges.CHALLENGE_ENDED)
        sessions.require_account(shop, user, entry)
        entered = sessions.begin_session(ports, actor, session, user, entry, begins, proved.amr)
    if isinstance(entered, sessions.UnfinishedSignIn):
        raise entered.refusal()
    return entered


def _still_works(session: Session, proved: Proved) -> bool:
    if proved.passkey_id is None:
        return True  # a code, whose challenge would have ended with its factor
    passkey = session.get(models.Passkey, proved.passkey_id)
    return passkey is not None and passkey.public_key != ""


def _sign(
    ports: Ports,
    actor: Actor,
    found: models.SecondFactorChallenge,
    entered: sessions.PasswordSignIn,
) -> TokenPair:
    audience = challenges.read_audience(found)
    return sign_pair(ports, actor, entered.opened, entered.user, entered.switches, audience)


def _sign_again(
    ports: Ports, actor: Actor, found: models.SecondFactorChallenge, opened: sessions.OpenedSession
) -> TokenPair:
    """Return new tokens of the caller's own session."""
    live = find_session(ports, opened.token, own_id(actor))
    if live.found is None:
        raise Refused(challenges.CHALLENGE_ENDED)
    switches, audience = live.shop_state.switches, challenges.read_audience(found)
    return sign_pair(ports, actor, opened, live.found.user, switches, audience)


_PASSKEY_REFUSED = Problem(
    "INVALID_SECOND_FACTOR",
    "This passkey wasn't accepted. Try again, or sign in another way.",
    "credential",
)
_ANSWERED = (
    second_factors.ChallengePurpose.SIGN_IN,
    second_factors.ChallengePurpose.PASSKEY_SIGN_IN,
    second_factors.ChallengePurpose.PROOF,
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
        return ask_for_passkey(ports, actor, challenges.PendingSession(audience=audience))
    return options_for(ports, actor, challenge)


@building_block
def ask_for_passkey(
    ports: Ports, actor: Actor, begins: challenges.PendingSession
) -> PasskeyChallenge:
    """Return the options for a sign-in with a passkey alone; refuses as ``challenge_passkey``."""
    sessions.require_password_login(load_shop_state(ports).switches)
    purpose = second_factors.ChallengePurpose.PASSKEY_SIGN_IN
    pending = challenges.PendingSession(
        SignInMethod.PASSKEY, begins.place, begins.lifetime, begins.audience
    )
    with ports.database.transaction() as session:
        token = challenges.ask(ports, session, purpose, pending=pending).token
        session.flush()
        return PasskeyChallenge(token, passkey_options(ports, actor, session, purpose, token))


@building_block
def options_for(
    ports: Ports, actor: Actor, challenge: str, *, place: SignInPlace = SignInPlace.API
) -> PasskeyChallenge:
    """Return the options that name the passkeys of the account that ``challenge`` asks."""
    purposes = (second_factors.ChallengePurpose.SIGN_IN, second_factors.ChallengePurpose.PROOF)
    found = find_challenge(ports, actor, challenge, *purposes, place=place)
    purpose = second_factors.ChallengePurpose(found.purpose)
    if purpose is second_factors.ChallengePurpose.SIGN_IN:
        sessions.require_password_login(load_shop_state(ports).switches)
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
    if found.purpose == second_factors.ChallengePurpose.PROOF.value:
        check = partial(prove_passkey, ports, actor, found, challenge, credential)
        return _sign_again(ports, actor, found, prove(ports, actor, check, found.id))
    entered = _finish_with_passkey(ports, actor, found, challenge, credential)
    return _sign(ports, actor, found, entered)


@building_block
def sign_in_with_passkey(
    ports: Ports,
    actor: Actor,
    *,
    challenge: str,
    credential: str,
    place: SignInPlace = SignInPlace.API,
) -> sessions.PasswordSignIn:
    """Open the session of ``ask_for_passkey``, or one whose password was right before.

    Refuses as ``verify_passkey`` does.
    """
    purposes = (
        second_factors.ChallengePurpose.SIGN_IN,
        second_factors.ChallengePurpose.PASSKEY_SIGN_IN,
    )
    entry = SignInEntry(SignInMethod.PASSKEY, in_console=place is SignInPlace.CONSOLE)
    with logged_sign_in(ports, actor, entry):
        found = find_challenge(ports, actor, challenge, *purposes, place=place)
    return _finish_with_passkey(ports, actor, found, challenge, credential)


def _finish_with_passkey(
    ports: Ports, actor: Actor, found: models.SecondFactorChallenge, token: str, credential: str
) -> sessions.PasswordSignIn:
    def check() -> Proved:
        used = _answer_with_passkey(ports, actor, found, token, credential)
        is_alone = found.user_id is None
        amr = (
            second_factors.methods_of_passkey(used.method)
            if is_alone
            else second_factors.methods_of_sign_in(used.method, _first_method(found))
        )
        factor = None if is_alone else second_factors.SecondFactorType.PASSKEY
        return Proved(used.user_id, amr, used.id, factor)

    return _finish(ports, actor, found, check)


@building_block
def prove_passkey(
    ports: Ports, actor: Actor, found: models.SecondFactorChallenge, token: str, credential: str
) -> second_factors.AuthenticationMethod:
    """Return the method of the passkey that answers a proof; raises ``WrongAnswer``."""
    return _answer_with_passkey(ports, actor, found, token, credential).method


def _answer_with_passkey(
    ports: Ports, actor: Actor, found: models.SecondFactorChallenge, token: str, credential: str
) -> UsedPasskey:
    """Return the passkey that gave ``credential``; raises ``WrongAnswer`` on ``credential``.

    It isn't counted as a guess at the account's codes: a passkey can't be guessed.
    """
    counted = _count_stored_answer(ports, found, token)
    used = check_passkey(ports, actor, counted, credential)
    if used is None:
        raise WrongAnswer(_PASSKEY_REFUSED)
    return used
