"""Check the claims of providers' tokens, after their signatures.

RFC 9068 (access tokens), OpenID Connect Core 1.0, 3.1.3.7 (ID tokens), Back-Channel Logout 1.0,
2.6 (logout tokens); RFC 8725 for all.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.apps import app_tokens
from app.domain.authorization.scopes import ScopeGrant, granted_scopes
from app.domain.deliveries import signatures
from app.domain.single_sign_on.provider_jws import peek, peek_part
from app.domain.single_sign_on.providers import Provider
from app.domain.single_sign_on.second_factor_claims import read_session_methods
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.times import CLOCK_LEEWAY, is_time

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
_NO_ACCESS_TYPES = ("id", "refresh", "offline", "logout")
"""What one make of providers writes into the claim ``typ`` of its other tokens."""

_OUR_MARKS = (app_tokens.PREFIX, signatures.SECRET_PREFIX)
_JWE_DOTS = 4
"""Header, encrypted key, initialization vector, ciphertext, authentication tag."""

_OF_ID_TOKENS = ("nonce", "at_hash", "c_hash", "s_hash", "events")


class ProviderTokenRejected(TokenRejected):
    """A provider's token, or its claims about a person, are invalid; ``reason`` says why."""

    def __init__(self, reason: str, fault: TokenFault = TokenFault.INVALID) -> None:
        super().__init__(fault)
        self.reason = reason


def reason_of(rejected: TokenRejected) -> str:
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
    the token names none, ``grant`` is ``None`` where rights are kept here. ``amr`` are the
    authentication methods, if the provider says that a second factor was used.
    """

    issuer: str
    subject: str
    expires: float
    issued: float | None
    not_before: float
    grant: ScopeGrant | None
    amr: tuple[str, ...] = ()


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

    False for whatever may be a credential of another system, which must not be sent to the
    provider: an app token or webhook secret of ours, complete or not, and a part of a signed
    token. An encrypted token (RFC 7516) is opaque to everyone but the provider.
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
    """The access token in ``token``; raises ``ProviderTokenRejected``.

    Refused are another issuer where one is configured, another audience where one is configured,
    a token without ``exp`` or ``sub``, and tokens of other kinds (ID, refresh, logout).

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
        # Without an audience nobody can tell whether the scopes were granted for this service.
        has_audience = provider.audience != ""
        grant = (
            granted_scopes(
                claims.get("scope"), claims.get("permissions"), provider.prefix_of_scopes(shop)
            )
            if has_audience
            else ScopeGrant()
        )
    amr = read_session_methods(claims, provider)
    return AccessToken(issuer, _subject(claims), expires, issued, not_before, grant, amr)


def read_id_token(
    token: SignedToken, provider: Provider, *, nonce: str | None, now: float
) -> IdToken:
    """The ID token in ``token``, made for the sign-in with that ``nonce``.

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
    if "events" in claims or (nonce is not None and claims.get("nonce") != nonce):
        raise ProviderTokenRejected("The ID token belongs to another sign-in.")
    sid = claims.get("sid")
    session_id = sid if isinstance(sid, str) and len(sid) <= MAX_SUBJECT_LENGTH else ""
    amr = read_session_methods(claims, provider)
    return IdToken(issuer, _subject(claims), session_id, claims, _proved_ago(claims), amr)


def read_logout_token(token: SignedToken, provider: Provider, *, now: float) -> LogoutToken:
    """The logout token in ``token``; raises ``ProviderTokenRejected``."""
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


def _require_access_kind(token: SignedToken, provider: Provider) -> None:
    kind, claims = _type(token.header), token.claims
    stated = str(claims.get("typ", "")).lower()
    if kind not in _ACCESS_TYPES or stated in _NO_ACCESS_TYPES:
        raise ProviderTokenRejected("This is no access token.")
    if any(name in claims for name in _OF_ID_TOKENS):
        raise ProviderTokenRejected("This is an ID token, not an access token.")
    # What an ID token is made for is the client; an access token has a resource or a scope.
    plain = not kind.endswith("at+jwt") and "scope" not in claims
    if plain and not provider.audience and provider.client_id in _audience(claims):
        raise ProviderTokenRejected("This is an ID token, not an access token.")


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
    """When the token expires, was issued, and is good from.

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
        return 0.0  # let nobody stay outside for it
    return max(0.0, issued - proved) if proved and issued else 0.0


def _moment(claims: Mapping[str, object], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if not isinstance(value, (int, float)) or not is_time(value):
        raise ProviderTokenRejected(f"The token's {name} isn't a time.")
    return float(value)
