"""Refreshing, verifying and ending tokens."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.actor import Actor
from app.domain.errors import Problem, Refused, TokenFault, TokenRejected
from app.domain.shop import password_is_worthless
from app.domain.tokens import Claims, TokenType, check_claims
from app.domain.users import User
from app.ports import Ports
from app.services.access import public, users_only
from app.services.audit import Change, record
from app.services.callers import find_session
from app.services.identity import as_seen, verified_claims
from app.services.login import DISABLED
from app.services.sessions import end_sessions, sign_access

_CODES = {
    TokenFault.EXPIRED: "JWT_SIGNATURE_EXPIRED",
    TokenFault.UNDECODABLE: "JWT_DECODE_ERROR",
    TokenFault.SIGNATURE: "JWT_DECODE_ERROR",
}


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A new access token of a session, and whose session it is."""

    access: str
    user: User


@dataclass(frozen=True, slots=True)
class Verified:
    """A token of ours that is good: whose it is, and the claims in it."""

    user: User
    payload: Mapping[str, object]


@public
def refresh_token(ports: Ports, actor: Actor, *, token: str | None) -> Refreshed:
    """A new access token for a refresh token, which stays usable (`tokenRefresh`).

    Refuses on ``refreshToken``: JWT_MISSING_TOKEN, JWT_SIGNATURE_EXPIRED, JWT_DECODE_ERROR,
    JWT_INVALID_TOKEN (not a refresh token); on no field: JWT_INVALID_TOKEN (the session has ended,
    the user is not active), DISABLED_AUTHENTICATION_METHOD.
    """
    if token is None:
        raise Refused(Problem("JWT_MISSING_TOKEN", "A refresh token is needed.", "refreshToken"))
    claims = _read(ports, actor, token, "refreshToken")
    if claims.type != TokenType.REFRESH:
        raise Refused(Problem("JWT_INVALID_TOKEN", "This is no refresh token.", "refreshToken"))
    door, found = find_session(ports, claims.session, claims.user_id)
    if found is None:
        raise Refused(Problem("JWT_INVALID_TOKEN", TokenFault.INVALID.message))
    if password_is_worthless(door.switches.password_login_mode, found.origin):
        raise Refused(DISABLED)
    user = as_seen(found, door.switches)
    audience = claims.everything.get("aud")
    access = sign_access(
        ports,
        actor,
        claims.session,
        user,
        claims.exp,
        audience if isinstance(audience, str) else "",
    )
    return Refreshed(access, user)


@public
def verify_token(ports: Ports, actor: Actor, *, token: str | None) -> Verified:
    """Whether a token of ours is good right now (`tokenVerify`); a refresh token may be, too.

    Refuses on ``token``: REQUIRED, JWT_SIGNATURE_EXPIRED, JWT_DECODE_ERROR (undecodable or badly
    signed), JWT_INVALID_TOKEN (anything else). Answers in every login mode.
    """
    if token is None:
        raise Refused(Problem("REQUIRED", "A token is needed.", "token"))
    claims = _read(ports, actor, token, "token")
    door, found = find_session(ports, claims.session, claims.user_id)
    if found is None or claims.type not in list(TokenType):
        raise Refused(Problem("JWT_INVALID_TOKEN", TokenFault.INVALID.message, "token"))
    return Verified(as_seen(found, door.switches), claims.everything)


@users_only
def deactivate_all_tokens(ports: Ports, actor: Actor) -> None:
    """End every session of the caller, the one in use included (`tokensDeactivateAll`)."""
    if actor.user_id is None:
        raise TokenRejected(TokenFault.INVALID)
    with ports.database.transaction() as session:
        ended = end_sessions(ports, session, actor.user_id)
        record(
            ports,
            actor,
            session,
            Change(
                "tokens.deactivate_all", "User", actor.user_id, actor.name, {"sessions": ended}
            ),
        )


def _read(ports: Ports, actor: Actor, token: str, field: str) -> Claims:
    try:
        claims = verified_claims(ports, token)
        check_claims(
            claims,
            now=ports.clock.timestamp(),
            issuer=actor.issuer,
            configured=bool(ports.configuration.issuer),
        )
    except TokenRejected as rejected:
        code = _CODES.get(rejected.fault, "JWT_INVALID_TOKEN")
        raise Refused(Problem(code, rejected.fault.message, field)) from rejected
    return claims
