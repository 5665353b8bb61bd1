"""The authentication methods of a session whose person adds or proves a second factor."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.second_factors import (
    AuthenticationMethod,
    methods_with_proof,
    read_methods,
    write_methods,
)
from app.models import SessionRecord
from app.ports import Ports
from app.services.authorization.register import part


@part
def add_method(session: Session, actor: Actor, method: AuthenticationMethod) -> None:
    """Note in the caller's session that its person has just added a second factor."""
    stored = session.get(SessionRecord, actor.session_id or 0, with_for_update=True)
    if stored is not None:
        note_method(stored, method)


@part
def note_method(stored: SessionRecord, method: AuthenticationMethod) -> tuple[str, ...]:
    """Note a second factor in a locked session; return its authentication methods from now on."""
    by_password = stored.origin == SessionOrigin.PASSWORD.value
    amr = methods_with_proof(read_methods(stored.amr), method, by_password=by_password)
    stored.amr = write_methods(amr)
    return amr


@part
def count_other_sessions(ports: Ports, session: Session, actor: Actor, user_id: int) -> int:
    """Return how many sessions of the user there are besides the caller's."""
    record = SessionRecord
    others = select(func.count(record.id)).where(
        record.user_id == user_id,
        record.id != (actor.session_id or 0),
        record.expires_at > ports.clock.now(),
    )
    return session.scalar(others) or 0
