"""Sign in through a provider's login page.

Authorization code with PKCE S256, a nonce, and a single-use state (RFC 9700, 2.1; OpenID Connect
Core, 3.1). Contract, "Operations" and "What existing clients hold us to".
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import ScopeGrant, granted_scopes
from app.domain.keys import PENDING_SIGN_IN
from app.domain.second_factors import digest_of_challenge
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace, SignInReason
from app.domain.single_sign_on import provider_tokens
from app.domain.single_sign_on.provider_users import (
    ExternalPerson,
    email_verified,
    lacks_groups,
    read_person,
)
from app.domain.single_sign_on.providers import Provider, ProviderError, requested_scope
from app.domain.single_sign_on.waiting_changes import waits_for
from app.domain.values.errors import Problem, Refused, TokenFault, TokenRejected, refuse_any
from app.domain.values.inputs import missing_problems
from app.domain.values.text import Phrase
from app.ports import Ports
from app.ports.http import CallFailed
from app.ports.identity_provider import Client, GrantRefused, SignIn, TokenResponse
from app.ports.process_cache import CallPurpose
from app.services.accounts.email_links import client_url_problem
from app.services.authorization.register import building_block, input_decides
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.linked_accounts import find_or_create_account
from app.services.identity.provider_assertions import (
    ProviderPerson,
    assert_person,
    require_codes_allowed,
    require_honoured,
)
from app.services.identity.provider_calls import calling, fetch_user_info, verify_with
from app.services.identity.providers import provider_of, secret_for_token_url
from app.services.identity.users import load_user
from app.services.sign_in.sessions import (
    NO_STAFF,
    OpenedSession,
    ProviderSession,
    SessionStart,
    open_session,
)
from app.services.sign_in.tokens import TokenPair, sign_pair
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in, record_sign_in

LIFETIME = timedelta(minutes=10)
"""For how long somebody may be at the provider's login."""

_LENGTH = 43
"""Letters and digits of each secret: 256 bits; RFC 7636, 4.1, asks for 43 characters at least."""

_UNKNOWN = Problem("NOT_FOUND", "This sign-in method is no longer available. Choose another one.")
_WORTHLESS = Problem(
    "INVALID", "This sign-in has expired, was already used or wasn't started here.", "state"
)


@dataclass(frozen=True, slots=True)
class StartedSignIn:
    """A sign-in, and its secrets: the ``state`` that names it, the nonce, the PKCE verifier."""

    redirect_uri: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)


@building_block
def store_sign_in(
    ports: Ports, provider: Provider, redirect_uri: str, links_in: int | None = None
) -> StartedSignIn:
    """Return a new sign-in at ``provider`` that ends at ``redirect_uri``, stored.

    ``links_in`` is the key of the session in which it links an identity instead.
    """
    state, nonce, verifier = (ports.randomness.token(_LENGTH) for _ in range(3))
    settings = provider.trust_version
    kept = {"nonce": nonce, "verifier": verifier, "settings": settings, "links_in": links_in}
    secrets = json.dumps(kept)
    with ports.database.transaction() as session:
        session.add(
            models.OidcState(
                digest=digest_of_challenge(state),
                provider_id=provider.id,
                redirect_uri=redirect_uri,
                sealed=ports.encryption.encrypt(PENDING_SIGN_IN, secrets),
                expires_at=ports.clock.now() + LIFETIME,
            )
        )
    return StartedSignIn(redirect_uri, state, nonce, verifier)


@building_block
def take_sign_in(
    ports: Ports, provider: Provider, state: str, links_in: int | None = None
) -> StartedSignIn:
    """Delete and return the pending sign-in of ``state``, which works once.

    Refuses INVALID on ``state`` for one that is unknown, used, too old, or of another provider, or
    of other settings: a code goes only to the token URL for which its sign-in began. So it does
    for one that doesn't link in the session ``links_in``: no sign-in links, no link signs in.
    """
    record = models.OidcState
    take = (
        delete(record)
        .where(record.digest == digest_of_challenge(state))
        .returning(record.provider_id, record.redirect_uri, record.sealed, record.expires_at)
    )
    with ports.database.transaction() as session:
        row = session.execute(take).one_or_none()
    if row is None or row.expires_at <= ports.clock.now() or row.provider_id != provider.id:
        raise Refused(_WORTHLESS)
    secrets = json.loads(ports.encryption.decrypt(PENDING_SIGN_IN, row.sealed))
    if secrets.get("settings", provider.trust_version) != provider.trust_version:
        raise Refused(_WORTHLESS)
    if secrets.get("links_in") != links_in:
        raise Refused(_WORTHLESS)
    return StartedSignIn(row.redirect_uri, state, secrets["nonce"], secrets["verifier"])


@building_block
def ask_for_tokens(
    ports: Ports, provider: Provider, purpose: CallPurpose, ask: Callable[[Client], TokenResponse]
) -> TokenResponse:
    """Call ``ask`` at the token endpoint as this service's client.

    Refuses INVALID when the provider doesn't respond; raises ``GrantRefused`` when it refuses.
    """
    client = client_of(ports, provider)  # before the call, for which a lost secret doesn't count
    try:
        with calling(ports, provider.oauth_token_url, purpose):
            return ask(client)
    except CallFailed as failed:
        raise unavailable(failed) from failed


@building_block
def client_of(ports: Ports, provider: Provider) -> Client:
    """Return this service as the client of the provider's token endpoint."""
    secret = secret_for_token_url(ports, provider)
    return Client(provider.oauth_token_url, provider.client_id, secret)


@building_block
def unavailable(failed: CallFailed) -> Refused:
    """Return the refusal for sign-ins while the provider doesn't respond."""
    message = "The identity provider gave no usable answer. {failed}"
    return Refused(Problem("INVALID", message, values={"failed": Phrase(failed)}))


@building_block
def read_identity(
    ports: Ports, provider: Provider, tokens: TokenResponse, nonce: str | None
) -> provider_tokens.IdToken:
    """Return the person of the ID token; raises ``TokenRejected`` or ``CallFailed``.

    ``nonce`` is that of the sign-in, ``None`` for a refresh.
    """
    if not tokens.id_token:
        raise provider_tokens.ProviderTokenRejected("The provider returned no ID token.")
    signed = verify_with(ports, provider, tokens.id_token)
    return provider_tokens.read_id_token(
        signed, provider, nonce=nonce, now=ports.clock.timestamp()
    )


def _read_details(
    ports: Ports, provider: Provider, tokens: TokenResponse, identity: provider_tokens.IdToken
) -> ExternalPerson:
    """Return the person by the ID token, or by user-info if that has no verified email.

    Groups that the ID token doesn't have are looked for there too. The token may be worth
    something elsewhere, so it isn't sent to a URL that waits.
    """
    is_askable = provider.user_info_url and not waits_for(provider, "user_info_url")
    is_complete = email_verified(identity.claims) and not lacks_groups(provider, identity.claims)
    if is_complete or not is_askable:
        return read_person(identity.claims, provider)
    claims = fetch_user_info(ports, provider, tokens.access_token, CallPurpose.VERIFIED)
    person = read_person({**identity.claims, **claims}, provider, identity.subject)
    if email_verified(identity.claims):
        return replace(read_person(identity.claims, provider), groups=person.groups)
    return person


@building_block
def read_rights(
    ports: Ports, provider: Provider, tokens: TokenResponse, unsaid: ScopeGrant
) -> ScopeGrant | None:
    """Return the permissions in the access token; ``None`` where they are kept here.

    An opaque token was made for another reader: then the token response's scope counts, else
    ``unsaid``. Raises ``TokenRejected`` for another audience.
    """
    if not provider.use_oauth_scope_permissions:
        return None
    shop = ports.configuration.scope_prefix
    prefix = provider.prefix_of_scopes(shop)
    if provider_tokens.is_signed(tokens.access_token):
        try:
            signed = verify_with(ports, provider, tokens.access_token)
        except TokenRejected as rejected:
            if rejected.fault not in (TokenFault.SIGNATURE, TokenFault.ALGORITHM):
                raise
        else:
            provider_tokens.read_access_token(
                signed, provider, now=ports.clock.timestamp(), shop=shop
            )
            claims = signed.claims
            return granted_scopes(claims.get("scope"), claims.get("permissions"), prefix)
    return unsaid if tokens.scope is None else granted_scopes(tokens.scope, None, prefix)


_SOMEBODY_ELSE = Problem(
    "INVALID",
    "A different person signed in at the identity provider. You're still "
    "signed in as yourself, and nothing was changed.",
)


@dataclass(frozen=True, slots=True)
class SignInTerms:
    """Where and who: at the console staff only; or one person only; the session's lifetime."""

    place: SignInPlace = SignInPlace.API
    user_id: int | None = None
    lifetime: timedelta | None = None

    @property
    def staff_only(self) -> bool:
        return self.place is SignInPlace.CONSOLE


OPEN_TO_ALL = SignInTerms()


@dataclass(frozen=True, slots=True)
class ProviderSignIn:
    """A session that has begun at a provider.

    ``proved_ago`` is how many seconds ago the person proved there who they are, as far as known.
    """

    opened: OpenedSession
    user: User
    proved_ago: float


@dataclass(frozen=True, slots=True)
class VerifiedSignIn:
    """A person whose sign-in at the provider was verified."""

    provider_person: ProviderPerson
    sid: str
    refresh_token: str
    proved_ago: float


@building_block
def find_login_provider(ports: Ports, plugin_id: str) -> Provider:
    """Return the provider; refuses NOT_FOUND if it's unknown, inactive, or signs no one in."""
    provider = provider_of(ports, plugin_id)
    if provider is None or not provider.signs_in:
        raise Refused(_UNKNOWN)
    return provider


@dataclass(frozen=True, slots=True)
class StartedLogin:
    """The provider's name, where the browser goes, and the ``state`` that it comes back with."""

    provider: str
    url: str
    state: str = field(repr=False)


@building_block
def start_login(
    ports: Ports,
    plugin_id: str,
    redirect_uri: str,
    *,
    again: bool = False,
    links_in: int | None = None,
) -> StartedLogin:
    """Begin a login at a provider that ends at ``redirect_uri``.

    ``again`` asks who is signed in there already to prove it once more; ``links_in`` as for
    ``store_sign_in``. Refuses as ``find_login_provider`` does.
    """
    provider = find_login_provider(ports, plugin_id)
    started = store_sign_in(ports, provider, redirect_uri, links_in)
    url = _login_url(ports, provider, started, "login" if again else "")
    return StartedLogin(provider.name, url, started.state)


@input_decides
def begin_sign_in(
    ports: Ports, actor: Actor, *, plugin_id: str | None, redirect_uri: str | None
) -> str | None:
    """Return the provider's login URL (`externalAuthenticationUrl`).

    ``None`` for a plugin that is unknown, inactive, or can't sign people in. Refuses REQUIRED and
    INVALID on ``redirectUri``: its host must be in ``ALLOWED_CLIENT_HOSTS``.
    """
    provider = provider_of(ports, plugin_id)
    if provider is None or not provider.signs_in:
        return None
    refuse_any(client_url_problem(ports, redirect_uri or "", "redirectUri"))
    return _login_url(ports, provider, store_sign_in(ports, provider, redirect_uri or ""))


def _login_url(ports: Ports, provider: Provider, started: StartedSignIn, prompt: str = "") -> str:
    """Return the provider's login URL; ``prompt`` as in OpenID Connect Core, 3.1.2.1."""
    return ports.identity_provider.authorization_url(
        SignIn(
            authorization_url=provider.oauth_authorization_url,
            client_id=provider.client_id,
            redirect_uri=started.redirect_uri,
            scope=requested_scope(provider, ports.configuration.scope_prefix),
            state=started.state,
            nonce=started.nonce,
            verifier=started.verifier,
            audience=provider.audience,
            prompt=prompt,
        )
    )


@input_decides
def finish_sign_in(
    ports: Ports,
    actor: Actor,
    *,
    plugin_id: str | None,
    code: str | None,
    state: str | None,
    error: ProviderError | None = None,
) -> TokenPair | None:
    """Return Latchkey's tokens for a code of the provider (`externalObtainAccessTokens`).

    ``error`` is what the provider sent the browser back with instead of a code: it is refused, as
    INVALID on ``error``.
    ``None`` for a plugin that is unknown, inactive, or leads through no login. Refuses REQUIRED on
    ``code`` and ``state``; INVALID on ``state`` (unknown, used, too old, of another provider), on
    ``code`` (the provider refuses it, or what it gives cannot be believed), and on no field when
    the provider does not answer; and what ``find_or_create_account`` refuses.
    """
    provider = provider_of(ports, plugin_id)
    if provider is None or not provider.signs_in:
        return None
    entered = sign_in_with_provider(ports, actor, provider, code=code, state=state, error=error)
    switches = load_shop_state(ports).switches
    return sign_pair(ports, actor, entered.opened, entered.user, switches)


@building_block
def sign_in_with_provider(
    ports: Ports,
    actor: Actor,
    provider: Provider,
    *,
    code: str | None,
    state: str | None,
    error: ProviderError | None = None,
    terms: SignInTerms = OPEN_TO_ALL,
) -> ProviderSignIn:
    """Open a session for a person back from ``provider``; refuses as ``finish_sign_in`` does.

    Refuses INVALID to anyone whom ``terms`` exclude, without an account or session.
    """
    entry = SignInEntry(SignInMethod.SSO, provider=provider.name, in_console=terms.staff_only)
    with logged_sign_in(ports, actor, entry):
        if not state or not (code or error):
            raise Refused(*missing_problems(code=code or error or None, state=state or None))
        entry.reason = SignInReason.SSO_EXPIRED
        started = take_sign_in(ports, provider, state)
        entry.reason = SignInReason.SSO_REFUSED
        if error is not None:
            raise _provider_refusal(entry, error, provider)
        require_codes_allowed(ports, provider)
        proven = verify_code(ports, provider, started, code or "")
        entry.reason = SignInReason.SSO_NOT_LINKED
        entry.email = proven.provider_person.person.email
        try:
            return _sign_in(ports, actor, proven, terms, entry)
        except IntegrityError:
            # The same person came in elsewhere, by a moment quicker.
            return _sign_in(ports, actor, proven, terms, entry)


def _provider_refusal(entry: SignInEntry, error: ProviderError, provider: Provider) -> Refused:
    if error.is_temporary:
        entry.reason = SignInReason.UNAVAILABLE
    return Refused(error.problem(provider.name))


@building_block
def verify_code(
    ports: Ports, provider: Provider, started: StartedSignIn, code: str
) -> VerifiedSignIn:
    """Verify the ``code`` and return the person it stands for."""

    def exchange(client: Client) -> TokenResponse:
        return ports.identity_provider.exchange(
            client, code=code, redirect_uri=started.redirect_uri, verifier=started.verifier
        )

    try:
        tokens = ask_for_tokens(ports, provider, CallPurpose.SIGN_IN, exchange)
        identity = read_identity(ports, provider, tokens, started.nonce)
        require_honoured(ports, provider, identity.issuer, identity.subject)
        person = _read_details(ports, provider, tokens, identity)
        # Nothing is granted by silence, although it means "as requested" (RFC 6749, 5.1).
        grant = read_rights(ports, provider, tokens, unsaid=ScopeGrant())
    except GrantRefused as refused:
        raise Refused(
            Problem("INVALID", "{refused}.", "code", values={"refused": refused})
        ) from refused
    except TokenRejected as rejected:
        raise Refused(
            Problem("INVALID", provider_tokens.reason_of(rejected), "code")
        ) from rejected
    except CallFailed as failed:
        raise unavailable(failed) from failed
    said = ProviderPerson(provider, identity.issuer, person, grant, amr=identity.amr)
    provider_person = assert_person(ports, said)
    refresh_token = tokens.refresh_token if provider.enable_refresh_token else ""
    return VerifiedSignIn(provider_person, identity.sid, refresh_token, identity.proved_ago)


def _sign_in(
    ports: Ports, actor: Actor, proven: VerifiedSignIn, terms: SignInTerms, entry: SignInEntry
) -> ProviderSignIn:
    provider_person = proven.provider_person
    with ports.database.transaction() as session:
        identity, user = find_or_create_account(ports, actor, session, provider_person)
        entry.email = user.email
        started = ProviderSession(
            provider_person.provider.id,
            identity.id,
            proven.sid,
            proven.refresh_token,
            provider_person.rights,
        )
        start = SessionStart(
            SessionOrigin.OIDC,
            started,
            terms.lifetime,
            provider_person.amr,
            place=terms.place,
            proved_ago=proven.proved_ago,
        )
        opened = open_session(ports, actor, session, user.id, start)
        entered = load_user(session, user.id)
        is_staff = (
            entered.is_staff if provider_person.rights is None else provider_person.rights.is_staff
        )
        if terms.staff_only and not is_staff:
            entry.reason = SignInReason.NOT_STAFF
            raise Refused(NO_STAFF)
        if terms.user_id not in (None, user.id):
            entry.reason = SignInReason.SSO_OTHER_PERSON
            raise Refused(_SOMEBODY_ELSE)
        record_sign_in(ports, actor, session, entry, user, is_staff=is_staff)
        return ProviderSignIn(opened, entered, proven.proved_ago)
