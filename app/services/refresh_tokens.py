"""Refresh tokens that are good for one use: the setting ``SINGLE_USE_REFRESH_TOKENS``."""

from hmac import compare_digest

from sqlalchemy import select

from app.domain.actor import Actor
from app.domain.errors import Problem, Refused, TokenFault
from app.domain.tokens import CSRF_TOKEN_LENGTH, Claims
from app.models import SessionRecord
from app.ports import Ports
from app.services.access import part
from app.services.audit import Change, record
from app.services.sessions import digest_of_csrf_token

SESSION_ENDED = Problem("JWT_INVALID_TOKEN", TokenFault.INVALID.message)


@part
def use_up(ports: Ports, actor: Actor, claims: Claims, email: str) -> str:
    """Use up the refresh token with ``claims``; returns the ``csrf_token`` of its successor.

    A token that comes a second time was stolen, or its successor was: nobody can tell who has
    which, so the session ends (RFC 9700, 4.14.2) and JWT_INVALID_TOKEN is refused. Of two that
    come at once, one is the second.
    """
    successor = ports.randomness.token(CSRF_TOKEN_LENGTH)
    with ports.database.transaction() as session:
        kept = session.scalar(
            select(SessionRecord)
            .where(SessionRecord.token == claims.session, SessionRecord.user_id == claims.user_id)
            .with_for_update()
        )
        is_good = kept is not None and compare_digest(
            kept.refresh_digest, digest_of_csrf_token(claims.csrf_token)
        )
        if kept is not None and is_good:
            kept.refresh_digest = digest_of_csrf_token(successor)
        elif kept is not None:
            session.delete(kept)
            why = {"reason": "A refresh token was used twice."}
            change = Change("session.end", "User", claims.user_id, email, after=why)
            record(ports, actor, session, change)
    if not is_good:
        raise Refused(SESSION_ENDED)
    return successor
