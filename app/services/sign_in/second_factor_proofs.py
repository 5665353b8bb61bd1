"""Prove a second factor in a session that began without one."""

from collections.abc import Callable

from sqlalchemy import delete

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import read_grant
from app.domain.second_factors import AuthenticationMethod, Challenge, ChallengePurpose
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.sign_in.tokens import CSRF_TOKEN_LENGTH
from app.domain.values.errors import Problem, Refused, TokenFault, TokenRejected
from app.models import SecondFactorChallengeRecord, SessionRecord, UserRecord
from app.ports import Ports
from app.ports.throttle import ThrottleUnavailable
from app.services.authorization.register import account_owner_only, part
from app.services.second_factors.challenges import (
    CHALLENGE_ENDED,
    PendingSession,
    ask,
    use_up,
)
from app.services.second_factors.session_methods import note_method
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.login_attempts import UNCOUNTABLE
from app.services.sign_in.reauthentication import end_guessed_session, own_id
from app.services.sign_in.second_factor_answers import WrongAnswer
from app.services.sign_in.sessions import OpenedSession, digest_of_csrf_token
from app.services.sign_in.tokens import audience_of, verify_argument_token

NO_SESSION = Problem(
    "INVALID",
    "This access token is your identity provider's. Sign in again there with a second factor.",
)
_NO_FACTOR = Problem(
    "NOT_FOUND", "Your account has no second factor. Add one in the console, on your account page."
)


@account_owner_only
def ask_for_proof(ports: Ports, actor: Actor, *, token: str = "") -> Challenge:
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
        session.get(UserRecord, user_id, with_for_update=True)
        if session.get(SessionRecord, actor.session_id, with_for_update=True) is None:
            raise TokenRejected(TokenFault.INVALID)  # ended since this request began
        types = read_factors(session, user_id).types
        if not types:
            raise Refused(_NO_FACTOR)
        session.execute(
            delete(SecondFactorChallengeRecord).where(
                SecondFactorChallengeRecord.session_id == actor.session_id,
                SecondFactorChallengeRecord.purpose == ChallengePurpose.PROOF.value,
            )
        )
        return ask(
            ports,
            session,
            ChallengePurpose.PROOF,
            user_id=user_id,
            session_id=actor.session_id,
            types=types,
            pending=PendingSession(audience=audience),
        )


@part
def prove(
    ports: Ports,
    actor: Actor,
    check: Callable[[], AuthenticationMethod],
    challenge_id: int | None = None,
) -> OpenedSession:
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
            end_guessed_session(ports, actor, f"{MAX_GUESSES} incorrect codes in a row.")
        raise
    except ThrottleUnavailable as error:
        raise Refused(UNCOUNTABLE) from error
    with ports.database.transaction() as session:
        # The session before its challenge: a session that ends takes its challenges along.
        stored = session.get(SessionRecord, session_id, with_for_update=True)
        if stored is None:
            raise Refused(CHALLENGE_ENDED)
        if challenge_id is not None:
            use_up(session, challenge_id)
        return _raise(ports, stored, method)


def _raise(ports: Ports, stored: SessionRecord, method: AuthenticationMethod) -> OpenedSession:
    """Add ``method`` to the session.

    Where the provider gave no refresh token, the session gets none here either.
    """
    origin = SessionOrigin(stored.origin)
    amr = note_method(stored, method)
    csrf_token = ports.randomness.token(CSRF_TOKEN_LENGTH)
    stored.refresh_digest = digest_of_csrf_token(csrf_token)
    return OpenedSession(
        stored.token,
        origin,
        ports.clock.timestamp(),
        stored.expires_at.timestamp(),
        csrf_token,
        read_grant(stored.scope),
        amr,
        can_refresh=origin is SessionOrigin.PASSWORD or bool(stored.provider_refresh_token),
    )
