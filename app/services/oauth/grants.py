"""Codes, sessions and refresh tokens of OAuth clients, and what clients are told of a person.

A grant is a session: it keeps the origin and the methods of the sign-in behind it, so that login
mode, storefront and second factors count as they do for that sign-in.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import models
from app.domain import oauth
from app.domain.accounts.users import User
from app.domain.authorization.actor import (
    STAFF_SCOPE,
    Actor,
    ClientGrant,
    SessionOrigin,
    read_client_grant,
)
from app.domain.authorization.permissions import read_grant
from app.domain.second_factors import used_second_factor
from app.domain.shop.settings import rejects_password_sessions
from app.domain.sign_in.tokens import LIMIT
from app.domain.values.errors import PermissionDenied, TrafficClosed
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import (
    account_owner_only,
    building_block,
    input_decides,
    public,
)
from app.services.authorization.session_rights import LiveSession, effective_user, find_session
from app.services.authorization.shop_state import Lookup
from app.services.oauth.client_sessions import ClientPerson, join_sessions, sid_of_grant
from app.services.oauth.clients import has_client_id, record_client_use, to_client
from app.services.oauth.consents import can_continue, missing_consent, not_allowed
from app.services.oauth.userinfo import issuer_of
from app.services.sign_in import sessions
from app.services.sign_in.reauthentication import own_id
from app.services.sign_in.tokens import sign_access


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """What a code is bound to; ``scopes`` as they are stored, ``challenge`` that of PKCE (S256).

    ``authenticated_at`` is when the person signed in.
    """

    client: oauth.OAuthClient
    redirect_uri: str
    scopes: frozenset[str]
    challenge: str
    authenticated_at: datetime
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class StoredCode:
    """A code of a client that hasn't expired; it may have been used."""

    id: int
    redirect_uri: str
    scopes: frozenset[str]
    challenge: str
    nonce: str


@dataclass(frozen=True, slots=True)
class StoredRefreshToken:
    """A refresh token whose session lives; it may have been used."""

    id: int
    client_id: int
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Granted:
    """What a client gets: its tokens, and who signed in, when, and how.

    ``sid`` is the session's name for the client, ``expires_in`` in seconds.
    """

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_in: int
    scopes: frozenset[str]
    user: User
    sid: str
    authenticated_at: datetime
    origin: SessionOrigin
    amr: tuple[str, ...]

    @property
    def has_second_factor(self) -> bool:
        return used_second_factor(self.amr)


@public
def find_client(ports: Ports, actor: Actor, client_id: str) -> oauth.OAuthClient | None:
    """Return the enabled client of that client ID; ``None`` for none, whatever the text."""
    query = select(models.OAuthClient).where(
        has_client_id(client_id), models.OAuthClient.is_active
    )
    with ports.database.reading() as session:
        stored = session.scalar(query)
        return None if stored is None else to_client(stored)


@public
def form_target(ports: Ports, actor: Actor, path: str) -> str:
    """Return where forms of a sign-in for the authorization request ``path`` can end, for CSP.

    That is the origin of a redirect URI that the client has registered; empty for any other.
    """
    asked = dict(parse_qsl(urlsplit(path).query))
    client, uri = find_client(ports, actor, asked.get("client_id", "")), asked.get("redirect_uri")
    return oauth.redirect_origin(uri) if client and uri and client.allows_redirect(uri) else ""


@public
def is_client_secret(ports: Ports, actor: Actor, client: oauth.OAuthClient, secret: str) -> bool:
    """Whether ``secret`` is one of the client's that works now; compared by its SHA-256."""
    query = select(models.OAuthClientSecret.expires_at).where(
        models.OAuthClientSecret.client_id == client.id,
        models.OAuthClientSecret.digest == oauth.digest_of_secret(secret),
    )
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    return row is not None and (row.expires_at is None or row.expires_at > ports.clock.now())


@account_owner_only
def issue_code(ports: Ports, actor: Actor, asked: CodeRequest) -> str:
    """Return a code for the client, to be exchanged once, within a minute.

    ``actor`` is the person at the hosted pages. Raises ``PermissionDenied`` if they haven't
    allowed a third party all of it, or without a session here, and ``SecondFactorSkipped`` if the
    account has got a second factor since they signed in without one: no session would begin.
    """
    client = asked.client
    if actor.session_id is None or missing_consent(ports, actor, client, asked.scopes):
        raise PermissionDenied(message="The person hasn't allowed this client so much.")
    code = ports.randomness.token(oauth.CODE_LENGTH)
    now = ports.clock.now()
    with ports.database.transaction() as session:
        require_second_factor(session, actor)
        session.add(
            models.OAuthCode(
                digest=oauth.digest_of_secret(code),
                client_id=client.id,
                session_id=actor.session_id,
                redirect_uri=asked.redirect_uri,
                scope=oauth.store_scopes(asked.scopes),
                challenge=asked.challenge,
                nonce=asked.nonce,
                authenticated_at=asked.authenticated_at,
                created_at=now,
                expires_at=now + oauth.CODE_LIFETIME,
            )
        )
    return code


@building_block
def require_second_factor(session: Session, actor: Actor) -> None:
    """Raise ``SecondFactorSkipped`` if the account has got a factor since its person signed in."""
    sessions.prevent_skipped_factor(session, own_id(actor), actor.origin, actor.amr)


@input_decides
def find_code(
    ports: Ports, actor: Actor, client: oauth.OAuthClient, code: str
) -> StoredCode | None:
    """Return the code if it was issued to ``client`` and hasn't expired."""
    query = select(models.OAuthCode).where(
        models.OAuthCode.digest == oauth.digest_of_secret(code),
        models.OAuthCode.client_id == client.id,
        models.OAuthCode.expires_at > ports.clock.now(),
    )
    with ports.database.reading() as session:
        found = session.scalar(query)
        if found is None:
            return None
        scopes = frozenset(found.scope.split())
        return StoredCode(found.id, found.redirect_uri, scopes, found.challenge, found.nonce)


@input_decides
def use_code(
    ports: Ports, actor: Actor, client: oauth.OAuthClient, code_id: int
) -> Granted | None:
    """Use a code up, and begin the session that the person granted the client.

    A code that comes again ends the session that it began (RFC 6749, 4.1.2). ``None`` for such a
    code, and if the sign-in behind it has ended or no longer counts. Raises ``TrafficClosed``
    while the storefront is closed, unless the person's staff rights count in this grant.
    """
    with ports.database.transaction() as session:
        claim = (
            update(models.OAuthCode)
            .where(models.OAuthCode.id == code_id, models.OAuthCode.used_at.is_(None))
            .values(used_at=ports.clock.now())
            .returning(models.OAuthCode.id)
        )
        if session.scalar(claim) is None:
            _end_replayed(ports, actor, session, code_id)
            return None
        code = session.get_one(models.OAuthCode, code_id)
        approval = Approval(code.session_id, code.scope, code.authenticated_at)
        begun = begin_grant(ports, actor, session, client, approval)
        code.granted_session_id = None if begun is None else begun.session_id
    return None if begun is None else sign_grant(ports, actor, client, begun)


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person let a client have: scopes as they are stored, and the sign-in behind it.

    ``is_of_device``: the client is elsewhere than the sign-in, and stays signed in without it.
    """

    session_id: int
    scope: str
    authenticated_at: datetime
    is_of_device: bool = False


@dataclass(frozen=True, slots=True)
class BegunGrant:
    """What is stored of a grant, before its access token is signed."""

    session_id: int
    lookup: Lookup[LiveSession]
    opened: sessions.OpenedSession
    authenticated_at: datetime
    sid: str
    refresh_token: str = field(repr=False)


def _end_replayed(ports: Ports, actor: Actor, session: Session, code_id: int) -> None:
    code = session.get(models.OAuthCode, code_id)
    granted = None if code is None else code.granted_session_id
    if granted is not None:
        end_grant(ports, actor, session, granted, "An authorization code was used twice.")


@building_block
def end_grant(ports: Ports, actor: Actor, session: Session, session_id: int, reason: str) -> None:
    stored = session.get(models.Session, session_id)
    if stored is None:
        return
    after = {"reason": reason, "oauth_client": stored.oauth_client_id}
    session.delete(stored)
    record(ports, actor, session, Change("session.end", "User", stored.user_id, after=after))


@building_block
def begin_grant(
    ports: Ports, actor: Actor, session: Session, client: oauth.OAuthClient, approval: Approval
) -> BegunGrant | None:
    """Open the session of a grant, if the sign-in behind it still counts.

    It has the scopes of the approval that the client still has. Raises ``TrafficClosed`` as
    ``use_code`` does.
    """
    signed_in = session.get_one(models.Session, approval.session_id)
    asked = read_client_grant(client.id, approval.scope, is_first_party=client.is_first_party)
    asked = asked.within(client.scopes)
    judged = judge_grant(find_session(ports, signed_in.token, signed_in.user_id), asked)
    if judged is None or signed_in.expires_at <= ports.clock.now():
        return None
    if not_allowed(session, signed_in.user_id, client, asked.words):
        return None
    lifetime = None
    if oauth.OFFLINE not in asked.scopes:
        lifetime = timedelta(seconds=ports.configuration.jwt_ttl_access)
    start = sessions.SessionStart(
        judged.found.origin,
        provider=_provider_of(signed_in),
        lifetime=lifetime,
        amr=judged.found.amr,
        client=sessions.ClientSession(
            client.id, oauth.store_scopes(asked.words), approval.authenticated_at
        ),
    )
    try:
        opened = sessions.open_session(ports, actor, session, signed_in.user_id, start)
    except sessions.SecondFactorSkipped:
        return None
    session.flush()
    granted = session.scalars(
        select(models.Session).where(models.Session.token == opened.token)
    ).one()
    person = ClientPerson(issuer_of(actor), client.subject_of(signed_in.user_id))
    behind = None if approval.is_of_device else signed_in
    sid = join_sessions(ports, session, client, person, granted, behind)
    refresh = _add_refresh_token(ports, session, granted.id) if lifetime is None else ""
    record_client_use(ports, session, client, signed_in.user_id)
    return BegunGrant(granted.id, judged, opened, approval.authenticated_at, sid, refresh)


@building_block
def judge_grant(
    found: Lookup[LiveSession | None], asked: ClientGrant | None = None
) -> Lookup[LiveSession] | None:
    """Return a session if the login mode lets it give tokens, as the grant of ``asked``.

    Raises ``TrafficClosed`` while the storefront is closed for its person.
    """
    live, switches = found.found, found.shop_state.switches
    if live is None or rejects_password_sessions(switches.password_login_mode, live.origin):
        return None
    granted = live if asked is None else replace(live, client=asked)
    if not (switches.allow_storefront_traffic or effective_user(granted, switches).is_staff):
        raise TrafficClosed
    return Lookup(found.shop_state, granted)


@building_block
def sign_grant(
    ports: Ports,
    actor: Actor,
    client: oauth.OAuthClient,
    begun: BegunGrant,
    *,
    is_limited: bool = False,
) -> Granted:
    """Return what a client gets of a grant that was stored; ``is_limited``: not all of it.

    Other programs than this shop judge the access token by its claims (RFC 9068): its audience is
    the client's own besides this API, and ``scope`` has no more rights than the person.
    """
    live, opened = begun.lookup.found, begun.opened
    left = opened.expires - ports.clock.timestamp()
    user = effective_user(live, begun.lookup.shop_state.switches)
    claims = {
        "owner": ports.configuration.client_token_owner,
        "aud": [actor.issuer, _client_audience(actor, client)],
        "client_id": client.client_id,
        "scope": oauth.write_scopes(_held_scopes(live, user), ports.configuration.scope_prefix),
    }
    if client.is_pairwise:
        claims["user_id"] = client.subject_of(user.id)
    if is_limited and live.client is not None:
        claims[LIMIT] = oauth.store_scopes(live.client.words)
    return Granted(
        access_token=sign_access(ports, actor, opened, _named_in_token(live), "", more=claims),
        refresh_token=begun.refresh_token,
        expires_in=int(min(ports.configuration.jwt_ttl_access, left)),
        scopes=frozenset() if live.client is None else live.client.words,
        user=user,
        sid=begun.sid,
        authenticated_at=begun.authenticated_at,
        origin=live.origin,
        amr=live.amr,
    )


def _client_audience(actor: Actor, client: oauth.OAuthClient) -> str:
    """Return the audience that a client's access tokens have besides this API."""
    return f"{issuer_of(actor)}/oauth/clients/{client.client_id}"


def _held_scopes(live: LiveSession, user: User) -> frozenset[str]:
    """Return the scopes of a session without rights that its person doesn't have."""
    words = frozenset() if live.client is None else live.client.scopes
    return (words if user.is_staff else words - {STAFF_SCOPE}) | {*map(str, user.permissions)}


def _named_in_token(live: LiveSession) -> User:
    """Return the person as an access token names them, which whoever has it can read.

    Third parties read the email and the role with the scopes for them alone.
    """
    user, client = live.user, live.client
    if client is None or client.is_first_party:
        return user
    email = user.email if client.covers(oauth.EMAIL) else ""
    return replace(user, email=email, is_staff=user.is_staff and client.is_for_staff)


def _provider_of(signed_in: models.Session) -> sessions.ProviderSession | None:
    """Return where the sign-in began, so that the provider ends the grant with its own session."""
    if signed_in.provider_id is None or signed_in.identity_id is None:
        return None
    grant = read_grant(signed_in.scope)
    return sessions.ProviderSession(
        signed_in.provider_id, signed_in.identity_id, signed_in.sid, grant=grant
    )


def _add_refresh_token(ports: Ports, session: Session, session_id: int) -> str:
    token = f"{oauth.REFRESH_PREFIX}{ports.randomness.token(oauth.SECRET_LENGTH)}"
    session.add(
        models.OAuthRefreshToken(
            digest=oauth.digest_of_secret(token),
            session_id=session_id,
            created_at=ports.clock.now(),
        )
    )
    return token


@input_decides
def find_refresh_token(ports: Ports, actor: Actor, token: str) -> StoredRefreshToken | None:
    """Return a refresh token whose grant is alive; ``None`` for any other text."""
    query = (
        select(
            models.OAuthRefreshToken.id,
            models.Session.oauth_client_id,
            models.Session.oauth_scope,
            models.Session.expires_at,
        )
        .join(models.Session, models.Session.id == models.OAuthRefreshToken.session_id)
        .where(
            models.OAuthRefreshToken.digest == oauth.digest_of_secret(token),
            models.Session.oauth_client_id.is_not(None),
        )
    )
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    if row is None or row.expires_at <= ports.clock.now():
        return None
    return StoredRefreshToken(row.id, row.oauth_client_id, frozenset(row.oauth_scope.split()))


@building_block
def stays_connected(live: LiveSession) -> bool:
    """Whether refresh tokens of a grant work: its client still has ``offline_access``."""
    return live.client is not None and live.client.covers(oauth.OFFLINE)


@input_decides
def use_refresh_token(
    ports: Ports,
    actor: Actor,
    client: oauth.OAuthClient,
    token_id: int,
    scopes: frozenset[str] | None = None,
) -> Granted | None:
    """Use a refresh token up, and return new tokens of its session, to the same end.

    The access token has no more than ``scopes``; the next refresh token has all of the grant's.

    One that comes again was stolen, or its successor was: as no one knows which, the session ends
    (RFC 9700, 4.14.2). ``None`` for such a one, and if the session no longer counts. Raises
    ``TrafficClosed`` as ``use_code`` does.
    """
    with ports.database.transaction() as session:
        used = session.get(models.OAuthRefreshToken, token_id, with_for_update=True)
        kept = None if used is None else session.get(models.Session, used.session_id)
        if used is None or kept is None or kept.oauth_client_id != client.id:
            return None
        if used.used_at is not None:
            end_grant(ports, actor, session, kept.id, "A refresh token was used twice.")
            return None
        judged = judge_grant(find_session(ports, kept.token, kept.user_id))
        if judged is None or kept.authenticated_at is None or not stays_connected(judged.found):
            return None
        if not can_continue(session, kept, client):
            return None
        used.used_at = ports.clock.now()
        refresh = _add_refresh_token(ports, session, kept.id)
        record_client_use(ports, session, client, kept.user_id)
        opened = _opened_again(ports, kept, judged.found)
        sid = sid_of_grant(session, kept)
        if scopes is not None and judged.found.client is not None:
            limited = replace(judged.found, client=judged.found.client.within(scopes))
            judged = Lookup(judged.shop_state, limited)
        begun = BegunGrant(kept.id, judged, opened, kept.authenticated_at, sid, refresh)
    return sign_grant(ports, actor, client, begun, is_limited=scopes is not None)


def _opened_again(ports: Ports, kept: models.Session, live: LiveSession) -> sessions.OpenedSession:
    """Return the session of a grant as if it had begun now, to the same end."""
    return sessions.OpenedSession(
        token=kept.token,
        origin=live.origin,
        issued=ports.clock.timestamp(),
        expires=kept.expires_at.timestamp(),
        csrf_token="",
        amr=live.amr,
    )
