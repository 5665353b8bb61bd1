"""Finish a sign-in with a second factor, and sign in with a passkey alone."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.second_factors import (
    ChallengePurpose,
    methods_of_sign_in,
)
from app.domain.sign_in.sign_in_log import SignInMethod
from app.domain.values.errors import Refused
from app.models import PasskeyRecord, SecondFactorChallengeRecord, ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.database import account
from app.services.authorization.live_sessions import find_session, switches_of
from app.services.authorization.register import input_decides, part
from app.services.authorization.shop_state import load_shop_state
from app.services.second_factors.challenges import (
    CHALLENGE_ENDED,
    PendingSession,
    read_audience,
    use_up,
)
from app.services.sign_in.login_attempts import attempt
from app.services.sign_in.password_sessions import (
    PasswordSignIn,
    UnfinishedSignIn,
    begin_session,
    require_account,
    require_password_login,
)
from app.services.sign_in.reauthentication import own_id
from app.services.sign_in.second_factor_answers import (
    WrongAnswer,
    answer_with_code,
    find_challenge,
)
from app.services.sign_in.second_factor_proofs import prove
from app.services.sign_in.sessions import OpenedSession, TokenPair, sign_pair
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in


@dataclass(frozen=True, slots=True)
class Proved:
    """Whose code or passkey was right, and the authentication methods of their session."""

    user_id: int
    amr: tuple[str, ...]
    passkey_id: int | None = None


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
    purposes = (ChallengePurpose.SIGN_IN, ChallengePurpose.PROOF)
    with logged_sign_in(ports, actor, SignInEntry(SignInMethod.PASSWORD)):
        found = find_challenge(ports, actor, challenge, *purposes)
    if found.purpose == ChallengePurpose.PROOF.value:
        check = partial(answer_with_code, ports, actor, found, challenge, code)
        return sign_again(ports, actor, found, prove(ports, actor, check, found.id))
    return sign(ports, actor, found, finish_with_code(ports, actor, found, challenge, code))


@part
def find_sign_in(
    ports: Ports, actor: Actor, token: str, *, in_console: bool
) -> SecondFactorChallengeRecord:
    """Return the challenge of a sign-in, by password or by a passkey alone."""
    purposes = (ChallengePurpose.SIGN_IN, ChallengePurpose.PASSKEY_SIGN_IN)
    return find_challenge(ports, actor, token, *purposes, in_console=in_console)


@part
def finish_with_code(
    ports: Ports, actor: Actor, found: SecondFactorChallengeRecord, token: str, code: str
) -> PasswordSignIn:
    """Open the session of a sign-in whose challenge a code answers."""

    def check() -> Proved:
        method = answer_with_code(ports, actor, found, token, code)
        return Proved(found.user_id or 0, methods_of_sign_in(method))

    return finish(ports, actor, found, check)


@part
def finish(
    ports: Ports,
    actor: Actor,
    found: SecondFactorChallengeRecord,
    check: Callable[[], Proved],
) -> PasswordSignIn:
    """Check an answer as an attempt of the login throttle, then open the session."""
    entry = SignInEntry(
        SignInMethod(found.method), user_id=found.user_id, in_console=found.in_console
    )
    with logged_sign_in(ports, actor, entry):
        require_password_login(load_shop_state(ports).switches)
        with attempt(ports, actor.address) as this:
            try:
                proved = check()
            except WrongAnswer:
                this.fail(found.user_id)
                raise
            entry.user_id = proved.user_id
            entered = _enter(ports, actor, found, entry, proved)
            this.succeed(proved.user_id)
        return entered


def _enter(
    ports: Ports,
    actor: Actor,
    found: SecondFactorChallengeRecord,
    entry: SignInEntry,
    proved: Proved,
) -> PasswordSignIn:
    """Use up the challenge and open the session, if mode and account still allow it.

    A passkey that was deleted or reported since it was checked opens none.
    """
    lifetime = None if found.lifetime is None else timedelta(seconds=found.lifetime)
    begins = PendingSession(entry.method, found.in_console, lifetime, read_audience(found))
    with ports.database.transaction(account(proved.user_id)) as session:
        # The account before its challenge, as where all of an account's challenges end.
        user = session.get(UserRecord, proved.user_id, with_for_update=True)
        use_up(session, found.id)
        shop = session.get_one(ShopRecord, SHOP_ID)
        require_password_login(switches_of(shop, ports.clock.now()))
        if user is None or not _still_works(session, proved):
            raise Refused(CHALLENGE_ENDED)
        require_account(shop, user, entry)
        entered = begin_session(ports, actor, session, user, entry, begins, proved.amr)
    if isinstance(entered, UnfinishedSignIn):
        raise entered.refusal()
    return entered


def _still_works(session: Session, proved: Proved) -> bool:
    if proved.passkey_id is None:
        return True  # a code, whose challenge would have ended with its factor
    passkey = session.get(PasskeyRecord, proved.passkey_id)
    return passkey is not None and passkey.public_key != ""


@part
def sign(
    ports: Ports, actor: Actor, found: SecondFactorChallengeRecord, entered: PasswordSignIn
) -> TokenPair:
    audience = read_audience(found)
    return sign_pair(ports, actor, entered.opened, entered.user, entered.switches, audience)


@part
def sign_again(
    ports: Ports, actor: Actor, found: SecondFactorChallengeRecord, opened: OpenedSession
) -> TokenPair:
    """Return new tokens of the caller's own session."""
    live = find_session(ports, opened.token, own_id(actor))
    if live.found is None:
        raise Refused(CHALLENGE_ENDED)
    switches, audience = live.shop_state.switches, read_audience(found)
    return sign_pair(ports, actor, opened, live.found.user, switches, audience)
