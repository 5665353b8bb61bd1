"""The claims of our own tokens: making and checking them.

Contract, "Access and refresh tokens" and "Credentials, precisely".
"""

import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from urllib.parse import urlsplit

from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.ids import parse_id, to_global_id
from app.domain.values.times import CLOCK_LEEWAY, is_time

LIMIT = "limit"
"""The claim of an access token with fewer scopes than its grant: those that are left."""

PAIRWISE_PREFIX = "pairwise_"
"""What begins a subject that only one client knows; no global ID has an underscore."""

SESSION_TOKEN_LENGTH = 16
CSRF_TOKEN_LENGTH = 64


class TokenType(StrEnum):
    ACCESS = "access"
    REFRESH = "refresh"
    EXTENSION = "thirdparty"


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of one of Latchkey's own tokens, whose signature was verified.

    ``exp``, ``iat`` and ``nbf`` are Unix seconds; ``session`` is the claim ``token``;
    ``everything`` is the whole set as it was signed, for ``tokenVerify { payload }``. ``limit``
    are stored scopes, of an access token that has fewer of them than its grant. ``user_id`` is
    ``None`` in the access token of a client with pairwise subjects: its session names the person.
    """

    iat: int
    exp: int
    nbf: int | None
    owner: str
    iss: str
    session: str
    type: str
    user_id: int | None
    csrf_token: str
    app_id: int | None
    everything: Mapping[str, object]
    limit: frozenset[str] | None = None

    @property
    def named_user(self) -> int:
        """The user of a token that names one, as all do that aren't an OAuth client's."""
        if self.user_id is None:
            raise TokenRejected(TokenFault.INVALID)
        return self.user_id


@dataclass(frozen=True, slots=True)
class Subject:
    """The user and session of a token; ``amr`` are the session's authentication methods."""

    user_id: int
    email: str
    is_staff: bool
    session: str
    issuer: str
    owner: str
    amr: tuple[str, ...] = ()


def successor_of(csrf_token: str) -> str:
    """Return the ``csrf_token`` of the refresh token that follows the one with ``csrf_token``.

    Deterministic, so that two concurrent uses of one token get the same successor. It is no secret
    from the token's holder: only we can sign another one.
    """
    return sha256(f"after {csrf_token}".encode()).hexdigest()


def make_claims(
    subject: Subject, token_type: TokenType, *, now: float, expires: float
) -> dict[str, object]:
    """Return the claim set of an access or refresh token; times in Unix seconds.

    Sessions that used a second factor or passkey have ``amr`` (RFC 8176); other tokens lack it.
    """
    claims: dict[str, object] = {
        "iat": int(now),
        "owner": subject.owner,
        "iss": subject.issuer,
        "exp": int(expires),
        "token": subject.session,
        "email": subject.email,
        "type": token_type.value,
        "user_id": to_global_id("User", subject.user_id),
        "is_staff": subject.is_staff,
    }
    if subject.amr:
        claims["amr"] = list(subject.amr)
    return claims


def read_claims(everything: Mapping[str, object], owners: Collection[str]) -> Claims:
    """The claims of a verified token; raises ``TokenRejected`` INVALID for another issuer's.

    Only what never changes is looked at here, so that the result may be remembered: form, owner.
    """
    claims = Claims(
        iat=_seconds(everything, "iat"),
        exp=_seconds(everything, "exp"),
        nbf=_seconds(everything, "nbf") if "nbf" in everything else None,
        owner=_text(everything, "owner"),
        iss=_text(everything, "iss"),
        session=_text(everything, "token"),
        type=_text(everything, "type"),
        user_id=_user_key(everything),
        csrf_token=_optional_text(everything, "csrf_token"),
        app_id=_key(_text(everything, "app"), "App") if "app" in everything else None,
        everything=everything,
        limit=frozenset(_text(everything, LIMIT).split()) if LIMIT in everything else None,
    )
    if claims.owner not in owners:
        raise TokenRejected(TokenFault.INVALID)
    return claims


def check_claims(claims: Claims, *, now: float, issuer: str, configured: bool) -> None:
    """Refuse a token of another issuer, an expired one, one from the future; in this order.

    ``issuer`` is that of the request. Without a configured one (development), every loopback
    issuer is accepted too (contract, "The operator's surface").
    """
    if claims.iss != issuer and (configured or not is_loopback_issuer(claims.iss)):
        raise TokenRejected(TokenFault.INVALID)
    if claims.exp <= now:
        raise TokenRejected(TokenFault.EXPIRED)
    if max(claims.iat, claims.nbf or claims.iat) > now + CLOCK_LEEWAY:
        raise TokenRejected(TokenFault.IMMATURE)


def is_access(claims: Claims) -> bool:
    """Whether the token can be sent in a header: an access token, or an extension's."""
    return claims.type in (TokenType.ACCESS, TokenType.EXTENSION)


@lru_cache(maxsize=256)
def is_loopback_issuer(issuer: str) -> bool:
    try:
        parts = urlsplit(issuer)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.path != "/graphql/":
        return False
    return is_loopback_host(parts.hostname or "")


def is_loopback_host(host: str) -> bool:
    """Whether ``host`` is this machine: ``localhost`` or an address of the loopback networks."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _seconds(everything: Mapping[str, object], name: str) -> int:
    value = everything.get(name)
    if not isinstance(value, int) or not is_time(value):
        raise TokenRejected(TokenFault.INVALID)
    return value


def _text(everything: Mapping[str, object], name: str) -> str:
    value = everything.get(name)
    if not isinstance(value, str) or not value:
        raise TokenRejected(TokenFault.INVALID)
    return value


def _optional_text(everything: Mapping[str, object], name: str) -> str:
    value = everything.get(name, "")
    return value if isinstance(value, str) else ""


def _user_key(everything: Mapping[str, object]) -> int | None:
    name = _text(everything, "user_id")
    is_pairwise = name.startswith(PAIRWISE_PREFIX)
    if is_pairwise and everything.get("type") == TokenType.ACCESS:
        return None
    return _key(name, "User")


def _key(global_id: str, type_name: str) -> int:
    key = parse_id(global_id, type_name)
    if key is None:
        raise TokenRejected(TokenFault.INVALID)
    return key
