"""The authentication methods of a session whose person adds or proves a second factor."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.second_factors.methods import (
    AuthenticationMethod,
    read_methods,
    used_second_factor,
    write_methods,
)
from app.models import SessionRecord
from app.ports import Ports
from app.services.authorization.register import part


@part
def add_method(session: Session, actor: Actor, method: AuthenticationMethod) -> None:
    """Note in the caller's session that its person has just added a second factor."""
    stored = session.get(SessionRecord, actor.session_id or 0, with_for_update=True)
    if stored is None:
        return
    amr = read_methods(stored.amr)
    if used_second_factor(amr):
        return
    by_password = stored.origin == SessionOrigin.PASSWORD.value
    first = amr or ((AuthenticationMethod.PASSWORD,) if by_password else ())
    stored.amr = write_methods((*first, method, AuthenticationMethod.MULTIPLE_FACTORS))


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
