"""The tokens by which an app's page in the dashboard acts for whoever is looking at it."""

from datetime import datetime

from sqlalchemy import Select, bindparam, select

from app.domain.apps.apps import App, AppType
from app.domain.apps.extensions import TOKEN_LIFETIME, extension_claims
from app.domain.authorization.actor import Actor
from app.domain.sign_in.tokens import Subject, TokenType, make_claims
from app.models import SessionRecord
from app.ports import Ports
from app.services.authorization.live_sessions import moment
from app.services.authorization.register import staff_and_apps
from app.services.keys.ring import ring

_SESSION: Select[*tuple[object, ...]] = select(
    SessionRecord.token, SessionRecord.expires_at
).where(SessionRecord.id == bindparam("session_id"))


@staff_and_apps
def make_extension_token(ports: Ports, actor: Actor, app: App) -> str | None:
    """A token of five minutes for ``app`` to act for the caller (`accessToken`).

    It belongs to the caller's session, ends with it at the latest, and is worth what both may do.
    ``None`` where there is nobody to act for, or nothing to act: for apps, for extensions (one
    must not get at another's rights), for staff without a session of ours, for an app that is not
    active, and for one that was made here and has no page.
    """
    if not actor.is_account_owner or actor.user_id is None:
        return None
    if not app.is_active or app.type is not AppType.THIRDPARTY:
        return None
    rows = ports.database.read(_SESSION, {"session_id": actor.session_id})
    if not rows:
        return None
    session, ends = rows[0].token, moment(rows[0].expires_at)
    now = ports.clock.timestamp()
    expires = now + TOKEN_LIFETIME
    if isinstance(ends, datetime):
        expires = min(expires, ends.timestamp())
    claims = make_claims(
        Subject(
            user_id=actor.user_id,
            email=actor.name,
            is_staff=actor.is_staff,
            session=session,
            issuer=actor.issuer,
            owner=ports.configuration.owner,
        ),
        TokenType.EXTENSION,
        now=now,
        expires=expires,
    )
    return ports.keys.sign(ring(ports).signer, claims | extension_claims(app, actor.permissions))
