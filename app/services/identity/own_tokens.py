"""A token of ours, from its text to the session that it names."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from app.domain.sign_in.tokens import Claims, TokenType, check_claims, read_claims
from app.domain.values.errors import TokenFault, TokenRejected
from app.ports import Ports
from app.ports.process_cache import CachedKeyRing, VerifiedToken
from app.services.authorization.app_rights import find_extension
from app.services.authorization.live_sessions import SessionFound, find_living, find_session
from app.services.authorization.register import part
from app.services.authorization.shop_state import Door
from app.services.keys.ring import ring

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class TracedToken:
    """A good token, the shop as it stood when its session was looked for, and the session."""

    claims: Claims
    door: Door
    found: SessionFound | None


@part
def trace_token(ports: Ports, token: str, issuer: str, digest: bytes | None = None) -> TracedToken:
    """The claims of a token of ours, of whatever type, and the session it names.

    ``issuer`` is the one the request stands for, ``digest`` the token's SHA-256. Raises
    ``TokenRejected`` for a token that is not ours, not of this issuer, expired or from the future.
    One statement when the token has been seen before: its signature is then remembered, and the
    ring's version is read with the session.
    """
    return TracedToken(*_trace(ports, token, issuer, digest, _find))


@part
def trace_living(ports: Ports, token: str, issuer: str) -> tuple[Claims, bool]:
    """The claims of a token of ours, and whether its session is alive; as ``trace_token``."""
    claims, _, alive = _trace(ports, token, issuer, None, _find_living)
    return claims, alive


def _trace(
    ports: Ports,
    token: str,
    issuer: str,
    digest: bytes | None,
    find: Callable[[Ports, Claims], tuple[Door, Found]],
) -> tuple[Claims, Door, Found]:
    verified = _verified(ports, token, digest or digest_of_token(token))
    check_claims(
        verified.claims,
        now=ports.clock.timestamp(),
        issuer=issuer,
        configured=bool(ports.configuration.issuer),
    )
    door, found = find(ports, verified.claims)
    known = ring(ports, door.keys_version)
    if verified.ring is not known.ring:
        verified = _verify(ports, known, token)
    return verified.claims, door, found


def _find(ports: Ports, claims: Claims) -> tuple[Door, SessionFound | None]:
    if claims.type != TokenType.EXTENSION:
        return find_session(ports, claims.session, claims.user_id)
    if claims.app_id is None:
        raise TokenRejected(TokenFault.INVALID)
    return find_extension(ports, claims, claims.app_id)


def _find_living(ports: Ports, claims: Claims) -> tuple[Door, bool]:
    if claims.type != TokenType.EXTENSION:
        return find_living(ports, claims.session, claims.user_id)
    door, found = _find(ports, claims)
    return door, found is not None


def _verified(ports: Ports, token: str, digest: bytes) -> VerifiedToken:
    """What the ring that this process remembers makes of ``token``; a newer one if need be."""
    known = ports.cache.ring or ring(ports)
    remembered = ports.cache.verified.get(digest)
    if remembered is not None and remembered.ring is known.ring:
        return remembered
    try:
        return _verify(ports, known, token)
    except TokenRejected as rejected:
        if rejected.fault is not TokenFault.SIGNATURE:
            raise
        newer = ring(ports)
        if newer.ring is known.ring:
            raise
        return _verify(ports, newer, token)


def _verify(ports: Ports, known: CachedKeyRing, token: str) -> VerifiedToken:
    everything = ports.keys.verify(known.ring.published, token)
    claims = read_claims(everything, ports.configuration.owner)
    verified = VerifiedToken(claims, known.ring)
    ports.cache.verified.put(digest_of_token(token), verified)
    return verified


@part
def digest_of_token(token: str) -> bytes:
    """What a token is remembered by: its SHA-256."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
