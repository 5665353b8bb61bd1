"""Sessions: one a login, and the tokens that speak for it."""

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from app.domain import keys
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import ScopeGrant, write_grant
from app.domain.second_factors import (
    SecondFactorType,
    used_second_factor,
    write_methods,
)
from app.domain.shop.settings import Switches
from app.domain.sign_in.tokens import (
    CSRF_TOKEN_LENGTH,
    SESSION_TOKEN_LENGTH,
    Subject,
    TokenType,
    make_claims,
)
from app.models import SessionRecord, UserRecord
from app.ports import Ports
from app.services.authorization.live_sessions import with_effective_rights
from app.services.authorization.register import part
from app.services.keys import ring
from app.services.second_factors.challenges import drop_challenges
from app.services.second_factors.stored_factors import read_factors


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session as its tokens are made from it; ``csrf_token`` goes into the refresh token.

    ``issued`` and ``expires`` are those of the refresh token, in Unix seconds; no token outlives
    it. ``grant`` holds the rights that a provider gave, where it rules; ``amr`` are the
    authentication methods, if a second factor or passkey was used. ``can_refresh``: clients get a
    refresh token.
    """

    token: str
    origin: SessionOrigin
    issued: float
    expires: float
    csrf_token: str
    grant: ScopeGrant | None = None
    amr: tuple[str, ...] = ()
    can_refresh: bool = True


@dataclass(frozen=True, slots=True)
class ProviderSession:
    """The provider's session with which a session began; ``sid`` is its id there.

    ``refresh_token`` is the provider's, stored encrypted.
    """

    provider_id: int
    identity_id: int
    sid: str = ""
    refresh_token: str = field(default="", repr=False)
    grant: ScopeGrant | None = None


@dataclass(frozen=True, slots=True)
class SessionStart:
    """How a session begins.

    ``provider`` is where it began, for one of origin OIDC. ``lifetime`` is for how long it lasts,
    that of refresh tokens by default. ``amr`` are the authentication methods, if a second factor
    or passkey was used. ``in_console``: clients get no tokens of it.
    """

    origin: SessionOrigin
    provider: ProviderSession | None = None
    lifetime: timedelta | None = None
    amr: tuple[str, ...] = ()
    in_console: bool = False


@dataclass(frozen=True, slots=True)
class TokenPair:
    """The access token, refresh token and user of a sign-in.

    ``refresh`` is empty for a session that its provider doesn't let refresh. ``user`` has the
    permissions that count in the current login mode.
    """

    access: str
    refresh: str
    user: User


class SecondFactorSkipped(RuntimeError):
    """A local session was about to begin without the account's second factor.

    ``types`` are the ways to ask for it.
    """

    def __init__(self, types: tuple[SecondFactorType, ...]) -> None:
        super().__init__("This account has a second factor: ask for it before the session begins.")
        self.types = types


@part
def open_session(
    ports: Ports, actor: Actor, session: Session, user_id: int, start: SessionStart
) -> OpenedSession:
    """Store a new session of ``user_id`` in the transaction of ``session``.

    Raises ``SecondFactorSkipped``, before anything is stored, for a session of origin PASSWORD of
    an account with a second factor, unless ``start.amr`` says that a second factor was used.
    """
    if start.origin is SessionOrigin.PASSWORD and not used_second_factor(start.amr):
        types = read_factors(session, user_id).types
        if types:
            raise SecondFactorSkipped(types)
    begun = start.provider
    now = ports.clock.now()
    expires = now + (start.lifetime or timedelta(seconds=ports.configuration.jwt_ttl_refresh))
    opened = OpenedSession(
        token=ports.randomness.token(SESSION_TOKEN_LENGTH),
        origin=start.origin,
        issued=now.timestamp(),
        expires=expires.timestamp(),
        csrf_token=ports.randomness.token(CSRF_TOKEN_LENGTH),
        grant=None if begun is None else begun.grant,
        amr=start.amr,
    )
    kept = SessionRecord(
        token=opened.token,
        user_id=user_id,
        origin=start.origin.value,
        created_at=now,
        expires_at=expires,
        last_used_at=now,
        address=actor.address or "",
        user_agent=actor.user_agent[:256],
        refresh_digest=digest_of_csrf_token(opened.csrf_token),
        amr=write_methods(start.amr),
        in_console=start.in_console,
    )
    if begun is not None:
        kept.provider_id = begun.provider_id
        kept.identity_id = begun.identity_id
        kept.sid = begun.sid
        kept.scope = write_grant(begun.grant)
        store_refresh_token(ports, kept, begun.refresh_token)
    session.add(kept)
    return opened


@part
def store_refresh_token(ports: Ports, kept: SessionRecord, refresh_token: str) -> None:
    """Store the provider's refresh token with its session, sealed for that session alone."""
    encrypted = (
        ports.encryption.encrypt(keys.refresh_token_purpose(kept.token), refresh_token)
        if refresh_token
        else ""
    )
    kept.provider_refresh_token = encrypted


@part
def load_refresh_token(ports: Ports, kept: SessionRecord) -> str:
    """The provider's refresh token of a session; empty where it has none."""
    encrypted = kept.provider_refresh_token
    return (
        ports.encryption.decrypt(keys.refresh_token_purpose(kept.token), encrypted)
        if encrypted
        else ""
    )


@part
def digest_of_csrf_token(csrf_token: str) -> str:
    """Return the stored form of the current refresh token, from which none can be made."""
    return hashlib.sha256(csrf_token.encode()).hexdigest()


@part
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


@part
def sign_access(
    ports: Ports,
    actor: Actor,
    opened: OpenedSession,
    user: User,
    audience: str,
    keys_version: int | None = None,
) -> str:
    """An access token of a session of ``user``, as stored; it never outlives the session.

    ``keys_version`` is the key ring's, if the caller has just read it.
    """
    now = ports.clock.timestamp()
    expires = min(now + ports.configuration.jwt_ttl_access, opened.expires)
    subject = _subject(ports, actor, opened.token, user, opened.amr)
    claims = make_claims(subject, TokenType.ACCESS, now=now, expires=expires)
    if audience:
        claims["aud"] = audience
    return _sign(ports, claims, keys_version)


@part
def end_sessions(ports: Ports, session: Session, user_id: int, *, but: int | None = None) -> int:
    """End a person's sessions, all or all ``but`` one; return how many.

    Unfinished sign-ins of theirs end too. When all end, provider tokens issued before this moment
    stop working as well.
    """
    going = delete(SessionRecord).where(SessionRecord.user_id == user_id)
    if but is None:
        session.execute(
            update(UserRecord)
            .where(UserRecord.id == user_id)
            .values(tokens_valid_after=ports.clock.now())
        )
    else:
        going = going.where(SessionRecord.id != but)
    ended = len(session.scalars(going.returning(SessionRecord.id)).all())
    drop_challenges(session, user_id)
    return ended


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
