"""The hosted pages: who is signed in there and since when, and the ways to sign in.

Their sessions are ordinary ones, listed and ended with all others, but no client has tokens of
them, and the console's cookie can't name one. Each way to sign in is the use case that the API
has. It refuses before any credential is looked at while hosted pages are off or the storefront is
closed, whoever it is; the password login mode rules as everywhere.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sqlalchemy import and_, bindparam, select

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import PROOF_LASTS, Actor, SessionOrigin
from app.domain.second_factors import Challenge, ChallengePurpose, SecondFactorType
from app.domain.shop.settings import PasswordLoginMode, rejects_password_sessions
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace
from app.domain.single_sign_on.providers import ProviderError
from app.domain.values.errors import Problem, Refused, TrafficClosed
from app.models.record import UtcDateTime
from app.ports import Ports
from app.services.accounts.password_changes import sign_in_with_link
from app.services.authorization.register import building_block, input_decides, public
from app.services.authorization.session_rights import (
    IN_SESSION,
    SESSION_COLUMNS,
    effective_user,
    live_session_in,
    session_query,
)
from app.services.authorization.shop_state import load_shop_state, moment
from app.services.identity.identify import Visitor, session_actor
from app.services.identity.providers import ExternalAuthentication, login_providers
from app.services.oauth.client_sessions import continue_sessions, end_grants_of_sign_in
from app.services.second_factors.challenges import PendingSession
from app.services.second_factors.stored_factors import read_factors
from app.services.shop.settings import settings_of
from app.services.sign_in import second_factor_sign_in
from app.services.sign_in.email_codes import AccountByCode, ask_for_code, sign_in_with_code
from app.services.sign_in.password_login import sign_in_with_password
from app.services.sign_in.sessions import OpenedSession, end_own_session
from app.services.single_sign_on.sign_in import (
    SignInTerms,
    StartedLogin,
    find_login_provider,
    sign_in_with_provider,
    start_login,
)

_HOSTED = session_query(
    and_(
        IN_SESSION,
        models.Session.is_hosted.is_(True),
        models.Session.expires_at > bindparam("now", type_=UtcDateTime),
    ),
    *SESSION_COLUMNS,
    models.Session.authenticated_at.label("session_authenticated_at"),
    models.Session.created_at.label("session_created_at"),
)


@dataclass(frozen=True, slots=True)
class HostedShop:
    """The shop as the hosted pages show it, and which ways to sign in they offer.

    ``opens_at`` is when a closed storefront opens by itself, ``None`` if it doesn't say.
    """

    name: str
    is_on: bool
    is_open: bool
    opens_at: datetime | None
    offers_passwords: bool
    offers_codes: bool
    offers_passkeys: bool
    offers_providers: bool
    confirms_accounts: bool
    logo: str
    accent_color: str
    legal_line: str
    default_language: str


@dataclass(frozen=True, slots=True)
class HostedSession:
    """A session that has begun, as its cookie names it."""

    token: str = field(repr=False)
    user_id: int
    expires: datetime


@dataclass(frozen=True, slots=True)
class HostedPerson:
    """Who is signed in at the hosted pages.

    ``authenticated_at`` is when they last proved who they are, ``amr`` how, as far as it was more
    than a password (RFC 8176). ``origin`` is PASSWORD for every local credential (password, code,
    passkey) and OIDC for an identity provider's, which ``provider_id`` names then.
    """

    actor: Actor
    user: User
    session_id: int
    authenticated_at: datetime
    amr: tuple[str, ...]
    origin: SessionOrigin
    provider_id: int | None

    @property
    def language_code(self) -> str:
        return self.user.language_code


@public
def show_hosted_shop(ports: Ports, actor: Actor) -> HostedShop:
    """Return the shop for a page, and whether and how people can sign in there."""
    with ports.database.reading() as session:
        shop = settings_of(session.get_one(models.Shop, models.SHOP_ID))
    mode = shop.password_login_mode
    has_local = mode is not PasswordLoginMode.DISABLED
    return HostedShop(
        name=shop.name,
        is_on=shop.hosted_pages,
        is_open=shop.allow_storefront_traffic,
        opens_at=shop.storefront_opens_at,
        offers_passwords=has_local and shop.hosted_password_login,
        offers_codes=has_local and shop.email_code_login,
        offers_passkeys=has_local and shop.hosted_passkey_login,
        offers_providers=shop.hosted_provider_login,
        confirms_accounts=shop.enable_account_confirmation_by_email,
        logo=shop.logo,
        accent_color=shop.accent_color,
        legal_line=shop.shown_legal_line,
        default_language=shop.default_language,
    )


@building_block
def find_hosted_person(
    ports: Ports, visitor: Visitor, token: str, user_id: int
) -> HostedPerson | None:
    """Return who is signed in by a cookie of the hosted pages; one statement.

    ``None`` for a session that ended, belongs to the console or to a client, or that the login
    mode rejects. The person's rights are those that count in the session right now.
    """
    row = ports.database.read(
        _HOSTED, {"session": token, "user_id": user_id, "now": ports.clock.now()}
    )[0]
    at_pages = live_session_in(ports, row)
    live, switches = at_pages.found, at_pages.shop_state.switches
    if live is None or live.session_id is None:
        return None
    if rejects_password_sessions(switches.password_login_mode, live.origin):
        return None
    user = effective_user(live, switches)
    since = moment(row.session_authenticated_at) or moment(row.session_created_at)
    authenticated_at = since or ports.clock.now()
    actor = session_actor(visitor, live, user)
    is_old = ports.clock.now() - authenticated_at > PROOF_LASTS
    return HostedPerson(
        actor=replace(actor, proof_is_old=is_old),
        user=user,
        session_id=live.session_id,
        authenticated_at=authenticated_at,
        amr=live.amr,
        origin=live.origin,
        provider_id=live.provider_id,
    )


@building_block
def hosted_session(opened: OpenedSession, user_id: int) -> HostedSession:
    """Return what the cookie of a session that has just begun names."""
    return HostedSession(opened.token, user_id, datetime.fromtimestamp(opened.expires, UTC))


@input_decides
def sign_out_of_hosted_pages(ports: Ports, actor: Actor) -> None:
    """End the caller's session; every copy of its cookie stops working.

    Grants of clients that began in it end too, unless they have offline access.
    """
    if actor.session_id is not None:
        with ports.database.transaction() as session:
            end_grants_of_sign_in(session, actor.session_id)
        end_own_session(ports, actor, actor.session_id)


@input_decides
def replace_hosted_session(ports: Ports, actor: Actor, opened: HostedSession) -> None:
    """End the caller's session for the one that the same browser has just begun.

    Clients stay signed in if it is the same person's, and are told to sign out otherwise.
    """
    if actor.session_id is None or opened.user_id != actor.user_id:
        sign_out_of_hosted_pages(ports, actor)
        return
    with ports.database.transaction() as session:
        query = select(models.Session.id).where(
            models.Session.token == opened.token, models.Session.user_id == opened.user_id
        )
        continue_sessions(session, actor.session_id, session.scalars(query).one())
    end_own_session(ports, actor, actor.session_id)


_HERE = SignInPlace.HOSTED
_NOT_OFFERED = Problem("INVALID", "This way to sign in isn't available. Choose another one.")


def _require_offered(ports: Ports, *offers: str) -> None:
    """Refuse unless hosted pages and the shop's ``offers`` (names of settings) are on.

    Raises ``TrafficClosed`` while the storefront is closed.
    """
    with ports.database.reading() as session:
        shop = session.get_one(models.Shop, models.SHOP_ID)
        if not shop.allow_storefront_traffic:
            raise TrafficClosed
        if not all(getattr(shop, name) for name in ("hosted_pages", *offers)):
            raise Refused(_NOT_OFFERED)


@public
def list_hosted_providers(ports: Ports, actor: Actor) -> tuple[ExternalAuthentication, ...]:
    """Return the active identity providers that can sign customers in."""
    return login_providers(ports, load_shop_state(ports).providers_version)


@input_decides
def sign_in_hosted_with_password(
    ports: Ports, actor: Actor, *, email: str | None, password: str | None
) -> HostedSession:
    """Open a session by password, with the throttle and refusals of ``create_token``."""
    _require_offered(ports, "hosted_password_login")
    begins = PendingSession(place=_HERE)
    entered = sign_in_with_password(ports, actor, begins, email=email, password=password)
    return hosted_session(entered.opened, entered.user.id)


@input_decides
def ask_for_hosted_code(
    ports: Ports, actor: Actor, *, email: str, account: AccountByCode | None = None
) -> Challenge:
    """Ask for a code by email, which makes ``account`` if none has the email.

    The same for every email. Refuses as ``request_email_code``, and INVALID on ``firstName`` and
    ``lastName``.
    """
    _require_offered(ports, "email_code_login")
    return ask_for_code(ports, actor, email, PendingSession(place=_HERE), account)


@input_decides
def verify_hosted_code(ports: Ports, actor: Actor, *, challenge: str, code: str) -> HostedSession:
    """Open a session by a code by email; refuses as ``verify_email_code`` does."""
    _require_offered(ports, "email_code_login")
    entered, _ = sign_in_with_code(ports, actor, challenge, code, _HERE)
    return hosted_session(entered.opened, entered.user.id)


@input_decides
def set_hosted_password(
    ports: Ports, actor: Actor, *, email: str, password: str, token: str
) -> HostedSession:
    """Set a password by a mailed link and sign in; refuses as ``set_password`` does."""
    _require_offered(ports, "hosted_password_login")
    begins = PendingSession(SignInMethod.LINK, place=_HERE)
    entered = sign_in_with_link(ports, actor, begins, email=email, password=password, token=token)
    return hosted_session(entered.opened, entered.user.id)


@input_decides
def ask_for_hosted_passkey(ports: Ports, actor: Actor) -> second_factor_sign_in.PasskeyChallenge:
    """Return the options for a sign-in with a passkey alone, as ``challenge_passkey`` does."""
    _require_offered(ports, "hosted_passkey_login")
    return second_factor_sign_in.ask_for_passkey(ports, actor, PendingSession(place=_HERE))


@input_decides
def ask_for_hosted_factor(
    ports: Ports, actor: Actor, *, challenge: str
) -> second_factor_sign_in.PasskeyChallenge:
    """Return the options to finish a sign-in with a passkey as second factor."""
    _require_offered(ports)
    return second_factor_sign_in.options_for(ports, actor, challenge, place=_HERE)


@input_decides
def sign_in_hosted_with_passkey(
    ports: Ports, actor: Actor, *, challenge: str, credential: str
) -> HostedSession:
    """Open a session by passkey, alone or as second factor; refuses as ``verify_passkey``."""
    _require_offered(ports)
    entered = second_factor_sign_in.sign_in_with_passkey(
        ports, actor, challenge=challenge, credential=credential, place=_HERE
    )
    return hosted_session(entered.opened, entered.user.id)


@input_decides
def show_waiting_hosted_sign_in(
    ports: Ports, actor: Actor, *, challenge: str
) -> tuple[SecondFactorType, ...]:
    """Return the ways to answer ``challenge``, for which a sign-in waits.

    Refuses INVALID on ``challenge`` for one that is over.
    """
    _require_offered(ports)
    found = second_factor_sign_in.find_challenge(
        ports, actor, challenge, ChallengePurpose.SIGN_IN, place=_HERE
    )
    with ports.database.reading() as session:
        return read_factors(session, found.user_id or 0).types


@input_decides
def verify_hosted_factor(
    ports: Ports, actor: Actor, *, challenge: str, code: str
) -> HostedSession:
    """Finish a sign-in with a code of the app, or a recovery code."""
    _require_offered(ports)
    entered = second_factor_sign_in.finish_with_code(ports, actor, challenge, code, _HERE)
    return hosted_session(entered.opened, entered.user.id)


@input_decides
def begin_hosted_sign_in(
    ports: Ports, actor: Actor, *, plugin_id: str, redirect_uri: str, again: bool = False
) -> StartedLogin:
    """Return the provider's login URL; ``redirect_uri`` is the hosted pages' own.

    ``again`` asks the provider to authenticate the person anew. Refuses NOT_FOUND for a provider
    that is unknown, inactive, or can't sign people in.
    """
    _require_offered(ports, "hosted_provider_login")
    return start_login(ports, plugin_id, redirect_uri, again=again)


@input_decides
def finish_hosted_sign_in(
    ports: Ports,
    actor: Actor,
    *,
    plugin_id: str,
    code: str | None,
    state: str | None,
    error: ProviderError | None = None,
) -> HostedSession:
    """Open a session with a provider's response; refuses as ``finish_sign_in`` does."""
    _require_offered(ports, "hosted_provider_login")
    provider = find_login_provider(ports, plugin_id)
    entered = sign_in_with_provider(
        ports, actor, provider, code=code, state=state, error=error, terms=SignInTerms(place=_HERE)
    )
    return hosted_session(entered.opened, entered.user.id)
