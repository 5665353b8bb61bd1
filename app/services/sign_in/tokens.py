"""Tokens of sessions: signed, refreshed and verified.

With ``SINGLE_USE_REFRESH_TOKENS`` a refresh token is good for one use.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from hmac import compare_digest

from sqlalchemy import select

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ClientGrant
from app.domain.shop.settings import Switches
from app.domain.sign_in.jws import claimed_key
from app.domain.sign_in.sign_in_log import SignInMethod
from app.domain.sign_in.tokens import Claims, Subject, TokenType, make_claims, successor_of
from app.domain.values.errors import Problem, Refused, TokenFault, TokenRejected
from app.ports import Ports
from app.ports.database import account
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, input_decides, public
from app.services.authorization.session_rights import (
    LiveSession,
    effective_user,
    shown_user,
    with_effective_rights,
)
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.own_tokens import (
    VerifiedSession,
    owner_of,
    verify_own_token,
    verify_own_token_alive,
)
from app.services.keys import ring
from app.services.sign_in.sessions import (
    OpenedSession,
    digest_of_csrf_token,
    require_password_login,
)
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in

SESSION_ENDED = Problem("JWT_INVALID_TOKEN", TokenFault.INVALID.message)

GRACE = timedelta(seconds=10)
"""For how long a token that was used may come again: two tabs of a browser refresh at once, and
an answer may get lost. Both get the same successor."""


@building_block
def use_up(ports: Ports, actor: Actor, claims: Claims, email: str) -> str:
    """Use up the refresh token with ``claims``; return the ``csrf_token`` of its successor.

    A token that is reused after ``GRACE``, or its successor, was stolen: as no one knows which,
    the session ends (RFC 9700, 4.14.2) and JWT_INVALID_TOKEN is refused.
    """
    with ports.database.transaction(account(claims.named_user)) as session:
        kept = session.scalar(
            select(models.Session)
            .where(
                models.Session.token == claims.session, models.Session.user_id == claims.user_id
            )
            .with_for_update()
        )
        is_good = kept is not None
        if kept is not None and is_current(kept, claims):
            replace_token(ports, kept, claims)
        elif kept is not None and not was_just_used(ports, kept, claims):
            is_good = False
            session.delete(kept)
            why = {"reason": "A refresh token was used twice."}
            change = Change("session.end", "User", claims.named_user, email, after=why)
            record(ports, actor, session, change)
    if not is_good:
        raise Refused(SESSION_ENDED)
    return successor_of(claims.csrf_token)


@building_block
def continued_session(
    ports: Ports, claims: Claims, live: LiveSession, csrf_token: str
) -> OpenedSession:
    """Return the session of a refresh token as if it had begun now, to the same end."""
    now = ports.clock.timestamp()
    return OpenedSession(
        claims.session, live.origin, now, claims.exp, csrf_token, live.grant, live.amr
    )


@building_block
def is_current(kept: models.Session, claims: Claims) -> bool:
    """Whether the refresh token with ``claims`` is the newest of its session."""
    return compare_digest(kept.refresh_digest, digest_of_csrf_token(claims.csrf_token))


@building_block
def was_just_used(ports: Ports, kept: models.Session, claims: Claims) -> bool:
    """Whether the newest took the place of the one with ``claims`` within the last ``GRACE``."""
    following = digest_of_csrf_token(successor_of(claims.csrf_token))
    if kept.refreshed_at is None or not compare_digest(kept.refresh_digest, following):
        return False
    return ports.shared_clock.now() <= kept.refreshed_at + GRACE


@building_block
def replace_token(ports: Ports, kept: models.Session, claims: Claims) -> str:
    """Have the token with ``claims`` be followed by another; returns its ``csrf_token``."""
    successor = successor_of(claims.csrf_token)
    kept.refresh_digest = digest_of_csrf_token(successor)
    kept.refreshed_at = ports.shared_clock.now()
    return successor


_TYPES = frozenset(kind.value for kind in TokenType)
_CODES = {
    TokenFault.EXPIRED: "JWT_SIGNATURE_EXPIRED",
    TokenFault.UNDECODABLE: "JWT_DECODE_ERROR",
    TokenFault.SIGNATURE: "JWT_DECODE_ERROR",
}


@dataclass(frozen=True, slots=True)
class TokenPair:
    """The access token, refresh token and user of a session.

    ``refresh`` is empty where a client gets none: its provider doesn't let the session refresh,
    or the one that it has stays usable. ``user`` has the permissions that count in the current
    login mode.
    """

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    user: User


@dataclass(frozen=True, slots=True)
class Verified:
    """A valid token of Latchkey: its user, its claims, and the OAuth client that has it."""

    user: User
    payload: Mapping[str, object]
    client: ClientGrant | None = None

    @property
    def shown(self) -> User | None:
        """The user as far as the token shows them to whoever has it."""
        return shown_user(self.client, self.user)

    @property
    def is_of_third_party(self) -> bool:
        return self.client is not None and not self.client.is_first_party

    @property
    def is_owner(self) -> bool:
        """Whether the person has the token, not an extension or a client that acts for them."""
        is_extension = self.payload.get("type") == TokenType.EXTENSION
        return not (is_extension or self.is_of_third_party)


@input_decides
def refresh_token(ports: Ports, actor: Actor, *, token: str | None) -> TokenPair:
    """Return a new access token for a refresh token (`tokenRefresh`).

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


def _refresh(ports: Ports, actor: Actor, token: str | None) -> TokenPair:
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
    going_on = continued_session(ports, claims, found, successor)
    if single_use:
        return sign_pair(ports, actor, going_on, user, switches, audience)
    version = verified.shop_state.keys_version
    access = sign_access(ports, actor, going_on, user, audience, version)
    return TokenPair(access, "", effective_user(found, switches))


@public
def verify_token(ports: Ports, actor: Actor, *, token: str | None) -> Verified:
    """Verify a token of Latchkey, access or refresh, as of now (`tokenVerify`).

    Refuses on ``token``: REQUIRED, JWT_SIGNATURE_EXPIRED, JWT_DECODE_ERROR (undecodable or badly
    signed), JWT_INVALID_TOKEN (anything else). Answers in every login mode.
    """
    if token is None:
        raise Refused(Problem("REQUIRED", "A token is needed.", "token"))
    verified = verify_argument_token(ports, actor, token, "token")
    claims, found = verified.claims, verified.found
    if found is None or claims.type not in _TYPES:
        raise Refused(Problem("JWT_INVALID_TOKEN", TokenFault.INVALID.message, "token"))
    return verified_as(found, verified.shop_state.switches, claims)


@building_block
def verified_as(found: LiveSession, switches: Switches, claims: Claims) -> Verified:
    return Verified(effective_user(found, switches), claims.everything, found.client)


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


@building_block
def verify_argument_token(ports: Ports, actor: Actor, token: str, field: str) -> VerifiedSession:
    """Verify a token of Latchkey of any type that was passed as an argument.

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


@building_block
def audience_of(claims: Claims) -> str:
    """Return the audience in a token's claims, empty if it has none."""
    audience = claims.everything.get("aud")
    return audience if isinstance(audience, str) else ""


@building_block
def sign_pair(
    ports: Ports,
    actor: Actor,
    opened: OpenedSession,
    user: User,
    switches: Switches,
    audience: str = "",
) -> TokenPair:
    """Both tokens of a session of ``user``, who is as stored: no mode has taken anything yet.

    The claim ``is_staff`` reflects the role, whatever the mode (contract, "Access and refresh
    tokens").
    """
    subject = _subject(ports, actor, opened.token, user, opened.amr)
    # Not the present: a second that has begun since would be missing in the lifetime.
    refresh = make_claims(subject, TokenType.REFRESH, now=opened.issued, expires=opened.expires)
    refresh["csrf_token"] = opened.csrf_token
    if audience:
        refresh["aud"] = audience
    return TokenPair(
        access=sign_access(ports, actor, opened, user, audience),
        refresh=_sign(ports, refresh) if opened.can_refresh else "",
        user=with_effective_rights(user, opened.origin, opened.amr, switches, opened.grant),
    )


@building_block
def sign_access(
    ports: Ports,
    actor: Actor,
    opened: OpenedSession,
    user: User,
    audience: str,
    keys_version: int | None = None,
    more: Mapping[str, object] | None = None,
) -> str:
    """Return an access token of a session of ``user``, as stored; it never outlives the session.

    ``keys_version`` is the key ring's, if the caller has just read it; ``more`` are claims that
    are added, or replace others.
    """
    now = ports.clock.timestamp()
    expires = min(now + ports.configuration.jwt_ttl_access, opened.expires)
    subject = _subject(ports, actor, opened.token, user, opened.amr)
    claims = make_claims(subject, TokenType.ACCESS, now=now, expires=expires)
    if audience:
        claims["aud"] = audience
    return _sign(ports, {**claims, **(more or {})}, keys_version)


def _subject(
    ports: Ports, actor: Actor, session: str, user: User, amr: tuple[str, ...]
) -> Subject:
    return Subject(
        user_id=user.id,
        email=user.email,
        is_staff=user.is_staff,
        session=session,
        issuer=actor.issuer,
        owner=ports.configuration.token_owner,
        amr=amr,
    )


def _sign(ports: Ports, claims: dict[str, object], keys_version: int | None = None) -> str:
    return ports.keys.sign(ring(ports, keys_version).signer, claims)
