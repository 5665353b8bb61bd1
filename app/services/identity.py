"""Who is calling: the one place where a credential becomes an ``Actor``."""

import hashlib
from dataclasses import dataclass, replace

from app.domain.actor import Actor, ActorKind, anonymous
from app.domain.app_tokens import digest_of, is_app_token
from app.domain.errors import TokenFault, TokenRejected
from app.domain.shop import (
    Shop,
    Switches,
    effective_permissions,
    password_is_worthless,
    strips_staff_rights,
)
from app.domain.tokens import Claims, check_claims, is_access, read_claims
from app.domain.users import User
from app.ports import Ports
from app.services.access import part
from app.services.callers import Door, SessionFound, find_app, find_door, find_session
from app.services.keys import ring


@dataclass(frozen=True, slots=True)
class Visitor:
    """What an HTTP edge knows of a caller before anything is looked up.

    ``issuer`` is the ``iss`` that this request's address stands for: the configured one, or in
    development the request's own scheme and host. ``address`` is ``None`` when it cannot be told.
    """

    credential: str | None = None
    address: str | None = None
    user_agent: str = ""
    issuer: str = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """The caller, and the shop as it stood in the same read; ``user`` when it is a person."""

    actor: Actor
    shop: Shop
    user: User | None = None

    @property
    def switches(self) -> Switches:
        return self.shop.switches


@part
def identify(ports: Ports, visitor: Visitor) -> Identity:
    """Who ``visitor`` is. Never raises for a bad credential: the fault stands in the actor.

    One statement when the token has been seen before, and no write (``quality.md``, "Speed").
    """
    credential = visitor.credential
    if credential is None:
        return Identity(_nobody(visitor, None), find_door(ports).shop)
    if is_app_token(credential):
        return _identify_app(ports, visitor, credential)
    try:
        claims = verified_claims(ports, credential)
        _check(ports, visitor, claims)
        door, found = find_session(ports, claims.session, claims.user_id)
        if _signed_by_another_ring(ports, door):
            claims = verified_claims(ports, credential, door.keys_version)
        return person(visitor, door, found)
    except TokenRejected as rejected:
        return Identity(_nobody(visitor, rejected.fault), find_door(ports).shop)


@part
def verified_claims(ports: Ports, token: str, keys_version: int | None = None) -> Claims:
    """The claims of a token of ours, its signature checked by the ring at ``keys_version``.

    Without a version, the remembered ring is good enough to begin with: whoever goes on to read
    the session sees the version there. Raises ``TokenRejected``; looks at no time and no issuer.
    """
    digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
    known = ports.remembered.ring if keys_version is None else ring(ports, keys_version)
    remembered = ports.remembered.verified.get(digest)
    if remembered is not None:
        return remembered
    if known is None:
        known = ring(ports)
    try:
        everything = ports.keys.verify(known.ring.published, token)
    except TokenRejected as rejected:
        newer = ring(ports) if rejected.fault is TokenFault.SIGNATURE else known
        if newer.ring.version == known.ring.version:
            raise
        everything = ports.keys.verify(newer.ring.published, token)
    claims = read_claims(everything, ports.configuration.owner)
    ports.remembered.verified.put(digest, claims)
    return claims


@part
def person(visitor: Visitor, door: Door, found: SessionFound | None) -> Identity:
    """The identity that a live session gives right now.

    Raises ``TokenRejected`` INVALID when there is no such session, or when its way in is worth
    nothing in the present login mode.
    """
    mode = door.switches.password_login_mode
    if found is None or password_is_worthless(mode, found.origin):
        raise TokenRejected(TokenFault.INVALID)
    user = as_seen(found, door.switches)
    actor = Actor(
        ActorKind.USER,
        user_id=user.id,
        session_id=found.session_id,
        name=user.email,
        is_staff=user.is_staff,
        origin=found.origin,
        permissions=user.permissions,
        address=visitor.address,
        user_agent=visitor.user_agent,
        issuer=visitor.issuer,
    )
    return Identity(actor, door.shop, user)


@part
def as_seen(found: SessionFound, switches: Switches) -> User:
    """The user of a session with the rights, and the role, that count under ``switches``."""
    mode = switches.password_login_mode
    user = found.user
    if not strips_staff_rights(mode, found.origin):
        return user
    granted = effective_permissions(found.granted, mode=mode, origin=found.origin)
    return replace(user, is_staff=False, permissions=granted)


def _check(ports: Ports, visitor: Visitor, claims: Claims) -> None:
    check_claims(
        claims,
        now=ports.clock.timestamp(),
        issuer=visitor.issuer,
        configured=bool(ports.configuration.issuer),
    )
    if not is_access(claims):
        raise TokenRejected(TokenFault.INVALID)


def _signed_by_another_ring(ports: Ports, door: Door) -> bool:
    known = ports.remembered.ring
    return ports.keys.fixed() is None and (
        known is None or known.ring.version != door.keys_version
    )


def _identify_app(ports: Ports, visitor: Visitor, token: str) -> Identity:
    door, found = find_app(ports, digest_of(token))
    if found is None:
        return Identity(_nobody(visitor, TokenFault.INVALID), door.shop)
    actor = Actor(
        ActorKind.APP,
        app_id=found.app_id,
        name=found.name,
        permissions=found.granted,
        address=visitor.address,
        user_agent=visitor.user_agent,
        issuer=visitor.issuer,
    )
    return Identity(actor, door.shop)


def _nobody(visitor: Visitor, fault: TokenFault | None) -> Actor:
    return anonymous(
        address=visitor.address,
        user_agent=visitor.user_agent,
        issuer=visitor.issuer,
        fault=fault,
    )
