"""Refresh tokens that are good for one use: the setting ``SINGLE_USE_REFRESH_TOKENS``."""

from datetime import timedelta
from hmac import compare_digest

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.sign_in.tokens import Claims, successor_of
from app.domain.values.errors import Problem, Refused, TokenFault
from app.models import SessionRecord
from app.ports import Ports
from app.ports.database import account
from app.services.audit.log import Change, record
from app.services.authorization.register import part
from app.services.sign_in.sessions import digest_of_csrf_token

SESSION_ENDED = Problem("JWT_INVALID_TOKEN", TokenFault.INVALID.message)

GRACE = timedelta(seconds=10)
"""For how long a token that was used may come again: two tabs of a browser refresh at once, and
an answer may get lost. Both get the same successor."""


@part
def use_up(ports: Ports, actor: Actor, claims: Claims, email: str) -> str:
    """Use up the refresh token with ``claims``; return the ``csrf_token`` of its successor.

    A token that is reused after ``GRACE``, or its successor, was stolen: as no one knows which,
    the session ends (RFC 9700, 4.14.2) and JWT_INVALID_TOKEN is refused.
    """
    with ports.database.transaction(account(claims.user_id)) as session:
        kept = session.scalar(
            select(SessionRecord)
            .where(SessionRecord.token == claims.session, SessionRecord.user_id == claims.user_id)
            .with_for_update()
        )
        is_good = kept is not None
        if kept is not None and is_current(kept, claims):
            replace_token(ports, kept, claims)
        elif kept is not None and not was_just_used(ports, kept, claims):
            is_good = False
            session.delete(kept)
            why = {"reason": "A refresh token was used twice."}
            change = Change("session.end", "User", claims.user_id, email, after=why)
            record(ports, actor, session, change)
    if not is_good:
        raise Refused(SESSION_ENDED)
    return successor_of(claims.csrf_token)


@part
def is_current(kept: SessionRecord, claims: Claims) -> bool:
    """Whether the refresh token with ``claims`` is the newest of its session."""
    return compare_digest(kept.refresh_digest, digest_of_csrf_token(claims.csrf_token))


@part
def was_just_used(ports: Ports, kept: SessionRecord, claims: Claims) -> bool:
    """Whether the newest took the place of the one with ``claims`` within the last ``GRACE``."""
    following = digest_of_csrf_token(successor_of(claims.csrf_token))
    if kept.refreshed_at is None or not compare_digest(kept.refresh_digest, following):
        return False
    return ports.shared_clock.now() <= kept.refreshed_at + GRACE


@part
def replace_token(ports: Ports, kept: SessionRecord, claims: Claims) -> str:
    """Have the token with ``claims`` be followed by another; returns its ``csrf_token``."""
    successor = successor_of(claims.csrf_token)
    kept.refresh_digest = digest_of_csrf_token(successor)
    kept.refreshed_at = ports.shared_clock.now()
    return successor
