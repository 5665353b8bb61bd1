"""Sign in with email and password."""

from dataclasses import dataclass
from functools import wraps

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.emails import normalize_email
from app.domain.authorization.actor import Actor
from app.domain.sign_in.sign_in_log import SignInPlace, SignInReason
from app.domain.values.errors import Problem, Refused
from app.domain.values.inputs import missing_problems
from app.domain.values.text_rules import is_storable
from app.ports import Ports
from app.ports.database import account
from app.ports.passwords import Match
from app.services.authorization.register import (
    Arguments,
    Result,
    UseCase,
    building_block,
    input_decides,
)
from app.services.authorization.session_rights import switches_of
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.users import stored_email
from app.services.lists.paging import record_from
from app.services.second_factors.challenges import PendingSession
from app.services.sign_in.login_throttle import Attempt, attempt
from app.services.sign_in.reauthentication import imported_seconds, renew_hash
from app.services.sign_in.sessions import (
    PasswordSignIn,
    UnfinishedSignIn,
    begin_session,
    require_account,
    require_password_login,
)
from app.services.sign_in.tokens import TokenPair, sign_pair
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in

_WRONG = Problem("INVALID_CREDENTIALS", "Please, enter valid credentials", "email")


class _HashReplaced(Refused):
    """The user has another hash since the password was compared."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The user with the typed email, and the hash to compare the password with."""

    id: int
    password_hash: str | None


@dataclass(frozen=True, slots=True)
class _Matched:
    """The stored hash that the password is right for, and how they compare."""

    hash: str
    match: Match


@input_decides
def create_token(
    ports: Ports, actor: Actor, *, email: str | None, password: str | None, audience: str = ""
) -> TokenPair:
    """Open a session by password (`tokenCreate`).

    Refuses, in this order: the mode DISABLED; a missing argument (REQUIRED); a caller without an
    address; a throttled address (LOGIN_ATTEMPT_DELAYED); a wrong password, an unknown email or a
    user without a password, all three alike (INVALID_CREDENTIALS); then an account that is
    inactive or unconfirmed. Contract, "`tokenCreate` and friends: codes". Raises
    ``SecondFactorRequired`` after all that for an account with a second factor.
    """
    begins = PendingSession(audience=audience)
    entered = sign_in_with_password(ports, actor, begins, email=email, password=password)
    return sign_pair(ports, actor, entered.opened, entered.user, entered.switches, audience)


@building_block
def sign_in_with_password(
    ports: Ports, actor: Actor, begins: PendingSession, *, email: str | None, password: str | None
) -> PasswordSignIn:
    """Open a session by password; refuses as ``create_token`` does.

    At the console  it refuses INVALID on ``email`` to all but staff after
    the password proved right.
    """
    entry = SignInEntry(
        begins.method,
        email=normalize_email(email or ""),
        in_console=begins.place is SignInPlace.CONSOLE,
    )
    with logged_sign_in(ports, actor, entry):
        require_password_login(load_shop_state(ports).switches)
        if email is None or password is None:
            raise Refused(*missing_problems(email=email, password=password))
        with attempt(ports, actor.address) as this:
            candidate, matched = _compare(ports, this, entry, email, password)
            try:
                entered = _open_session(ports, actor, entry, candidate, matched.hash, begins)
            except _HashReplaced:
                matched = _compare_again(ports, candidate, password)
                entered = _open_session(ports, actor, entry, candidate, matched.hash, begins)
            if isinstance(entered, PasswordSignIn):
                this.succeed(candidate.id)
        renew_hash(ports, candidate.id, matched.hash, password, matched.match)
        if isinstance(entered, UnfinishedSignIn):
            # The attempt is only released: a right password mustn't reset the count of codes.
            raise entered.refusal()
        return entered


@building_block
def needs_password_login(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Check the login mode before anything else, the caller included.

    Contract, "Modes, precisely": ``DISABLED`` refuses DISABLED_AUTHENTICATION_METHOD to everyone.
    """

    @wraps(use_case)
    def gated(
        ports: Ports, actor: Actor, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        require_password_login(load_shop_state(ports).switches)
        return use_case(ports, actor, *args, **kwargs)

    return gated


def _find(ports: Ports, email: str) -> _Candidate | None:
    if not is_storable(email):
        return None
    with ports.database.reading() as session:
        row = session.execute(
            select(models.User.id, models.User.password_hash).where(
                models.User.email == stored_email(session, email)
            )
        ).one_or_none()
    return None if row is None else record_from(_Candidate, row)


def _compare(
    ports: Ports, this: Attempt, entry: SignInEntry, email: str, password: str
) -> tuple[_Candidate, _Matched]:
    """Return who has that email and password, and their hash; a refusal counts as a failure."""
    candidate = _find(ports, email)
    stored = None if candidate is None else candidate.password_hash
    match = ports.passwords.verify_sign_in(stored, password, imported_seconds(ports))
    entry.reason = _reason(candidate)
    if candidate is None or stored is None or not match:
        this.fail(None if candidate is None else candidate.id)
        raise Refused(_WRONG)
    return candidate, _Matched(stored, match)


def _compare_again(ports: Ports, candidate: _Candidate, password: str) -> _Matched:
    """Return the hash that has replaced the candidate's since, if it is of the same password.

    Two first sign-ins with an imported password at once: the first replaces the hash.
    """
    with ports.database.reading() as session:
        stored = session.scalar(
            select(models.User.password_hash).where(models.User.id == candidate.id)
        )
    if stored is None or not (match := ports.passwords.verify_sign_in(stored, password)):
        raise Refused(_WRONG)
    return _Matched(stored, match)


def _open_session(
    ports: Ports,
    actor: Actor,
    entry: SignInEntry,
    candidate: _Candidate,
    stored: str,
    begins: PendingSession,
) -> PasswordSignIn | UnfinishedSignIn:
    with ports.database.transaction(account(candidate.id)) as session:
        user = _check_again(ports, session, candidate.id, stored, entry)
        return begin_session(ports, actor, session, user, entry, begins)


def _reason(candidate: _Candidate | None) -> SignInReason:
    """Return why a sign-in is refused unless the password is right."""
    if candidate is None:
        return SignInReason.UNKNOWN_EMAIL
    if candidate.password_hash is None:
        return SignInReason.NO_PASSWORD
    return SignInReason.INCORRECT_PASSWORD


def _check_again(
    ports: Ports, session: Session, user_id: int, stored: str, entry: SignInEntry
) -> models.User:
    """Check mode and account as they are now: a comparison takes its time."""
    shop = session.get_one(models.Shop, models.SHOP_ID)
    require_password_login(switches_of(shop, ports.clock.now()))
    user = session.get(models.User, user_id, with_for_update=True)
    if user is None:
        raise Refused(_WRONG)
    if user.password_hash != stored:
        raise _HashReplaced(_WRONG)
    require_account(shop, user, entry)
    return user
