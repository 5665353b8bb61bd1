"""Erase a person: the account with all that is theirs, and what logs say about them."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.values.errors import Problem, Refused
from app.models import UserRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import internal
from app.services.identity.users import load_user, stored_email
from app.services.people.customers import remove_customer
from app.services.people.permission_holders import is_last_manager, lock_grants
from app.services.people.personal_traces import (
    delete_deliveries,
    delete_emails,
    delete_events,
    erase_audit_entries,
    erase_import_digests,
    erase_orders,
    erase_requesters,
    erase_savers,
    erase_sign_ins,
    traces_of,
)
from app.services.people.staff import remove_staff

_MISSING = Problem("NOT_FOUND", "There is no person with this email.", "email")
_LAST_MANAGER = (
    "{email} is the last person who can manage staff. Give MANAGE_STAFF to another person first."
)


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased in addition to the account; log entries and orders stay under the ID."""

    user_id: int
    sign_ins: int
    audit_entries: int
    orders: int
    emails: int
    events: int
    deliveries: int


@internal
def erase_person(ports: Ports, actor: Actor, email: str) -> Erasure:
    """Delete a person's account and remove them from logs, orders, events and deliveries.

    Apps get the event of the deletion, as for every deleted account. Refuses on ``email``:
    NOT_FOUND, and LEFT_NOT_MANAGEABLE_PERMISSION for the last person who can manage staff.
    """
    with ports.database.transaction() as session:
        lock_grants(session)
        user = _find(session, stored_email(session, email))
        traces = traces_of(session, user)
        deliveries = delete_deliveries(session, traces)
        events = delete_events(session, traces)
        remove = remove_staff if user.is_staff else remove_customer
        remove(ports, actor, session, user.id)
        record(ports, actor, session, Change("user.erase", "User", user.id))
        session.flush()
        erase_savers(session, traces)
        erase_requesters(session, traces)
        erase_import_digests(session, traces)
        return Erasure(
            user.id,
            sign_ins=erase_sign_ins(ports, session, traces),
            audit_entries=erase_audit_entries(session, traces),
            orders=erase_orders(session, traces),
            emails=delete_emails(session, traces),
            events=events,
            deliveries=deliveries,
        )


def _find(session: Session, email: str) -> User:
    key = session.scalar(select(UserRecord.id).where(UserRecord.email == email))
    if key is None:
        raise Refused(_MISSING)
    user = load_user(session, key)
    if is_last_manager(session, user):
        code = "LEFT_NOT_MANAGEABLE_PERMISSION"
        raise Refused(Problem(code, _LAST_MANAGER, "email", values={"email": user.email}))
    return user
