"""Client credentials, and what clients ask about their own tokens: introspection, revocation."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from app import models
from app.domain.apps.apps import NewAppToken, is_app_token, token_digest
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.oauth import APP_TOKEN_LIFETIME, REFRESH_PREFIX, OAuthClient, digest_of_secret
from app.domain.sign_in.tokens import TokenType
from app.domain.values.errors import TokenRejected, TrafficClosed
from app.ports import Ports
from app.services.authorization.register import input_decides
from app.services.authorization.session_rights import LiveSession, find_session
from app.services.authorization.shop_state import Lookup
from app.services.authorization.token_rights import find_app
from app.services.identity.own_tokens import verify_own_token
from app.services.identity.stored_apps import store_token
from app.services.oauth.clients import app_token_name, is_app_token_of, record_client_use
from app.services.oauth.grants import end_grant, judge_grant, stays_connected

MAX_ASSERTION_LIFETIME = timedelta(minutes=10)


@input_decides
def grant_app_token(
    ports: Ports,
    actor: Actor,
    client: OAuthClient,
    permissions: frozenset[Permission] | None = None,
) -> NewAppToken | None:
    """Return a token of the client's app that ends in ten minutes.

    It has the app's permissions of the moment, within ``permissions`` if given. The client's
    earlier ones that have expired are deleted. ``None`` if the app or the client isn't active.
    """
    now, name = ports.clock.now(), app_token_name(client)
    with ports.database.transaction() as session:
        # Locked, so that a client that is being disabled gets no token that outlives it.
        stored = session.get(models.OAuthClient, client.id, with_for_update=True)
        if stored is None or not stored.is_active:
            return None
        app = None if stored.app_id is None else session.get(models.App, stored.app_id)
        if app is None or not (app.is_active and app.is_installed):
            return None
        session.execute(
            delete(models.AppToken).where(
                is_app_token_of(client), models.AppToken.expires_at <= now
            )
        )
        record_client_use(ports, session, client)
        end = now + APP_TOKEN_LIFETIME
        return store_token(ports, session, app.id, name, end, permissions, is_by_client=True)


@input_decides
def claim_assertion(
    ports: Ports, actor: Actor, client: OAuthClient, jti: str, expires: datetime
) -> bool:
    """Whether a signed assertion is used for the first time, and not for longer than allowed."""
    if expires > ports.clock.now() + MAX_ASSERTION_LIFETIME:
        return False
    digest = digest_of_secret(f"{client.client_id} {jti}")
    # Clocks may differ: an assertion can still be accepted when it has just expired.
    kept_until = expires + MAX_ASSERTION_LIFETIME
    try:
        with ports.database.transaction() as session:
            session.add(models.OAuthAssertion(digest=digest, expires_at=kept_until))
    except IntegrityError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A client's token that works now; ``issued`` and ``expires`` in Unix seconds.

    ``subject`` is the person's, or the client itself for its app's token.
    """

    subject: str
    scopes: frozenset[str]
    issued: int
    expires: int
    is_refresh: bool = False


@input_decides
def find_issued_token(
    ports: Ports, actor: Actor, client: OAuthClient, token: str
) -> IssuedToken | None:
    """Return the client's own token if it works now; ``None`` for any other text."""
    if client.app_id is not None:
        return _find_app_token(ports, client, token)
    found = _find_issued(ports, actor, client, token)
    try:
        judged = None if found is None else judge_grant(found.lookup)
    except TrafficClosed:
        return None
    if found is None or judged is None:
        return None
    works = stays_connected(judged.found) or not found.token.is_refresh
    return found.token if works else None


def _find_app_token(ports: Ports, client: OAuthClient, token: str) -> IssuedToken | None:
    """Return a token that the client got for its app, while the app is active."""
    if not is_app_token(token):
        return None
    digest = token_digest(token)
    query = select(models.AppToken.created_at, models.AppToken.expires_at).where(
        models.AppToken.digest == digest, is_app_token_of(client)
    )
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    found = None if row is None else find_app(ports, digest).found
    if row is None or found is None:
        return None
    times = int(row.created_at.timestamp()), int(row.expires_at.timestamp())
    return IssuedToken(client.client_id, frozenset(map(str, found.granted)), *times)


@dataclass(frozen=True, slots=True)
class _Issued:
    """A token of a grant, and its session."""

    token: IssuedToken
    lookup: Lookup[LiveSession | None]


def _find_issued(ports: Ports, actor: Actor, client: OAuthClient, token: str) -> _Issued | None:
    if token.startswith(REFRESH_PREFIX):
        return _find_refresh(ports, client, token)
    try:
        verified = verify_own_token(ports, token, actor.issuer)
    except TokenRejected:
        return None
    claims = verified.claims
    if claims.type != TokenType.ACCESS:
        return None
    lookup = Lookup(verified.shop_state, verified.found)
    return _issued(client, lookup, (claims.iat, claims.exp), is_refresh=False)


def _find_refresh(ports: Ports, client: OAuthClient, token: str) -> _Issued | None:
    query = (
        select(
            models.Session.token,
            models.Session.user_id,
            models.Session.expires_at,
            models.OAuthRefreshToken.created_at,
        )
        .join(models.Session, models.Session.id == models.OAuthRefreshToken.session_id)
        .where(
            models.OAuthRefreshToken.digest == digest_of_secret(token),
            models.OAuthRefreshToken.used_at.is_(None),
            models.Session.expires_at > ports.clock.now(),
        )
    )
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    if row is None:
        return None
    times = int(row.created_at.timestamp()), int(row.expires_at.timestamp())
    return _issued(client, find_session(ports, row.token, row.user_id), times, is_refresh=True)


def _issued(
    client: OAuthClient,
    found: Lookup[LiveSession | None],
    times: tuple[int, int],
    *,
    is_refresh: bool,
) -> _Issued | None:
    live = found.found
    if live is None or live.client is None or live.client.client_id != client.id:
        return None
    subject = client.subject_of(live.user.id)
    return _Issued(IssuedToken(subject, live.client.words, *times, is_refresh), found)


@input_decides
def revoke_grant(ports: Ports, actor: Actor, client: OAuthClient, token: str) -> None:
    """End the grant of one of the client's own tokens (RFC 7009); nothing for any other text."""
    if client.app_id is not None and is_app_token(token):
        _revoke_app_token(ports, client, token)
        return
    found = _find_issued(ports, actor, client, token)
    live = None if found is None else found.lookup.found
    if live is None or live.session_id is None:
        return
    with ports.database.transaction() as session:
        end_grant(ports, actor, session, live.session_id, "The client revoked its token.")


def _revoke_app_token(ports: Ports, client: OAuthClient, token: str) -> None:
    with ports.database.transaction() as session:
        session.execute(
            delete(models.AppToken).where(
                models.AppToken.digest == token_digest(token), is_app_token_of(client)
            )
        )
