"""The form of our signed tokens: compact JWS (RFC 7515), read more strictly than libraries do."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.json_values import BOM, NoJsonObject, read_json_object

ALGORITHM = "RS256"
MAX_TOKEN_LENGTH = 8 * 1024
"""Characters; a token of ours has about a thousand."""

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
    """The parts of ``token`` and the ``kid`` it names.

    Raises ``TokenRejected``: UNDECODABLE for what is no compact JWS, too long, or not written the
    one canonical way (so that no two texts are the same token); ALGORITHM for any but RS256;
    SIGNATURE without a ``kid``; INVALID for a header that holds more than ours do. That refuses
    keys which a token brings along (``jwk``, ``jku``, ``x5u``, ``x5c``) and every ``crit``
    (RFC 8725, 3.1, 3.5 and 3.10), and keeps a webhook's signature from passing for a token.
    """
    if len(token) > MAX_TOKEN_LENGTH or not token.isascii():
        raise TokenRejected(TokenFault.UNDECODABLE)
    try:
        header, payload, signature = token.split(".")
    except ValueError:
        raise TokenRejected(TokenFault.UNDECODABLE) from None
    decoded = decode(payload), decode(signature)
    return CompactToken(_kid(header), f"{header}.{payload}".encode(), *decoded)


def read_members(data: bytes) -> Mapping[str, object]:
    """The JSON object in a part of a token; raises ``TokenRejected`` UNDECODABLE otherwise.

    As ``read_json_object``, without a byte order mark.
    """
    if data.startswith(BOM):
        raise TokenRejected(TokenFault.UNDECODABLE)
    try:
        return read_json_object(data)
    except NoJsonObject:
        raise TokenRejected(TokenFault.UNDECODABLE) from None


def csrf_token_in(refresh_token: str) -> str | None:
    """Return the claim ``csrf_token`` of a refresh token that was made just now."""
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
