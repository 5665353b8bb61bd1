"""Ways to sign in at the hosted pages, each by the use case that the API has.

Each refuses before any credential is looked at while hosted pages are off or the storefront is
closed, whoever it is; the password login mode rules as everywhere.
"""

from dataclasses import dataclass, field
from datetime import datetime

from app.domain.authorization.actor import Actor
from app.domain.second_factors import ChallengePurpose, SecondFactorType
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace
from app.domain.single_sign_on.providers import ProviderError
from app.domain.values.errors import Problem, Refused, TrafficClosed
from app.models import ShopRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.accounts.password_changes import sign_in_with_link
from app.services.authorization.register import input_decides, public
from app.services.authorization.shop_state import load_shop_state
from app.services.hosted.sessions import HostedSession, hosted_session
from app.services.identity.providers import ExternalAuthentication, known_providers
from app.services.second_factors.challenges import PendingSession
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.email_codes import (
    AccountByCode,
    EmailCodeChallenge,
    ask_for_code,
    sign_in_with_code,
)
from app.services.sign_in.passkey_sign_in import (
    PasskeyChallenge,
    ask_for_passkey,
    options_for,
    sign_in_with_passkey,
)
from app.services.sign_in.password_login import sign_in_with_password
from app.services.sign_in.second_factor_sign_in import find_challenge, finish_with_code
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in
from app.services.single_sign_on.sign_in import (
    SignInTerms,
    find_login_provider,
    provider_login_url,
    sign_in_with_provider,
    store_sign_in,
)

_HERE = SignInPlace.HOSTED
_NOT_OFFERED = Problem("INVALID", "This way to sign in isn't available. Choose another one.")


@dataclass(frozen=True, slots=True)
class StartedHostedSignIn:
    """Where the browser goes, and the ``state`` that it has to come back with."""

    url: str
    state: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class WaitingHostedSignIn:
    """A sign-in that waits for a second factor, and the ways to answer."""

    expires_at: datetime
    types: tuple[SecondFactorType, ...]


def _require_offered(ports: Ports, *offers: str) -> None:
    """Refuse unless hosted pages and the shop's ``offers`` (names of settings) are on.

    Raises ``TrafficClosed`` while the storefront is closed.
    """
    with ports.database.reading() as session:
        shop = session.get_one(ShopRecord, SHOP_ID)
        if not shop.allow_storefront_traffic:
            raise TrafficClosed
        if not all(getattr(shop, name) for name in ("hosted_pages", *offers)):
            raise Refused(_NOT_OFFERED)


@public
def list_hosted_providers(ports: Ports, actor: Actor) -> tuple[ExternalAuthentication, ...]:
    """Return the active identity providers that can sign customers in."""
    vendor = ports.configuration.vendor
    version = load_shop_state(ports).providers_version
    return tuple(
        ExternalAuthentication(provider.plugin_id(vendor), provider.name)
        for provider in known_providers(ports, version)
        if provider.active and provider.signs_in
    )


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
) -> EmailCodeChallenge:
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
def ask_for_hosted_passkey(ports: Ports, actor: Actor) -> PasskeyChallenge:
    """Return the options for a sign-in with a passkey alone, as ``challenge_passkey`` does."""
    _require_offered(ports, "hosted_passkey_login")
    return ask_for_passkey(ports, actor, PendingSession(place=_HERE))


@input_decides
def ask_for_hosted_factor(ports: Ports, actor: Actor, *, challenge: str) -> PasskeyChallenge:
    """Return the options to finish a sign-in with a passkey as second factor."""
    _require_offered(ports)
    return options_for(ports, actor, challenge, place=_HERE)


@input_decides
def sign_in_hosted_with_passkey(
    ports: Ports, actor: Actor, *, challenge: str, credential: str
) -> HostedSession:
    """Open a session by passkey, alone or as second factor; refuses as ``verify_passkey``."""
    _require_offered(ports)
    entered = sign_in_with_passkey(
        ports, actor, challenge=challenge, credential=credential, place=_HERE
    )
    return hosted_session(entered.opened, entered.user.id)


@input_decides
def show_waiting_hosted_sign_in(
    ports: Ports, actor: Actor, *, challenge: str
) -> WaitingHostedSignIn:
    """Return the sign-in that waits for an answer to ``challenge``.

    Refuses INVALID on ``challenge`` for one that is over.
    """
    _require_offered(ports)
    found = find_challenge(ports, actor, challenge, ChallengePurpose.SIGN_IN, place=_HERE)
    with ports.database.reading() as session:
        types = read_factors(session, found.user_id or 0).types
    return WaitingHostedSignIn(found.expires_at, types)


@input_decides
def verify_hosted_factor(
    ports: Ports, actor: Actor, *, challenge: str, code: str
) -> HostedSession:
    """Finish a sign-in with a code of the app, or a recovery code."""
    _require_offered(ports)
    with logged_sign_in(ports, actor, SignInEntry(SignInMethod.PASSWORD)):
        found = find_challenge(ports, actor, challenge, ChallengePurpose.SIGN_IN, place=_HERE)
    entered = finish_with_code(ports, actor, found, challenge, code)
    return hosted_session(entered.opened, entered.user.id)


@input_decides
def begin_hosted_sign_in(
    ports: Ports, actor: Actor, *, plugin_id: str, redirect_uri: str, again: bool = False
) -> StartedHostedSignIn:
    """Return the provider's login URL; ``redirect_uri`` is the hosted pages' own.

    ``again`` asks the provider to authenticate the person anew. Refuses NOT_FOUND for a provider
    that is unknown, inactive, or can't sign people in.
    """
    _require_offered(ports, "hosted_provider_login")
    provider = find_login_provider(ports, plugin_id)
    started = store_sign_in(ports, provider, redirect_uri)
    url = provider_login_url(ports, provider, started, "login" if again else "")
    return StartedHostedSignIn(url, started.state)


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
        ports,
        actor,
        provider,
        code=code,
        state=state,
        error=error,
        terms=SignInTerms(place=_HERE),
    )
    return hosted_session(entered.opened, entered.user.id)
