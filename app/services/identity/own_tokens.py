"""Verify Latchkey's own tokens and find their sessions."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Generic

from app.domain.sign_in.tokens import Claims, TokenType, check_claims, read_claims
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.unchanging import unchanging
from app.ports import Ports
from app.ports.process_cache import CachedKeyRing, VerifiedToken
from app.services.authorization.register import building_block
from app.services.authorization.session_rights import LiveSession, find_session, session_exists
from app.services.authorization.shop_state import Found, Lookup, ShopState
from app.services.authorization.token_rights import find_extension
from app.services.keys import ring


@unchanging
class VerifiedOwnToken(Generic[Found]):
    """A good token, the shop as it stood when its session was looked for, and what was found."""

    claims: Claims
    shop_state: ShopState
    found: Found


VerifiedSession = VerifiedOwnToken[LiveSession | None]
"""A good token and its session, ``None`` for one that has ended."""


@building_block
def verify_own_token(
    ports: Ports, token: str, issuer: str, digest: bytes | None = None
) -> VerifiedSession:
    """Verify a token of Latchkey of any type; return its claims and session.

    ``issuer`` is that of the request, ``digest`` the token's SHA-256. Raises ``TokenRejected`` for
    a token that isn't Latchkey's, of another issuer, expired or not yet valid. One statement when
    the token was seen before: its signature is cached, and the ring's version is read with the
    session.
    """
    return _verify_session(ports, token, issuer, digest, _find)


@building_block
def verify_own_token_alive(ports: Ports, token: str, issuer: str) -> VerifiedOwnToken[bool]:
    """Return the claims of Latchkey's token, and whether its session is alive."""
    return _verify_session(ports, token, issuer, None, _find_alive)


@building_block
def owner_of(ports: Ports, token: str | None) -> int | None:
    """Return the user in a token whose signature was verified before, even if it has expired.

    Reads the cache of verified tokens only.
    """
    verified = ports.cache.verified.get(digest_of_token(token or ""))
    return None if verified is None else verified.claims.user_id


def _verify_session(
    ports: Ports,
    token: str,
    issuer: str,
    digest: bytes | None,
    find: Callable[[Ports, Claims], Lookup[Found]],
) -> VerifiedOwnToken[Found]:
    verified = _verified(ports, token, digest or digest_of_token(token))
    check_claims(
        verified.claims,
        now=ports.clock.timestamp(),
        issuer=issuer,
        configured=bool(ports.configuration.issuer),
    )
    session = find(ports, verified.claims)
    key_ring = ring(ports, session.shop_state.keys_version)
    if verified.ring is not key_ring.ring:
        verified = _verify(ports, key_ring, token)
    return VerifiedOwnToken(verified.claims, session.shop_state, session.found)


def _find(ports: Ports, claims: Claims) -> Lookup[LiveSession | None]:
    if claims.type != TokenType.EXTENSION:
        found = find_session(ports, claims.session, claims.user_id)
        return found if claims.limit is None else _limited(found, claims.limit)
    if claims.app_id is None:
        raise TokenRejected(TokenFault.INVALID)
    return find_extension(ports, claims, claims.app_id)


def _limited(
    found: Lookup[LiveSession | None], limit: frozenset[str]
) -> Lookup[LiveSession | None]:
    """Return a session with as much of its grant as its token is limited to."""
    live = found.found
    if live is None or live.client is None:
        return found
    return Lookup(found.shop_state, replace(live, client=live.client.within(limit)))


def _find_alive(ports: Ports, claims: Claims) -> Lookup[bool]:
    if claims.type != TokenType.EXTENSION:
        return session_exists(ports, claims.session, claims.user_id)
    session = _find(ports, claims)
    return Lookup(session.shop_state, session.found is not None)


def _verified(ports: Ports, token: str, digest: bytes) -> VerifiedToken:
    """Verify ``token`` with the cached key ring, or a newer one if necessary."""
    key_ring = ports.cache.ring or ring(ports)
    remembered = ports.cache.verified.get(digest)
    if remembered is not None and remembered.ring is key_ring.ring:
        return remembered
    try:
        return _verify(ports, key_ring, token)
    except TokenRejected as rejected:
        if rejected.fault is not TokenFault.SIGNATURE:
            raise
        newer = ring(ports)
        if newer.ring is key_ring.ring:
            raise
        return _verify(ports, newer, token)


def _verify(ports: Ports, key_ring: CachedKeyRing, token: str) -> VerifiedToken:
    everything = ports.keys.verify(key_ring.ring.published, token)
    claims = read_claims(everything, ports.configuration.token_owners)
    verified = VerifiedToken(claims, key_ring.ring)
    ports.cache.verified.put(digest_of_token(token), verified)
    return verified


@building_block
def digest_of_token(token: str) -> bytes:
    """Return the key of a token in the cache: its SHA-256."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
