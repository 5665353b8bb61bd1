"""Sessions: begun by password or provider, listed for their user, and ended."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain import keys, second_factors
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import ScopeGrant, write_grant
from app.domain.shop.settings import PasswordLoginMode, Switches
from app.domain.sign_in.devices import SignedIn, device_of
from app.domain.sign_in.sign_in_log import SignInPlace, SignInReason
from app.domain.sign_in.tokens import CSRF_TOKEN_LENGTH, SESSION_TOKEN_LENGTH
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import account_owner_only, building_block
from app.services.authorization.session_rights import USER_COLUMNS, read_user, stored_switches
from app.services.second_factors.challenges import (
    PendingSession,
    SecondFactorRequired,
    ask,
    drop_challenges,
)
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.reauthentication import own_id
from app.services.sign_in_log.recording import SignInEntry, record_sign_in


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
class ClientSession:
    """The OAuth client that a session is granted to, the scope, and when the person signed in."""

    client_id: int
    scope: str
    authenticated_at: datetime


@dataclass(frozen=True, slots=True)
class SessionStart:
    """How a session begins.

    ``provider`` is where it began, for one of origin OIDC. ``lifetime`` is for how long it lasts,
    that of refresh tokens by default. ``amr`` are the authentication methods, if a second factor
    or passkey was used. Clients get no tokens of a session of the console or the hosted pages.
    ``proved_ago`` is how many seconds ago the person proved who they are, as far as known.
    ``client`` is the OAuth client that it is granted to.
    """

    origin: SessionOrigin
    provider: ProviderSession | None = None
    lifetime: timedelta | None = None
    amr: tuple[str, ...] = ()
    place: SignInPlace = SignInPlace.API
    proved_ago: float = 0.0
    client: ClientSession | None = None


class SecondFactorSkipped(RuntimeError):
    """A local session was about to begin without the account's second factor.

    ``types`` are the ways to ask for it.
    """

    def __init__(self, types: tuple[second_factors.SecondFactorType, ...]) -> None:
        super().__init__("This account has a second factor: ask for it before the session begins.")
        self.types = types


@building_block
def prevent_skipped_factor(
    session: Session, user_id: int, origin: SessionOrigin, amr: tuple[str, ...]
) -> None:
    """Raise ``SecondFactorSkipped`` for a local session that used no factor the account has."""
    if origin is SessionOrigin.PASSWORD and not second_factors.used_second_factor(amr):
        types = read_factors(session, user_id).types
        if types:
            raise SecondFactorSkipped(types)


@building_block
def open_session(
    ports: Ports, actor: Actor, session: Session, user_id: int, start: SessionStart
) -> OpenedSession:
    """Store a new session of ``user_id`` in the transaction of ``session``.

    Raises ``SecondFactorSkipped``, before anything is stored, for a session of origin PASSWORD of
    an account with a second factor, unless ``start.amr`` says that a second factor was used.
    """
    prevent_skipped_factor(session, user_id, start.origin, start.amr)
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
        can_refresh=begun is None or begun.refresh_token != "",
    )
    kept = models.Session(
        token=opened.token,
        user_id=user_id,
        origin=start.origin.value,
        created_at=now,
        expires_at=expires,
        last_used_at=now,
        address=actor.address or "",
        user_agent=actor.user_agent[:256],
        refresh_digest=digest_of_csrf_token(opened.csrf_token),
        amr=second_factors.write_methods(start.amr),
        in_console=start.place is SignInPlace.CONSOLE,
        is_hosted=start.place is SignInPlace.HOSTED,
        authenticated_at=now - timedelta(seconds=start.proved_ago),
    )
    if start.client is not None:
        kept.oauth_client_id = start.client.client_id
        kept.oauth_scope = start.client.scope
        kept.authenticated_at = start.client.authenticated_at
    if begun is not None:
        kept.provider_id = begun.provider_id
        kept.identity_id = begun.identity_id
        kept.sid = begun.sid
        kept.scope = write_grant(begun.grant)
        store_refresh_token(ports, kept, begun.refresh_token)
    session.add(kept)
    return opened


@building_block
def store_refresh_token(ports: Ports, kept: models.Session, refresh_token: str) -> None:
    """Store the provider's refresh token with its session, sealed for that session alone."""
    purpose = keys.refresh_token_purpose(kept.token)
    encrypted = ports.encryption.encrypt(purpose, refresh_token) if refresh_token else ""
    kept.provider_refresh_token = encrypted


@building_block
def load_refresh_token(ports: Ports, kept: models.Session) -> str:
    """Return the provider's refresh token of a session; empty where it has none."""
    purpose, encrypted = keys.refresh_token_purpose(kept.token), kept.provider_refresh_token
    return ports.encryption.decrypt(purpose, encrypted) if encrypted else ""


@building_block
def digest_of_csrf_token(csrf_token: str) -> str:
    """Return the stored form of the current refresh token, from which none can be made."""
    return hashlib.sha256(csrf_token.encode()).hexdigest()


@building_block
def end_sessions(ports: Ports, session: Session, user_id: int, *, but: int | None = None) -> int:
    """End a person's sessions, all or all ``but`` one; return how many.

    Unfinished sign-ins of theirs end too. When all end, provider tokens issued before this moment
    stop working as well.
    """
    going = delete(models.Session).where(models.Session.user_id == user_id)
    if but is None:
        session.execute(
            update(models.User)
            .where(models.User.id == user_id)
            .values(tokens_valid_after=ports.clock.now())
        )
    else:
        going = going.where(models.Session.id != but)
    ended = len(session.scalars(going.returning(models.Session.id)).all())
    drop_challenges(session, user_id)
    return ended


DISABLED = Problem(
    "DISABLED_AUTHENTICATION_METHOD", "Password login is disabled. Sign in with SSO."
)
NO_STAFF = Problem(
    "INVALID",
    "This is a customer account. The console is for staff. Ask someone who "
    "manages staff to make you a staff member.",
    "email",
)
_INACTIVE = Problem("INACTIVE", "This account is not active.", "email")
_UNCONFIRMED = Problem(
    "ACCOUNT_NOT_CONFIRMED", "Confirm your account with the link in the email first.", "email"
)


@dataclass(frozen=True, slots=True)
class PasswordSignIn:
    """A session that has just begun: its user as stored, and the switches of that moment."""

    opened: OpenedSession
    user: User
    switches: Switches


@dataclass(frozen=True, slots=True)
class UnfinishedSignIn:
    """The first factor was right; ``challenge`` asks for the second."""

    challenge: second_factors.Challenge
    for_staff: bool

    def refusal(self) -> SecondFactorRequired:
        """Return what ends the use case, once the challenge is committed."""
        return SecondFactorRequired(self.challenge, for_staff=self.for_staff)


@building_block
def require_password_login(switches: Switches) -> None:
    """Refuse while the password login mode is DISABLED."""
    if switches.password_login_mode is PasswordLoginMode.DISABLED:
        raise Refused(DISABLED)


@building_block
def require_account(shop: models.Shop, user: models.User, entry: SignInEntry) -> None:
    """Refuse accounts that can't sign in by password: INACTIVE, ACCOUNT_NOT_CONFIRMED.

    At the console also INVALID on ``email`` for customers.
    """
    if not user.is_active:
        raise Refused(_INACTIVE)
    if not user.is_confirmed and needs_confirmation(shop):
        raise Refused(_UNCONFIRMED)
    if entry.in_console and not user.is_staff:
        entry.reason = SignInReason.NOT_STAFF
        raise Refused(NO_STAFF)


@building_block
def needs_confirmation(shop: models.Shop) -> bool:
    """Whether an unconfirmed account can't sign in."""
    return shop.enable_account_confirmation_by_email and not shop.allow_login_without_confirmation


@building_block
def begin_session(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: models.User,
    entry: SignInEntry,
    begins: PendingSession,
    amr: tuple[str, ...] = (),
) -> PasswordSignIn | UnfinishedSignIn:
    """Open a session of origin PASSWORD in the transaction of ``session``.

    For an account with a second factor that ``amr`` lacks, a challenge is stored instead: the
    caller raises its refusal after the commit.
    """
    start = SessionStart(
        SessionOrigin.PASSWORD, lifetime=begins.lifetime, amr=amr, place=begins.place
    )
    try:
        opened = open_session(ports, actor, session, user.id, start)
    except SecondFactorSkipped as skipped:
        purpose, types = second_factors.ChallengePurpose.SIGN_IN, skipped.types
        challenge = ask(ports, session, purpose, user_id=user.id, types=types, pending=begins)
        return UnfinishedSignIn(challenge, user.is_staff)
    user.last_login = ports.clock.now()
    record_sign_in(ports, actor, session, entry, user)
    row = session.execute(select(*USER_COLUMNS).where(models.User.id == user.id)).one()
    return PasswordSignIn(opened, read_user(row), stored_switches(ports, session))


SESSION = "Session"
"""The type name in a session's global id."""


@account_owner_only
def list_sessions(ports: Ports, actor: Actor, *, limit: int | None = None) -> tuple[SignedIn, ...]:
    """Return the caller's own sessions that are alive, the one used last first.

    At most ``limit``, if given: the current one, and the newest.
    """
    is_present = models.Session.id == (actor.session_id or 0)
    alive = (
        select(models.Session)
        .where(models.Session.user_id == own_id(actor))
        .where(models.Session.expires_at > ports.clock.now())
        .order_by(is_present.desc(), models.Session.id.desc())
        .limit(limit)
    )
    with ports.database.reading() as session:
        found = [signed_in(actor, stored) for stored in session.scalars(alive)]
    return tuple(sorted(found, key=by_use, reverse=True))


@account_owner_only
def end_session(ports: Ports, actor: Actor, session_id: str) -> None:
    """End one of the caller's sessions by global id; the current one signs them out.

    Its tokens stop working immediately in every process. Refuses NOT_FOUND on ``id`` for an ended
    session or another user's.
    """
    if not end_own_session(ports, actor, key_of(session_id, SESSION)):
        raise Refused(Problem("NOT_FOUND", "You have no such session.", "id"))


@building_block
def end_own_session(ports: Ports, actor: Actor, key: int | None) -> bool:
    """End the caller's session with that key; return whether there was one."""
    user_id = own_id(actor)
    with ports.database.transaction() as session:
        ended = session.scalar(
            delete(models.Session)
            .where(models.Session.id == key, models.Session.user_id == user_id)
            .returning(models.Session.id)
        )
        if ended is not None:
            change = Change("session.end", "User", user_id, actor.name, before={"session": key})
            record(ports, actor, session, change)
        return ended is not None


@account_owner_only
def end_other_sessions(ports: Ports, actor: Actor) -> int:
    """End every other session of the caller; return how many there were."""
    user_id = own_id(actor)
    with ports.database.transaction() as session:
        # A provider's token belongs to no session here: then every session here is another.
        ended = end_sessions(ports, session, user_id, but=actor.session_id or 0)
        before = {"sessions": ended}
        change = Change("session.end_others", "User", user_id, actor.name, before)
        record(ports, actor, session, change)
        return ended


@building_block
def signed_in(actor: Actor, stored: models.Session) -> SignedIn:
    """Return a session as it is shown to ``actor``."""
    return SignedIn(
        id=stored.id,
        device=device_of(stored.user_agent),
        address=stored.address,
        created_at=stored.created_at,
        last_used_at=stored.last_used_at,
        origin=SessionOrigin(stored.origin),
        is_current=stored.id == actor.session_id,
        by_passkey=is_by_passkey(stored),
    )


@building_block
def is_by_passkey(stored: models.Session) -> bool:
    """Whether a session began with a passkey, not with a password or a provider."""
    is_local = stored.origin == SessionOrigin.PASSWORD.value
    return is_local and second_factors.began_with_passkey(second_factors.read_methods(stored.amr))


@building_block
def by_use(shown: SignedIn) -> tuple[float, int]:
    """Sort key of sessions: their last use."""
    used = shown.last_used_at or shown.created_at
    return used.timestamp(), shown.id


@account_owner_only
def deactivate_all_tokens(ports: Ports, actor: Actor) -> None:
    """End every session of the caller, the one in use included (`tokensDeactivateAll`)."""
    user_id = own_id(actor)
    with ports.database.transaction() as session:
        before = {"sessions": end_sessions(ports, session, user_id)}
        change = Change("tokens.deactivate_all", "User", user_id, actor.name, before)
        record(ports, actor, session, change)
