"""The form of signed tokens: compact JWS (RFC 7515), read more strictly than libraries do.

Latchkey's own have one header. Those of identity providers can have any allowed algorithm, and any
header that doesn't change the meaning of the token.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.domain.keys import PublicKey
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.json_values import BOM, NoJsonObject, read_json_object

ALGORITHM = "RS256"
MAX_TOKEN_LENGTH = 8 * 1024
"""Characters; Latchkey's tokens have about a thousand."""

_OUR_MEMBERS = frozenset(("alg", "kid", "typ"))
_TYPE = "JWT"


@dataclass(frozen=True, slots=True)
class CompactToken:
    """A token taken apart, nothing about it believed yet: the signature is still to be checked."""

    kid: str
    signing_input: bytes
    payload: bytes
    signature: bytes


def read_token(token: str) -> CompactToken:
    """Return the parts of ``token`` and the ``kid`` it names.

    Raises ``TokenRejected``: UNDECODABLE for what is no compact JWS, too long, or not written the
    one canonical way (so that no two texts are the same token); ALGORITHM for any but RS256;
    SIGNATURE without a ``kid``; INVALID for a header with members that Latchkey's don't have. That
    refuses keys which a token brings along (``jwk``, ``jku``, ``x5u``, ``x5c``) and every ``crit``
    (RFC 8725, 3.1, 3.5 and 3.10), and keeps a webhook's signature from passing for a token.
    """
    header, payload, signature = _split(token, MAX_TOKEN_LENGTH)
    decoded = decode(payload), decode(signature)
    return CompactToken(_kid(header), f"{header}.{payload}".encode(), *decoded)


def _split(token: str, max_length: int) -> list[str]:
    parts = token.split(".", _PARTS)
    if len(token) > max_length or not token.isascii() or len(parts) != _PARTS:
        raise TokenRejected(TokenFault.UNDECODABLE)
    return parts


def read_members(data: bytes) -> Mapping[str, object]:
    """Return the JSON object in a part of a token; raises ``TokenRejected`` UNDECODABLE otherwise.

    As ``read_json_object``, without a byte order mark.
    """
    if data.startswith(BOM):
        raise TokenRejected(TokenFault.UNDECODABLE)
    try:
        return read_json_object(data)
    except NoJsonObject:
        raise TokenRejected(TokenFault.UNDECODABLE) from None


def csrf_token_in(refresh_token: str) -> str | None:
    """Return the claim ``csrf_token`` of a refresh token, whose signature isn't checked."""
    claim = read_members(read_token(refresh_token).payload).get("csrf_token")
    return claim if isinstance(claim, str) else None


# Our own tokens have one header a key, so it is read once; refusals are not remembered.
@lru_cache(maxsize=32)
def _kid(segment: str) -> str:
    header = read_members(decode(segment))
    if header.get("alg") != ALGORITHM:
        raise TokenRejected(TokenFault.ALGORITHM)
    if not header.keys() <= _OUR_MEMBERS or header.get("typ", _TYPE) != _TYPE:
        raise TokenRejected(TokenFault.INVALID)
    kid = header.get("kid")
    if not isinstance(kid, str):
        raise TokenRejected(TokenFault.SIGNATURE)
    return kid


def make_jwk(key: PublicKey) -> dict[str, str]:
    """Return the key as an entry of a key set (RFC 7517)."""
    members = {"kty": "RSA", "n": key.n, "e": key.e, "kid": key.kid}
    return {**members, "use": "sig", "alg": ALGORITHM}


def decode(segment: str) -> bytes:
    """The bytes of one part of a token; raises ``TokenRejected`` UNDECODABLE for any other form.

    One text alone is the form of some bytes: no two tokens are the same (RFC 4648, 3.5).
    """
    try:
        data = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except ValueError:
        raise TokenRejected(TokenFault.UNDECODABLE) from None
    # The decoder skips what is not of its alphabet and spare bits, so what it read is written
    # again and compared.
    if base64.urlsafe_b64encode(data).rstrip(b"=") != segment.encode():
        raise TokenRejected(TokenFault.UNDECODABLE)
    return data


_PARTS = 3
MAX_PROVIDER_TOKEN_LENGTH = 16 * 1024
"""Characters; providers put whole lists of groups into their tokens."""


@dataclass(frozen=True, slots=True)
class ForeignToken:
    """A token taken apart, nothing about it believed yet; ``kid`` is ``None`` without one."""

    algorithm: str
    kid: str | None
    header: Mapping[str, object]
    signing_input: bytes
    payload: bytes
    signature: bytes


def read_foreign_token(token: str, algorithms: frozenset[str]) -> ForeignToken:
    """Return the parts of ``token``, which must be signed by one of ``algorithms``.

    Raises ``TokenRejected``: UNDECODABLE for what is no compact JWS, too long, or not written the
    one canonical way; ALGORITHM for any other; INVALID for a header that demands to be understood
    (``crit``). Keys that a token brings along or points to (``jwk``, ``jku``, ``x5u``, ``x5c``)
    are never looked at (RFC 8725, 3.10).
    """
    first, second, third = _split(token, MAX_PROVIDER_TOKEN_LENGTH)
    header = read_members(decode(first))
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in algorithms:
        raise TokenRejected(TokenFault.ALGORITHM)
    if "crit" in header or not isinstance(kid, str | None):
        raise TokenRejected(TokenFault.INVALID)
    signing_input = f"{first}.{second}".encode()
    return ForeignToken(algorithm, kid, header, signing_input, decode(second), decode(third))


def peek(token: str) -> Mapping[str, object]:
    """Return the unverified claims of ``token``; empty if unreadable."""
    return _members(token, 1)


def peek_header(token: str) -> Mapping[str, object]:
    """Return the unverified header of ``token``; empty if unreadable."""
    return _members(token, 0)


def claimed_key(token: str) -> str | None:
    """Return the unverified ``kid`` of ``token``, or ``None``."""
    kid = _members(token, 0).get("kid")
    return kid if isinstance(kid, str) else None


def peek_part(token: str, place: int) -> Mapping[str, object]:
    """The JSON object in that part of ``token``, however many parts there are; else nothing."""
    if len(token) > MAX_PROVIDER_TOKEN_LENGTH or not token.isascii():
        return {}
    try:
        parts = token.split(".")
        return read_members(decode(parts[place])) if place < len(parts) else {}
    except TokenRejected:
        return {}


def _members(token: str, place: int) -> Mapping[str, object]:
    return peek_part(token, place) if token.count(".") == _PARTS - 1 else {}
