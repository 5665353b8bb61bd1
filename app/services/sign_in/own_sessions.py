"""Where one is signed in, and signing out there."""

from sqlalchemy import delete, select

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.sign_in.devices import SignedIn, device_of
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of
from app.models import SessionRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import account_owner_only, part
from app.services.sign_in.reauthentication import own_id
from app.services.sign_in.sessions import end_sessions

SESSION = "Session"
"""The type name in a session's global id."""


@account_owner_only
def list_sessions(ports: Ports, actor: Actor, *, limit: int | None = None) -> tuple[SignedIn, ...]:
    """The caller's own sessions that are alive, the one used last first.

    No more than ``limit``, if that is said: the present one, and the newest.
    """
    is_present = SessionRecord.id == (actor.session_id or 0)
    alive = (
        select(SessionRecord)
        .where(SessionRecord.user_id == own_id(actor))
        .where(SessionRecord.expires_at > ports.clock.now())
        .order_by(is_present.desc(), SessionRecord.id.desc())
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
    user_id = own_id(actor)
    key = key_of(session_id, SESSION)
    with ports.database.transaction() as session:
        ended = session.scalar(
            delete(SessionRecord)
            .where(SessionRecord.id == key, SessionRecord.user_id == user_id)
            .returning(SessionRecord.id)
        )
        if ended is None:
            raise Refused(Problem("NOT_FOUND", "You have no such session.", "id"))
        change = Change("session.end", "User", user_id, actor.name, before={"session": key})
        record(ports, actor, session, change)


@account_owner_only
def end_other_sessions(ports: Ports, actor: Actor) -> int:
    """End every session of the caller but the present one; how many there were."""
    user_id = own_id(actor)
    with ports.database.transaction() as session:
        # A provider's token belongs to no session of ours: then every one of ours is another.
        ended = end_sessions(ports, session, user_id, but=actor.session_id or 0)
        before = {"sessions": ended}
        change = Change("session.end_others", "User", user_id, actor.name, before=before)
        record(ports, actor, session, change)
        return ended


@part
def signed_in(actor: Actor, stored: SessionRecord) -> SignedIn:
    """A session as it is shown to ``actor``."""
    return SignedIn(
        id=stored.id,
        device=device_of(stored.user_agent),
        address=stored.address,
        created_at=stored.created_at,
        last_used_at=stored.last_used_at,
        origin=SessionOrigin(stored.origin),
        is_current=stored.id == actor.session_id,
    )


@part
def by_use(shown: SignedIn) -> tuple[float, int]:
    """Sort key of sessions: their last use."""
    used = shown.last_used_at or shown.created_at
    return used.timestamp(), shown.id
