"""The form of other people's signed tokens: any algorithm that is allowed, any harmless header."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.sign_in.jws import decode, read_members
from app.domain.values.errors import TokenFault, TokenRejected

_PARTS = 3
MAX_PROVIDER_TOKEN_LENGTH = 16 * 1024
"""Characters; providers put whole lists of groups into theirs."""


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
    """The parts of ``token``, which must be signed by one of ``algorithms``.

    Raises ``TokenRejected``: UNDECODABLE for what is no compact JWS, too long, or not written the
    one canonical way; ALGORITHM for any other; INVALID for a header that demands to be understood
    (``crit``). Keys that a token brings along or points to (``jwk``, ``jku``, ``x5u``, ``x5c``)
    are never looked at (RFC 8725, 3.10).
    """
    if len(token) > MAX_PROVIDER_TOKEN_LENGTH or not token.isascii():
        raise TokenRejected(TokenFault.UNDECODABLE)
    try:
        first, second, third = token.split(".")
    except ValueError:
        raise TokenRejected(TokenFault.UNDECODABLE) from None
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
