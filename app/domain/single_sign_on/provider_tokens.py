"""Check the claims of providers' tokens, after their signatures.

RFC 9068 (access tokens), OpenID Connect Core 1.0, 3.1.3.7 (ID tokens), Back-Channel Logout 1.0,
2.6 (logout tokens); RFC 8725 for all. RFC 8176 says which claims mean a second factor.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from app.domain.apps import apps
from app.domain.authorization.permissions import ScopeGrant, granted_scopes, scope_words
from app.domain.deliveries import signatures
from app.domain.second_factors import AuthenticationMethod
from app.domain.sign_in.jws import peek, peek_part
from app.domain.single_sign_on.providers import DEFAULT_SUBJECT_CLAIM, Provider
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.text import Sentence
from app.domain.values.times import CLOCK_LEEWAY, is_time

MAX_METHODS = 10
"""Authentication methods of a provider that a session stores."""

_WORD = re.compile(r"[\x21-\x7e]{1,20}")


def read_session_methods(claims: Mapping[str, object], provider: Provider) -> tuple[str, ...]:
    """Return the authentication methods of a session that ``claims`` begin.

    Those of the claim ``amr`` and ``mfa``, if ``amr`` contains a value, or ``acr`` is a value,
    that the provider's settings list; otherwise none. ``claims`` are of a verified token.
    """
    methods = tuple(_strings(claims.get("amr")))
    by_amr = not set(provider.second_factor_amr.split()).isdisjoint(methods)
    by_acr = claims.get("acr") in provider.second_factor_acr.split()
    if not (by_amr or by_acr):
        return ()
    words = dict.fromkeys(method for method in methods if _WORD.fullmatch(method))
    words.pop(AuthenticationMethod.MULTIPLE_FACTORS, None)
    return (*islice(words, MAX_METHODS), AuthenticationMethod.MULTIPLE_FACTORS.value)


def _strings(value: object) -> Iterator[str]:
    """Yield the values of a claim that is an array of strings; some providers send one string."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, str))


ALGORITHMS = frozenset(
    f"{family}{bits}" for family in ("RS", "PS", "ES") for bits in (256, 384, 512)
) | {"EdDSA"}
"""What providers may sign with: never ``none``, and nothing whose key is a shared secret."""

MAX_SUBJECT_LENGTH = 255
MAX_ISSUER_LENGTH = 900
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_OLDEST_LOGOUT = 300
"""Seconds after which a logout token is too old to be a message that is on its way."""

_ACCESS_TYPES = ("", "jwt", "at+jwt", "application/at+jwt")
_KINDS = ("typ", "token_use")
"""Claims in which Keycloak and Cognito write the kind of a token."""

_ID_KIND = "id"
_NO_ACCESS_KINDS = (_ID_KIND, "refresh", "offline", "logout")
_ACCESS_KINDS = ("bearer", "access")

_OUR_MARKS = (apps.TOKEN_PREFIX, signatures.SECRET_PREFIX)
_JWE_DOTS = 4
"""Header, encrypted key, initialization vector, ciphertext, authentication tag."""

_HASHES = ("at_hash", "c_hash", "s_hash")
"""Claims that tie an ID token to what was issued with it (OpenID Connect Core, 3.3.2.11)."""

_SCOPES = ("scope", "scp")
"""Claims of access tokens for their scopes; Okta, Entra ID and Ory Hydra write ``scp``."""

_OPENID = "openid"
_NO_OPENID = "The token's scope doesn't contain openid. The client has to request that scope."
_CLIENT_CLAIMS = ("azp", "client_id", "cid", "appid")
"""Names of the client that a token was issued to; the last two are Okta's and Entra's."""


class ProviderTokenRejected(TokenRejected):
    """A provider's token, or its claims about a person, are invalid; ``reason`` says why."""

    def __init__(self, reason: Sentence, fault: TokenFault = TokenFault.INVALID) -> None:
        super().__init__(fault)
        self.reason = reason


class ClientTokenRejected(ProviderTokenRejected):
    """A token that a client got for itself isn't an app's: it is nobody's."""

    def __init__(self, reason: Sentence, fault: TokenFault = TokenFault.INVALID) -> None:
        super().__init__(reason, fault)


def reason_of(rejected: TokenRejected) -> Sentence:
    """Return why a provider's token was rejected, for the person who configures the provider."""
    if isinstance(rejected, ProviderTokenRejected):
        return rejected.reason
    return _UNTRUSTED[rejected.fault]


_UNTRUSTED = {
    TokenFault.EXPIRED: "A token from the provider can't be trusted: Signature has expired.",
    TokenFault.SIGNATURE: (
        "A token from the provider can't be trusted: Signature verification failed."
    ),
    TokenFault.ALGORITHM: (
        "A token from the provider can't be trusted: The specified alg value is not allowed."
    ),
    TokenFault.IMMATURE: (
        "A token from the provider can't be trusted: The token is not yet valid."
    ),
    TokenFault.UNDECODABLE: (
        "A token from the provider can't be trusted: Invalid token. It cannot be decoded."
    ),
    TokenFault.INVALID: (
        "A token from the provider can't be trusted: Invalid token. Create new one by using "
        "tokenCreate mutation."
    ),
    TokenFault.PROVIDER: (
        "A token from the provider can't be trusted: The identity provider that issued this token "
        "isn't responding."
    ),
}


@dataclass(frozen=True, slots=True)
class SignedToken:
    """A token whose signature is the provider's; nothing in it has been looked at."""

    header: Mapping[str, object]
    claims: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class AccessToken:
    """An access token that may be used here; times are Unix seconds.

    It is good from ``not_before`` on, the leeway of the clocks included. ``issuer`` is empty where
    the token names none, ``subject`` is ``None`` where only user info knows it, ``grant`` is
    ``None`` where rights are kept here. ``amr`` are the authentication methods, if the provider
    says that a second factor was used.
    """

    issuer: str
    subject: str | None
    expires: float
    issued: float | None
    not_before: float
    grant: ScopeGrant | None
    amr: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientToken:
    """A token that a client got for itself, as the app it may be linked to; times as above."""

    issuer: str
    client_id: str
    subject: str
    expires: float
    issued: float | None
    not_before: float


@dataclass(frozen=True, slots=True)
class IdToken:
    """The claims of a sign-in; ``sid`` is the provider's session, if known.

    ``proved_ago`` is how many seconds before issue the person authenticated there; 0 if unknown.
    ``amr`` are the authentication methods, if the provider says that a second factor was used.
    """

    issuer: str
    subject: str
    sid: str
    claims: Mapping[str, object]
    proved_ago: float = 0.0
    amr: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogoutToken:
    """The sessions that a provider ended: one by ``sid``, or all of ``subject``.

    ``issued`` is in Unix seconds.
    """

    issuer: str
    subject: str
    sid: str
    issued: float


def is_signed(token: str) -> bool:
    """Whether ``token`` has the form of a signed one: it is then never taken for an opaque one."""
    return token.count(".") == 2  # noqa: PLR2004 - header, claims, signature


def is_opaque(token: str) -> bool:
    """Whether a provider may have issued ``token`` without a signature, and can be asked about it.

    False for a possible credential of another system, which must not be sent to the provider:
    an app token or webhook secret of Latchkey's, complete or not, and a part of a signed token. An
    encrypted token (RFC 7516) is opaque to everyone but the provider.
    """
    if is_signed(token) or any(mark in token.lower() for mark in _OUR_MARKS):
        return False
    is_encrypted = token.count(".") == _JWE_DOTS and "enc" in peek_part(token, 0)
    return is_encrypted or not any(peek_part(token, place) for place in (0, 1))


def claimed_issuer(token: str) -> str | None:
    """Return the unverified issuer of ``token``, to choose the provider."""
    issuer = peek(token).get("iss")
    return issuer if isinstance(issuer, str) else None


def read_access_token(
    token: SignedToken, provider: Provider, *, now: float, shop: str
) -> AccessToken:
    """Return the access token in ``token``; raises ``ProviderTokenRejected``.

    Refused are another issuer where one is configured, another audience where one is configured,
    a token without ``exp``, and tokens of other kinds (ID, refresh, logout).

    ``shop`` is the installation's prefix of scopes, which counts unless the provider has its own.
    """
    claims = token.claims
    _require_access_kind(token, provider)
    issuer = _issuer(claims, provider)
    if provider.audience and provider.audience not in _audience(claims):
        raise ProviderTokenRejected("The token is meant for another audience.")
    expires, issued, not_before = _times(claims, now)
    grant = None
    if provider.use_oauth_scope_permissions:
        # Without an audience it isn't known whether the scopes were granted for this service.
        has_audience = provider.audience != ""
        grant = (
            granted_scopes(
                claims.get("scope"), claims.get("permissions"), provider.prefix_of_scopes(shop)
            )
            if has_audience
            else ScopeGrant()
        )
    amr = read_session_methods(claims, provider)
    subject = _access_subject(claims, provider)
    return AccessToken(issuer, subject, expires, issued, not_before, grant, amr)


def read_bearer_token(
    token: SignedToken, provider: Provider, *, now: float, shop: str
) -> AccessToken:
    """Return the access token that a person's client brings; raises ``ProviderTokenRejected``.

    As ``read_access_token``, and a token that tells its scopes in ``scope`` must have ``openid``
    among them (contract, "Single sign-on").
    """
    access = read_access_token(token, provider, now=now, shop=shop)
    scope = token.claims.get("scope")
    if scope is not None and _OPENID not in scope_words(scope):
        raise ProviderTokenRejected(_NO_OPENID)
    return access


def is_of_client(token: SignedToken) -> bool:
    """Whether a token says that a client got it for itself: no person has signed in.

    Providers say so in their own ways: the client as the subject (RFC 9068, 2.2; Okta), a grant
    type (Auth0), a kind (Entra), or the name of a client's account (Keycloak).
    """
    claims = token.claims
    named = _named_clients(claims)
    subjects = [*named, *(f"{name}@clients" for name in named)]
    accounts = [f"service-account-{name.lower()}" for name in named]
    return (
        claims.get("sub") in subjects
        or claims.get("gty") in ("client-credentials", "client_credentials")
        or claims.get("idtyp") == "app"
        or claims.get("preferred_username") in accounts
    )


def read_client_token(token: SignedToken, provider: Provider, *, now: float) -> ClientToken:
    """Return a token that a client got for itself; raise ``ProviderTokenRejected``.

    Refused is a token that shows a person, names no client or several, or isn't an access token
    for the provider's configured audience.
    """
    claims = token.claims
    for name in _SHOW_PERSON:
        if claims.get(name) is not None:
            raise ClientTokenRejected(f"The token has the claim {name}: it shows a person.")
    _require_access_kind(token, provider)
    issuer = _issuer(claims, provider)
    if not provider.issuer or not provider.audience:
        raise ClientTokenRejected(CLIENTS_NEED)
    if provider.audience not in _audience(claims):
        raise ProviderTokenRejected("The token is meant for another audience.")
    named = _named_clients(claims)
    if len(named) != 1:
        raise ClientTokenRejected("The token doesn't name one client.")
    expires, issued, not_before = _times(claims, now)
    return ClientToken(issuer, named.pop(), _subject(claims), expires, issued, not_before)


CLIENTS_NEED: Sentence = "Set the provider's issuer and audience: linked clients need both."
NOT_LINKED: Sentence = (
    "A client got this token for itself, and no active app is linked to the client."
)
CLIENTS_WAIT: Sentence = (
    "The identity provider's settings were changed, and the change isn't confirmed yet. Until a "
    "superuser confirms it, no client of the provider can act as an app."
)
_SHOW_PERSON = ("email", "sid", "auth_time", "amr", "nonce", "act")
"""Claims that no token has which a client got for itself."""


def _named_clients(claims: Mapping[str, object]) -> set[str]:
    """Return the clients that a token says it was issued to; several if it contradicts itself.

    What isn't a text counts as a client that no link has.
    """
    named = (claims.get(name) for name in _CLIENT_CLAIMS)
    return {name if isinstance(name, str) else "" for name in named if name is not None}


def is_id_token(token: SignedToken, provider: Provider) -> bool:
    """Whether ``token`` is an ID token, by what only ID tokens have.

    Those are a stated kind, and hashes of what was issued along with it. A nonce and the client as
    the audience count only where nothing says that it is an access token: some providers write a
    nonce into both, and list the client among the audiences of both.
    """
    claims, kinds = token.claims, _kinds(token.claims)
    if _ID_KIND in kinds or any(claims.get(name) is not None for name in _HASHES):
        return True
    is_access = (
        _type(token.header).endswith("at+jwt")
        or not kinds.isdisjoint(_ACCESS_KINDS)
        or any(claims.get(name) is not None for name in _SCOPES)
    )
    return not is_access and (claims.get("nonce") is not None or _is_for_client(claims, provider))


def _is_for_client(claims: Mapping[str, object], provider: Provider) -> bool:
    """Whether the audience is that of an ID token for this client, not of an access token."""
    audience = _audience(claims)
    if provider.client_id not in audience or provider.audience in {*audience} - {
        provider.client_id
    }:
        return False
    # An ID token with several audiences names its client (OpenID Connect Core, 2, "azp").
    return len(audience) == 1 or claims.get("azp") == provider.client_id


def serves_staff_with(token: SignedToken, provider: Provider) -> bool:
    """Whether a client's access token gives its person staff rights.

    Refused is a token of a client that isn't accepted, or unknown, where clients are listed.
    The audience names none: it is who the token is for.
    """
    if not provider.accepted_clients:
        return provider.audience != "" or provider.serves_staff_of_any_client
    # An empty client ID accepts no token.
    accepted = {provider.client_id, *provider.accepted_clients.replace(",", " ").split()}
    named = [token.claims[name] for name in _CLIENT_CLAIMS if token.claims.get(name) is not None]
    if not named or not all(isinstance(name, str) and name in accepted - {""} for name in named):
        raise ProviderTokenRejected("The token was issued to a client that isn't accepted here.")
    return True


def read_id_token(
    token: SignedToken, provider: Provider, *, nonce: str | None, now: float
) -> IdToken:
    """Return the ID token in ``token``, made for the sign-in with that ``nonce``.

    ``None`` for one that came with a refresh (OpenID Connect Core, 12.2). Raises
    ``ProviderTokenRejected``.
    """
    claims = token.claims
    issuer = _issuer(claims, provider)
    audience = _audience(claims)
    if provider.client_id not in audience:
        raise ProviderTokenRejected("The ID token is meant for another client.")
    party = claims.get("azp")
    if (party is not None or len(audience) > 1) and party != provider.client_id:
        raise ProviderTokenRejected("The ID token was issued to another client.")
    _times(claims, now)
    if claims.get("events") is not None or (nonce is not None and claims.get("nonce") != nonce):
        raise ProviderTokenRejected("The ID token belongs to another sign-in.")
    sid = claims.get("sid")
    session_id = sid if isinstance(sid, str) and len(sid) <= MAX_SUBJECT_LENGTH else ""
    amr = read_session_methods(claims, provider)
    return IdToken(issuer, _subject(claims), session_id, claims, _proved_ago(claims), amr)


def read_logout_token(token: SignedToken, provider: Provider, *, now: float) -> LogoutToken:
    """Return the logout token in ``token``; raises ``ProviderTokenRejected``."""
    header, claims = token.header, token.claims
    if _type(header) not in ("", "jwt", "logout+jwt", "application/logout+jwt"):
        raise ProviderTokenRejected("This is no logout token.")
    issuer = _issuer(claims, provider)
    if provider.client_id not in _audience(claims):
        raise ProviderTokenRejected("The logout token is meant for another client.")
    events = claims.get("events")
    if not isinstance(events, Mapping) or not isinstance(events.get(_LOGOUT_EVENT), Mapping):
        raise ProviderTokenRejected("This is no logout token.")
    if "nonce" in claims:
        raise ProviderTokenRejected("A logout token can't have a nonce.")
    _, issued, _ = _times(claims, now)
    if issued is None or issued < now - _OLDEST_LOGOUT:
        raise ProviderTokenRejected("The logout token is too old.", TokenFault.EXPIRED)
    subject, sid = claims.get("sub", ""), claims.get("sid", "")
    if not isinstance(subject, str) or not isinstance(sid, str) or not (subject or sid):
        raise ProviderTokenRejected("The logout token has no subject or session.")
    return LogoutToken(issuer, subject, sid, issued)


def read_user_info(token: SignedToken, provider: Provider, *, now: float) -> Mapping[str, object]:
    """Return the claims of a signed user info (OpenID Connect Core, 5.3.2).

    Its issuer must be the provider's, and its times must fit, as far as it has them. Raises
    ``ProviderTokenRejected``.
    """
    claims = token.claims
    if claims.get("iss") is not None:
        _issuer(claims, provider)
    if any(claims.get(name) is not None for name in ("exp", "iat", "nbf")):
        present = {name: value for name, value in claims.items() if value is not None}
        _times({"exp": now + 1, **present}, now)
    return claims


def _require_access_kind(token: SignedToken, provider: Provider) -> None:
    if is_id_token(token, provider):
        raise ProviderTokenRejected("This is an ID token, not an access token.")
    is_other = not _kinds(token.claims).isdisjoint(_NO_ACCESS_KINDS)
    is_logout = token.claims.get("events") is not None
    if _type(token.header) not in _ACCESS_TYPES or is_other or is_logout:
        raise ProviderTokenRejected("This isn't an access token.")


def _kinds(claims: Mapping[str, object]) -> frozenset[str]:
    return frozenset(str(claims.get(name, "")).lower() for name in _KINDS)


def _access_subject(claims: Mapping[str, object], provider: Provider) -> str | None:
    """Return the subject by the provider's ``subject_claim``; ``None`` if only user info knows it.

    Keycloak leaves out ``sub`` without its scope ``basic``. Another claim was configured because
    ``sub`` isn't the subject, so it must be there.
    """
    subject = claims.get(provider.subject_claim)
    if subject is not None:
        return read_subject(subject)
    if provider.subject_claim == DEFAULT_SUBJECT_CLAIM:
        return None
    raise ProviderTokenRejected(
        f"The token has no {provider.subject_claim}, which is the provider's subject claim."
    )


def _type(header: Mapping[str, object]) -> str:
    return str(header.get("typ", "")).lower()


def _issuer(claims: Mapping[str, object], provider: Provider) -> str:
    issuer = claims.get("iss", "")
    if not isinstance(issuer, str) or len(issuer) > MAX_ISSUER_LENGTH:
        raise ProviderTokenRejected("The token's issuer isn't a string.")
    if provider.issuer and issuer != provider.issuer:
        raise ProviderTokenRejected("The token is from another issuer.")
    return issuer


def _audience(claims: Mapping[str, object]) -> tuple[str, ...]:
    audience = claims.get("aud")
    if isinstance(audience, str):
        return (audience,)
    if isinstance(audience, list) and all(isinstance(value, str) for value in audience):
        return tuple(audience)
    return ()


def _subject(claims: Mapping[str, object]) -> str:
    return read_subject(claims.get("sub"))


def read_subject(value: object) -> str:
    """A subject: a text of 1 to 255 characters; raises ``ProviderTokenRejected`` otherwise."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_SUBJECT_LENGTH:
        raise ProviderTokenRejected("The provider's response has no subject.")
    if not value.isprintable():
        raise ProviderTokenRejected("The provider's subject can't be stored.")
    return value


def _times(claims: Mapping[str, object], now: float) -> tuple[float, float | None, float]:
    """Return when the token expires, was issued, and is good from.

    Refuses one that has expired, without leeway, or that is more than the leeway ahead of us.
    """
    expires = _moment(claims, "exp")
    if expires is None:
        raise ProviderTokenRejected("The token has no expiry.")
    if expires <= now:
        raise ProviderTokenRejected("The token has expired.", TokenFault.EXPIRED)
    issued = _moment(claims, "iat")
    not_before = max(issued or 0.0, _moment(claims, "nbf") or 0.0) - CLOCK_LEEWAY
    if not_before > now:
        raise ProviderTokenRejected("The token isn't valid yet.", TokenFault.IMMATURE)
    return expires, issued, not_before


def _proved_ago(claims: Mapping[str, object]) -> float:
    """By ``auth_time`` and the provider's own clock; some providers write 0 for no time."""
    try:
        proved, issued = _moment(claims, "auth_time"), _moment(claims, "iat")
    except ProviderTokenRejected:
        return 0.0  # an unreadable time doesn't refuse a sign-in
    return max(0.0, issued - proved) if proved and issued else 0.0


def _moment(claims: Mapping[str, object], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if not isinstance(value, (int, float)) or not is_time(value):
        raise ProviderTokenRejected(f"The token's {name} isn't a time.")
    return float(value)
