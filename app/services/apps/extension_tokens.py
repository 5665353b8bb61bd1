"""The tokens with which an app's dashboard extension acts for its user."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Select, bindparam, select

from app.domain.apps.apps import EXTENSION_TOKEN_LIFETIME, App, AppType, extension_claims
from app.domain.authorization.actor import Actor
from app.domain.sign_in.tokens import Subject, TokenType, make_claims
from app.models import SessionRecord
from app.ports import Ports
from app.services.authorization.register import staff_and_apps
from app.services.authorization.shop_state import moment
from app.services.keys import ring

_SESSION: Select[*tuple[object, ...]] = select(
    SessionRecord.token, SessionRecord.expires_at
).where(SessionRecord.id == bindparam("session_id"))


@staff_and_apps
def extension_token_signer(ports: Ports, actor: Actor) -> Callable[[App], str | None]:
    """Return what creates a five-minute token for an app to act for the caller (`accessToken`).

    It belongs to the caller's session, ends with it, and has the permissions that both hold. None
    for apps and extensions, for staff without a session of ours, for an inactive app, and for a
    local app without a page. Two statements, whatever the number of apps.
    """
    if not actor.is_account_owner or actor.user_id is None:
        return _no_token
    rows = ports.database.read(_SESSION, {"session_id": actor.session_id})
    if not rows:
        return _no_token
    session, ends = rows[0].token, moment(rows[0].expires_at)
    now = ports.clock.timestamp()
    expires = now + EXTENSION_TOKEN_LIFETIME
    if isinstance(ends, datetime):
        expires = min(expires, ends.timestamp())
    claims = make_claims(
        Subject(
            user_id=actor.user_id,
            email=actor.name,
            is_staff=actor.is_staff,
            session=session,
            issuer=actor.issuer,
            owner=ports.configuration.token_owner,
            amr=actor.amr,
        ),
        TokenType.EXTENSION,
        now=now,
        expires=expires,
    )
    signer = ring(ports).signer

    def sign(app: App) -> str | None:
        if not (app.is_active and app.type is AppType.THIRDPARTY):
            return None
        return ports.keys.sign(signer, claims | extension_claims(app, actor.permissions))

    return sign


def _no_token(_app: App) -> None:
    """Return no token."""
