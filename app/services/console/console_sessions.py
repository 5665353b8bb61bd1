"""Console sessions: staff sign in with a password, passkey or provider, and send a cookie.

They are ordinary sessions: listed and ended with all others, effective immediately.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial

from sqlalchemy import select

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.second_factors import (
    AuthenticationMethod,
    ChallengePurpose,
    SecondFactorType,
    used_second_factor,
)
from app.domain.shop.settings import (
    PublicShop,
    Switches,
    lacks_second_factor,
    rejects_password_sessions,
    removes_staff_rights,
)
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace
from app.domain.single_sign_on.providers import ProviderError
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.accounts.password_changes import sign_in_with_link
from app.services.authorization import session_rights
from app.services.authorization.register import (
    account_owner_only,
    building_block,
    input_decides,
    public,
)
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.identify import Visitor, session_actor
from app.services.identity.providers import ExternalAuthentication, login_providers
from app.services.second_factors.challenges import PendingSession, SecondFactorRequired
from app.services.second_factors.factor_checks import party_of
from app.services.second_factors.stored_factors import HAS_SECOND_FACTOR, read_factors
from app.services.sign_in import second_factor_sign_in
from app.services.sign_in.password_login import sign_in_with_password
from app.services.sign_in.reauthentication import own_account, own_id, prove_password
from app.services.sign_in.sessions import OpenedSession, end_own_session
from app.services.single_sign_on.sign_in import (
    SignInTerms,
    StartedLogin,
    find_login_provider,
    sign_in_with_provider,
    start_login,
)

LIFETIME = timedelta(hours=12)
"""After which staff sign in again, however busy they are: a working day."""

_FACTOR_NEEDED = Problem(
    "SECOND_FACTOR_REQUIRED", "Your account has a second factor: use a passkey or a code."
)
_BEGINS = PendingSession(place=SignInPlace.CONSOLE, lifetime=LIFETIME)
_NEVER = 1e9
"""Seconds since a proof that doesn't count."""

_AT_CONSOLE = session_rights.session_query(
    session_rights.IN_SESSION,
    *session_rights.SESSION_COLUMNS,
    HAS_SECOND_FACTOR.label("has_second_factor"),
)


class SessionAccess(StrEnum):
    """What a staff session can do in the current password login mode.

    ``NO_SECOND_FACTOR``: the shop requires one, and the session used none.
    """

    FULL = "full"
    NO_STAFF_RIGHTS = "no staff rights"
    NO_SECOND_FACTOR = "no second factor"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """The session that the cookie names, its expiry and origin.

    ``proved_ago`` is how many seconds ago the provider last authenticated the person, 0 if it
    doesn't say. ``used_second_factor``: the session began with one.
    """

    token: str = field(repr=False)
    user_id: int
    expires: datetime
    origin: SessionOrigin
    provider: str = ""
    proved_ago: float = 0.0
    used_second_factor: bool = False
    language_code: str = ""


@dataclass(frozen=True, slots=True)
class ConsoleCaller:
    """A staff member who is signed in to the console, with the shop's current state.

    ``second_factor_from`` is when staff need a second factor, ``None`` while it is optional.
    ``has_second_factor``: the account has one, whether or not the session used it.
    """

    actor: Actor
    user: User
    shop: PublicShop
    access: SessionAccess
    second_factor_from: datetime | None = None
    has_second_factor: bool = False


@dataclass(frozen=True, slots=True)
class SignInOptions:
    """The shop and the active identity providers, for the sign-in page."""

    shop: PublicShop
    providers: tuple[ExternalAuthentication, ...]


@public
def show_default_language(ports: Ports, actor: Actor) -> str:
    """Return the language code of pages whose browser asks for no language that is shipped."""
    with ports.database.reading() as session:
        return session.scalars(select(models.Shop.default_language)).one()


@public
def show_sign_in_options(ports: Ports, actor: Actor) -> SignInOptions:
    """Return how staff can sign in to the console."""
    shop_state = load_shop_state(ports)
    return SignInOptions(shop_state.shop, login_providers(ports, shop_state.providers_version))


@input_decides
def sign_in_to_console(
    ports: Ports, actor: Actor, *, email: str | None, password: str | None
) -> ConsoleSession:
    """Open a session by password, with the throttle and refusals of ``create_token``.

    Refuses INVALID on ``email`` unless it is a staff member's. Raises ``SecondFactorRequired`` for
    an account with a second factor.
    """
    entered = sign_in_with_password(ports, actor, _BEGINS, email=email, password=password)
    return _console_session(entered.opened, entered.user)


@input_decides
def ask_for_passkey_at_console(
    ports: Ports, actor: Actor
) -> second_factor_sign_in.PasskeyChallenge:
    """Return the options for a sign-in to the console with a passkey alone.

    Refuses as ``challenge_passkey`` does.
    """
    return second_factor_sign_in.ask_for_passkey(ports, actor, _BEGINS)


@input_decides
def sign_in_to_console_with_passkey(
    ports: Ports, actor: Actor, *, challenge: str, credential: str
) -> ConsoleSession:
    """Open a session by passkey; refuses as ``verify_passkey`` does.

    Refuses INVALID on ``email`` unless it is a staff member's.
    """
    entered = second_factor_sign_in.sign_in_with_passkey(
        ports, actor, challenge=challenge, credential=credential, place=SignInPlace.CONSOLE
    )
    return _console_session(entered.opened, entered.user)


@input_decides
def begin_console_sign_in(
    ports: Ports, actor: Actor, *, plugin_id: str, redirect_uri: str, again: bool = False
) -> StartedLogin:
    """Return the provider's login URL for a staff member; ``redirect_uri`` is the console's.

    ``again`` asks the provider to authenticate them anew. Refuses NOT_FOUND for a provider that is
    unknown, inactive, or can't sign people in.
    """
    return start_login(ports, plugin_id, redirect_uri, again=again)


@input_decides
def finish_console_sign_in(
    ports: Ports,
    actor: Actor,
    *,
    plugin_id: str,
    code: str | None,
    state: str | None,
    error: ProviderError | None = None,
) -> ConsoleSession:
    """Open a session with a provider's response; refuses as ``finish_sign_in`` does.

    Refuses INVALID to everyone but staff, without creating an account. If ``actor`` is signed in,
    it must be the same person, who has then reauthenticated.
    """
    provider = find_login_provider(ports, plugin_id)
    terms = SignInTerms(SignInPlace.CONSOLE, user_id=actor.user_id, lifetime=LIFETIME)
    entered = sign_in_with_provider(
        ports, actor, provider, code=code, state=state, error=error, terms=terms
    )
    proved_ago = entered.proved_ago
    if not used_second_factor(entered.opened.amr) and _has_second_factor(ports, entered.user.id):
        proved_ago = _NEVER  # only the second factor proves who is at the keyboard
    return _console_session(entered.opened, entered.user, provider.name, proved_ago)


@input_decides
def set_password_at_console(
    ports: Ports, actor: Actor, *, email: str, password: str, token: str
) -> ConsoleSession | None:
    """Set a password by a mailed link (refuses as ``set_password`` does) and sign in.

    ``None`` for customers, who can't use the console.
    """
    begins = replace(_BEGINS, method=SignInMethod.LINK)
    try:
        entered = sign_in_with_link(
            ports, actor, begins, email=email, password=password, token=token
        )
    except SecondFactorRequired as required:
        if required.for_staff:
            raise
        return None
    return _console_session(entered.opened, entered.user) if entered.user.is_staff else None


@account_owner_only
def confirm_password_again(ports: Ports, actor: Actor, *, password: str | None) -> None:
    """Refuse INVALID_CREDENTIALS on ``password`` unless it is the caller's own present one.

    The fifth wrong one in a row ends the session. Refuses SECOND_FACTOR_REQUIRED, before looking
    at the password, for an account with a second factor.
    """
    account = own_account(ports, actor)
    if account.has_second_factor:
        raise Refused(_FACTOR_NEEDED)
    prove_password(ports, actor, account, password, "password")


@input_decides
def sign_out_of_console(ports: Ports, actor: Actor) -> None:
    """End the caller's session; every copy of its cookie stops working.

    In every login mode, also in one that rejects the session.
    """
    if actor.session_id is not None:
        end_own_session(ports, actor, actor.session_id)


@building_block
def find_console_caller(
    ports: Ports, visitor: Visitor, token: str, user_id: int
) -> ConsoleCaller | None:
    """Return the caller of a console cookie if the session is alive; one statement."""
    row = ports.database.read(_AT_CONSOLE, {"session": token, "user_id": user_id})[0]
    at_console = session_rights.live_session_in(ports, row)
    shop_state, live_session = at_console.shop_state, at_console.found
    if live_session is None or not _is_of_staff(live_session):
        return None
    user = session_rights.effective_user(live_session, shop_state.switches)
    return ConsoleCaller(
        session_actor(visitor, live_session, user),
        user,
        shop_state.shop,
        _access(live_session, shop_state.switches),
        shop_state.second_factor_from,
        bool(row.has_second_factor),
    )


def _is_of_staff(live_session: session_rights.LiveSession) -> bool:
    """Whether the session's person is staff, even if the login mode takes their rights."""
    grant = live_session.grant
    return live_session.user.is_staff if grant is None else grant.is_staff


def _access(live_session: session_rights.LiveSession, switches: Switches) -> SessionAccess:
    mode = switches.password_login_mode
    if rejects_password_sessions(mode, live_session.origin):
        return SessionAccess.NOTHING
    if removes_staff_rights(mode, live_session.origin):
        return SessionAccess.NO_STAFF_RIGHTS
    if lacks_second_factor(live_session.amr, required=switches.second_factor_required):
        return SessionAccess.NO_SECOND_FACTOR
    return SessionAccess.FULL


def _has_second_factor(ports: Ports, user_id: int) -> bool:
    with ports.database.reading() as session:
        return read_factors(session, user_id).is_active


def _console_session(
    opened: OpenedSession, user: User, provider: str = "", proved_ago: float = 0.0
) -> ConsoleSession:
    return ConsoleSession(
        opened.token,
        user.id,
        datetime.fromtimestamp(opened.expires, UTC),
        opened.origin,
        provider,
        proved_ago,
        used_second_factor(opened.amr),
        user.language_code,
    )


@dataclass(frozen=True, slots=True)
class WaitingSignIn:
    """A sign-in to the console that waits for a second factor, and the ways to answer."""

    email: str
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
    found = second_factor_sign_in.find_challenge(
        ports, actor, challenge, ChallengePurpose.SIGN_IN, place=SignInPlace.CONSOLE
    )
    with ports.database.reading() as session:
        email = session.scalar(select(models.User.email).where(models.User.id == found.user_id))
        types = read_factors(session, found.user_id or 0).types
    return WaitingSignIn(email or "", _usable(ports, actor, types))


@input_decides
def verify_code_at_console(
    ports: Ports, actor: Actor, *, challenge: str, code: str
) -> ConsoleSession:
    """Finish a sign-in to the console with a code; refuses as ``verify_second_factor`` does."""
    entered = second_factor_sign_in.finish_with_code(
        ports, actor, challenge, code, SignInPlace.CONSOLE
    )
    return _console_session(entered.opened, entered.user)


@input_decides
def challenge_passkey_at_console(
    ports: Ports, actor: Actor, *, challenge: str
) -> second_factor_sign_in.PasskeyChallenge:
    """Return the options to finish a sign-in with a passkey; refuses as ``challenge_passkey``."""
    return second_factor_sign_in.options_for(ports, actor, challenge, place=SignInPlace.CONSOLE)


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

    def check() -> AuthenticationMethod:
        second_factor_sign_in.use_code(ports, actor, own_id(actor), code)
        return AuthenticationMethod.ONE_TIME_CODE

    second_factor_sign_in.prove(ports, actor, check)


@account_owner_only
def challenge_own_passkey(ports: Ports, actor: Actor) -> second_factor_sign_in.PasskeyChallenge:
    """Return the options to prove with a passkey who is at the keyboard of the session."""
    return second_factor_sign_in.options_for(
        ports, actor, second_factor_sign_in.ask_for_proof(ports, actor).token
    )


@account_owner_only
def confirm_passkey_again(ports: Ports, actor: Actor, *, challenge: str, credential: str) -> None:
    """Refuse INVALID_SECOND_FACTOR on ``credential`` unless it is of a passkey of the caller's.

    The session has used a second factor from then on.
    """
    found = second_factor_sign_in.find_challenge(ports, actor, challenge, ChallengePurpose.PROOF)
    check = partial(
        second_factor_sign_in.prove_passkey, ports, actor, found, challenge, credential
    )
    second_factor_sign_in.prove(ports, actor, check, found.id)


def _usable(
    ports: Ports, actor: Actor, types: tuple[SecondFactorType, ...]
) -> tuple[SecondFactorType, ...]:
    """Leave out passkeys where they can't work: the console's address is an IP address."""
    works = party_of(ports, actor) is not None
    return tuple(kind for kind in types if works or kind is not SecondFactorType.PASSKEY)
