"""Change an account's own details, for its owner or for staff who manage customers."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.domain.accounts.names import name_problems
from app.domain.accounts.time_zones import time_zone_problem
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.events import CustomerUpdated, StaffUpdated
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.unset import ABSENT, Absent, present
from app.models import UserRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import account_owner_only, part, requires
from app.services.identity.users import load_caller, load_user
from app.services.outbox.publisher import add_event
from app.services.sign_in.reauthentication import own_id


@dataclass(frozen=True, slots=True)
class Details:
    """New names; ``ABSENT`` keeps a name."""

    first_name: str | Absent = ABSENT
    last_name: str | Absent = ABSENT


@account_owner_only
def update_account(ports: Ports, actor: Actor, details: Details) -> User:
    """Change the caller's own names (`accountUpdate`); refuses INVALID on each of them."""
    with ports.database.transaction() as session:
        user = session.get(UserRecord, own_id(actor), with_for_update=True)
        if user is None:
            raise PermissionDenied(Caller.USER)
        _update(ports, actor, session, user, details)
        return load_caller(session, actor, user.id)


@account_owner_only
def set_time_zone(ports: Ports, actor: Actor, name: str | None) -> None:
    """Choose the time zone in which the console shows times to the caller; ``None`` is UTC.

    Refuses INVALID on ``timeZone`` for a name that isn't an IANA time zone.
    """
    problem = time_zone_problem(name)
    if problem is not None:
        raise Refused(problem)
    with ports.database.transaction() as session:
        user = session.get(UserRecord, own_id(actor), with_for_update=True)
        if user is None:
            raise PermissionDenied(Caller.USER)
        if user.time_zone != name:
            before, after = {"time_zone": user.time_zone}, {"time_zone": name}
            user.time_zone = name
            change = Change("account.update", "User", user.id, user.email, before, after)
            record(ports, actor, session, change)


@requires(Permission.MANAGE_USERS)
def update_customer_account(
    ports: Ports, actor: Actor, customer_id: str, details: Details
) -> User:
    """Change a customer's names (`accountUpdate` with ``customerId``, a global id).

    Refuses NOT_FOUND on ``customerId`` if it isn't a customer's, INVALID on each name.
    """
    key = key_of(customer_id, "User", field="customerId")
    with ports.database.transaction() as session:
        user = session.get(UserRecord, key, with_for_update=True)
        if user is None or user.is_staff:
            message = "No customer has this ID."
            raise Refused(Problem("NOT_FOUND", message, "customerId"))
        _update(ports, actor, session, user, details)
        return load_user(session, user.id)


@part
def add_user_updated(ports: Ports, actor: Actor, session: Session, user: UserRecord) -> None:
    """Note that ``user`` has changed, for those who keep customers or staff elsewhere."""
    kind = StaffUpdated if user.is_staff else CustomerUpdated
    add_event(ports, actor, session, kind(user.id))


def _update(
    ports: Ports, actor: Actor, session: Session, user: UserRecord, details: Details
) -> None:
    names = {
        "first_name": present(details.first_name, user.first_name),
        "last_name": present(details.last_name, user.last_name),
    }
    problems = name_problems(names["first_name"], names["last_name"])
    refuse_any(*problems)
    after = {name: value for name, value in names.items() if getattr(user, name) != value}
    before = {name: getattr(user, name) for name in after}
    if after:
        for name, value in after.items():
            setattr(user, name, value)
        user.updated_at = ports.clock.now()
        add_user_updated(ports, actor, session, user)
        change = Change("account.update", "User", user.id, user.email, before, after)
        record(ports, actor, session, change)
