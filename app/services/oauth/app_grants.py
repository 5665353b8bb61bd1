"""Client credentials: short-lived tokens that an app gets by its OAuth client."""

from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from app.domain.apps.apps import NewAppToken
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.oauth import APP_TOKEN_LIFETIME, OAuthClient, digest_of_secret
from app.models import AppRecord, AppTokenRecord, OAuthAssertionRecord, OAuthClientRecord
from app.ports import Ports
from app.services.authorization.register import input_decides
from app.services.identity.stored_apps import store_token
from app.services.oauth.clients import app_token_name, note_use

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
        stored = session.get(OAuthClientRecord, client.id, with_for_update=True)
        if stored is None or not stored.is_active:
            return None
        app = None if stored.app_id is None else session.get(AppRecord, stored.app_id)
        if app is None or not (app.is_active and app.is_installed):
            return None
        session.execute(
            delete(AppTokenRecord).where(
                AppTokenRecord.app_id == app.id,
                AppTokenRecord.name == name,
                AppTokenRecord.expires_at <= now,
            )
        )
        note_use(ports, session, client)
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
            session.add(OAuthAssertionRecord(digest=digest, expires_at=kept_until))
    except IntegrityError:
        return False
    return True
