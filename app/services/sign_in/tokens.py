"""Refreshing, verifying and ending tokens."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.sign_in.jws import claimed_key
from app.domain.sign_in.sign_in_log import SignInMethod
from app.domain.sign_in.tokens import Claims, TokenType
from app.domain.values.errors import Problem, Refused, TokenFault, TokenRejected
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.live_sessions import effective_user
from app.services.authorization.register import account_owner_only, input_decides, part, public
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.own_tokens import (
    VerifiedSession,
    owner_of,
    verify_own_token,
    verify_own_token_alive,
)
from app.services.keys import ring
from app.services.sign_in.password_sessions import require_password_login
from app.services.sign_in.reauthentication import own_id
from app.services.sign_in.refresh_tokens import SESSION_ENDED, use_up
from app.services.sign_in.sessions import OpenedSession, end_sessions, sign_access, sign_pair
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in

_TYPES = frozenset(kind.value for kind in TokenType)
_CODES = {
    TokenFault.EXPIRED: "JWT_SIGNATURE_EXPIRED",
    TokenFault.UNDECODABLE: "JWT_DECODE_ERROR",
    TokenFault.SIGNATURE: "JWT_DECODE_ERROR",
}


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A new access token of a session, and whose session it is.

    ``refresh`` is the next refresh token, where one is good for a single use.
    """

    access: str
    user: User
    refresh: str | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A token of ours that is good: whose it is, and the claims in it."""

    user: User
    payload: Mapping[str, object]

    @property
    def is_owner(self) -> bool:
        """Whether the person has the token, not an extension that acts for them."""
        return self.payload.get("type") != TokenType.EXTENSION


@input_decides
def refresh_token(ports: Ports, actor: Actor, *, token: str | None) -> Refreshed:
    """A new access token for a refresh token (`tokenRefresh`).

    The refresh token stays usable, unless ``SINGLE_USE_REFRESH_TOKENS`` is on: then the next one
    comes with the answer, to the same end of the session, and using one twice ends the session.

    Refuses on ``refreshToken``: JWT_MISSING_TOKEN, JWT_SIGNATURE_EXPIRED, JWT_DECODE_ERROR,
    JWT_INVALID_TOKEN (not a refresh token); on no field: JWT_INVALID_TOKEN (the session has ended,
    the user is not active), DISABLED_AUTHENTICATION_METHOD. While password login is DISABLED, that
    last one is the answer to everything, also to the refresh token of a live SSO session, which
    ``externalRefresh`` refreshes (contract, part 4).
    """
    with logged_sign_in(ports, actor, SignInEntry(SignInMethod.REFRESH)) as entry:
        try:
            return _refresh(ports, actor, token)
        except Refused:
            entry.user_id = owner_of(ports, token)
            require_password_login(load_shop_state(ports).switches)
            raise


def _refresh(ports: Ports, actor: Actor, token: str | None) -> Refreshed:
    if token is None:
        raise Refused(Problem("JWT_MISSING_TOKEN", "A refresh token is needed.", "refreshToken"))
    verified = verify_argument_token(ports, actor, token, "refreshToken")
    claims, found = verified.claims, verified.found
    if claims.type != TokenType.REFRESH:
        raise Refused(Problem("JWT_INVALID_TOKEN", "This is no refresh token.", "refreshToken"))
    if found is None:
        raise Refused(SESSION_ENDED)
    switches = verified.shop_state.switches
    require_password_login(switches)
    user, audience = found.user, audience_of(claims)
    single_use = ports.configuration.single_use_refresh_tokens
    successor = use_up(ports, actor, claims, user.email) if single_use else ""
    now = ports.clock.timestamp()
    going_on = OpenedSession(
        claims.session, found.origin, now, claims.exp, successor, found.grant, found.amr
    )
    if single_use:
        pair = sign_pair(ports, actor, going_on, user, switches, audience)
        return Refreshed(pair.access, pair.user, pair.refresh)
    version = verified.shop_state.keys_version
    access = sign_access(ports, actor, going_on, user, audience, version)
    return Refreshed(access, effective_user(found, switches))


@public
def verify_token(ports: Ports, actor: Actor, *, token: str | None) -> Verified:
    """Whether a token of ours is good right now (`tokenVerify`); a refresh token may be, too.

    Refuses on ``token``: REQUIRED, JWT_SIGNATURE_EXPIRED, JWT_DECODE_ERROR (undecodable or badly
    signed), JWT_INVALID_TOKEN (anything else). Answers in every login mode.
    """
    if token is None:
        raise Refused(Problem("REQUIRED", "A token is needed.", "token"))
    verified = verify_argument_token(ports, actor, token, "token")
    claims, found = verified.claims, verified.found
    if found is None or claims.type not in _TYPES:
        raise Refused(Problem("JWT_INVALID_TOKEN", TokenFault.INVALID.message, "token"))
    user = effective_user(found, verified.shop_state.switches)
    return Verified(user, claims.everything)


@public
def check_token(ports: Ports, actor: Actor, *, token: str | None) -> Mapping[str, object]:
    """Return the claims of a valid token without its user; as ``verify_token``."""
    if token is None:
        raise Refused(Problem("REQUIRED", "A token is needed.", "token"))
    try:
        verified = verify_own_token_alive(ports, token, actor.issuer)
    except TokenRejected as rejected:
        raise _refusal(ports, token, "token", rejected) from rejected
    if not verified.found or verified.claims.type not in _TYPES:
        raise Refused(Problem("JWT_INVALID_TOKEN", TokenFault.INVALID.message, "token"))
    return verified.claims.everything


@account_owner_only
def deactivate_all_tokens(ports: Ports, actor: Actor) -> None:
    """End every session of the caller, the one in use included (`tokensDeactivateAll`)."""
    user_id = own_id(actor)
    with ports.database.transaction() as session:
        before = {"sessions": end_sessions(ports, session, user_id)}
        change = Change("tokens.deactivate_all", "User", user_id, actor.name, before)
        record(ports, actor, session, change)


@part
def verify_argument_token(ports: Ports, actor: Actor, token: str, field: str) -> VerifiedSession:
    """A good token of ours, of whatever type, that came as an argument.

    Refuses on ``field``: JWT_SIGNATURE_EXPIRED, JWT_DECODE_ERROR (undecodable or badly signed),
    JWT_INVALID_TOKEN (anything else).
    """
    try:
        return verify_own_token(ports, token, actor.issuer)
    except TokenRejected as rejected:
        raise _refusal(ports, token, field, rejected) from rejected


def _refusal(ports: Ports, token: str, field: str, rejected: TokenRejected) -> Refused:
    code = _CODES.get(rejected.fault, "JWT_INVALID_TOKEN")
    if claimed_key(token) not in ring(ports).ring.published:
        # Whatever else is wrong with it: none of our keys has signed it.
        code = "JWT_DECODE_ERROR"
    return Refused(Problem(code, rejected.fault.message, field))


@part
def audience_of(claims: Claims) -> str:
    """Return the audience of a token of ours, empty if it has none."""
    audience = claims.everything.get("aud")
    return audience if isinstance(audience, str) else ""
