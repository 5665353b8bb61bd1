"""Create, change and delete customers, as staff who manage them."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.addresses import NO_ADDRESSES, DefaultAddresses
from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.accounts.staff import deletion_problem
from app.domain.accounts.users import User, name_problems, note_problems
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import CustomerDeleted, CustomerUpdated
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import given_key, key_of
from app.domain.values.inputs import ABSENT, Absent, present
from app.models import UserRecord
from app.ports import Ports
from app.ports.database import account
from app.services.accounts.email_links import redirect_refusal
from app.services.accounts.stored_addresses import save_defaults
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, requires
from app.services.identity.stored_metadata import Pairs
from app.services.identity.users import BeforeDeletion, ignore_deletion, load_user, snapshot_of
from app.services.outbox.publisher import add_event
from app.services.people.directory import has_reference
from app.services.people.users import (
    Changed,
    Details,
    NewUser,
    about_user,
    bulk_keys,
    change_details,
    detail_problems,
    emails_unique,
    invite,
    store_user,
)
from app.services.sign_in.sessions import end_sessions

_MISSING = Problem("NOT_FOUND", "There is no such customer.", "id")


@dataclass(frozen=True, slots=True)
class NewCustomer:
    """A customer to be added; with a ``redirect_url`` a mail invites them to choose a password."""

    email: str
    first_name: str = ""
    last_name: str = ""
    is_active: bool = True
    redirect_url: str = ""
    customer_type: str | None = None
    language_code: str | Absent = ABSENT
    addresses: DefaultAddresses = NO_ADDRESSES
    note: str = ""
    external_reference: str = ""
    metadata: Pairs = ()
    private_metadata: Pairs = ()


@requires(Permission.MANAGE_USERS)
def create_customer(ports: Ports, actor: Actor, new: NewCustomer) -> User:
    """Add a customer (`customerCreate`), who can sign in once they have chosen a password.

    Their email is confirmed by the link with which they choose it, or by a provider's sign-in.
    Refuses REQUIRED, INVALID and UNIQUE on ``email``, INVALID on names, ``note`` and
    ``redirectUrl``, INVALID and UNIQUE on ``externalReference``, NOT_FOUND on ``customerType``,
    and what ``checked_address`` and ``save_sent_metadata`` do.
    """
    email = normalize_email(new.email)
    problems = [
        email_problem(email),
        *name_problems(new.first_name, new.last_name),
        *note_problems(new.note, new.external_reference),
    ]
    if new.redirect_url:
        problems.append(redirect_refusal(ports, new.redirect_url))
    problems.append(_type_problem(new.customer_type))
    refuse_any(*problems)
    language = present(new.language_code, "")
    new_user = NewUser(
        email,
        new.first_name,
        new.last_name,
        is_active=new.is_active,
        is_confirmed=False,
        language_code=language,
        note=new.note,
        external_reference=new.external_reference,
        metadata=new.metadata,
        private_metadata=new.private_metadata,
    )
    unique = emails_unique(ports, email, new.external_reference)
    with unique, ports.database.transaction() as session:
        user = store_user(ports, actor, session, new_user)
        save_defaults(ports, actor, session, user.id, new.addresses)
        if new.redirect_url and user.is_active:
            invite(ports, actor, session, user, new.redirect_url)
        return load_user(session, user.id)


@requires(Permission.MANAGE_USERS)
def update_customer(
    ports: Ports,
    actor: Actor,
    customer_id: str | None,
    details: Details,
    *,
    customer_type: str | None = None,
    addresses: DefaultAddresses = NO_ADDRESSES,
    external_reference: str | None = None,
) -> User:
    """Change a customer (`customerUpdate`); a deactivated one is signed out everywhere.

    ``external_reference`` names the customer instead of an ID. Refuses REQUIRED, GRAPHQL_ERROR and
    NOT_FOUND on ``id`` or ``externalReference``; REQUIRED, INVALID and UNIQUE on ``details``;
    NOT_FOUND on ``customerType``; and what ``checked_address`` does.
    """
    key, field = _key(ports, customer_id, external_reference)
    problems = [*detail_problems(details), _type_problem(customer_type)]
    refuse_any(*problems)
    unique = emails_unique(ports, details.wanted_email or "", details.wanted_reference)
    with unique, ports.database.transaction(account(key)) as session:
        user = _find(session, key, field)
        if user.is_staff:
            raise Refused(replace(_MISSING, field=field))
        changed = Changed({}, {})
        change_details(ports, actor, session, user, details, changed)
        changed.after.update(save_defaults(ports, actor, session, key, addresses))
        active = details.is_active
        if isinstance(active, bool) and active is not user.is_active:
            changed.note("is_active", user.is_active, active)
            user.is_active = active
            session.flush()
            if not active:
                end_sessions(ports, session, key)
        if changed.after:
            user.updated_at = ports.clock.now()
            add_event(ports, actor, session, CustomerUpdated(key))
            change = Change(
                "customer.update", "User", key, user.email, changed.before, changed.after
            )
            record(ports, actor, session, change)
        return load_user(session, key)


@requires(Permission.MANAGE_USERS)
def delete_customer(
    ports: Ports,
    actor: Actor,
    customer_id: str | None,
    external_reference: str | None = None,
    *,
    before: BeforeDeletion = ignore_deletion,
) -> User:
    """Delete a customer with all their data (`customerDelete`); return the deleted user.

    ``external_reference`` names the customer instead of an ID. Refuses REQUIRED, GRAPHQL_ERROR,
    NOT_FOUND and DELETE_STAFF_ACCOUNT on ``id`` or ``externalReference``.
    """
    key, field = _key(ports, customer_id, external_reference)
    with ports.database.transaction(account(key)) as session:
        return remove_customer(ports, actor, session, key, before, field)


@building_block
@requires(Permission.MANAGE_USERS)
def delete_customers(
    ports: Ports, actor: Actor, customer_ids: Collection[str]
) -> tuple[int, tuple[Problem, ...]]:
    """Delete several customers (`customerBulkDelete`): all that ``delete_customer`` would.

    Returns how many, and why the others weren't, on ``ids`` with the user. Refuses INVALID on
    ``ids`` for more than ``MAX_IDS``, NOT_FOUND for IDs of other types.
    """
    keys = bulk_keys(customer_ids)
    refusals: list[Problem] = []
    with ports.database.transaction(*map(account, keys)) as session:
        for key in keys:
            try:
                remove_customer(ports, actor, session, key, field="ids")
            except Refused as refused:
                refusals += (about_user(problem, key) for problem in refused.problems)
    return len(keys) - len(refusals), tuple(refusals)


@building_block
def remove_customer(
    ports: Ports,
    actor: Actor,
    session: Session,
    key: int,
    before: BeforeDeletion = ignore_deletion,
    field: str = "id",
) -> User:
    """Delete a customer in the transaction of ``session``; refuses as ``delete_customer``."""
    stored = _find(session, key, field)
    user = load_user(session, key)
    problem = deletion_problem(actor, user, is_staff=False)
    if problem is not None:
        raise Refused(replace(problem, field=field))
    before(user)
    snapshot = snapshot_of(user, stored.external_reference)
    session.delete(stored)
    add_event(ports, actor, session, CustomerDeleted(key, snapshot=snapshot))
    record(ports, actor, session, Change("customer.delete", "User", key, user.email))
    return user


def _type_problem(customer_type: str | None) -> Problem | None:
    if customer_type is None:
        return None
    return Problem("NOT_FOUND", "Customer types aren't supported.", "customerType")


def _key(ports: Ports, customer_id: str | None, external_reference: str | None) -> tuple[int, str]:
    """Return the customer's key, and the argument that named them."""
    field = given_key(id=customer_id, externalReference=external_reference)
    if field == "id":
        if customer_id is None:
            raise Refused(Problem("REQUIRED", "This is required.", field))
        return key_of(customer_id, "User"), field
    with ports.database.reading() as session:
        key = session.scalar(select(UserRecord.id).where(has_reference(external_reference or "")))
    if key is None:
        raise Refused(replace(_MISSING, field=field))
    return key, field


def _find(session: Session, key: int, field: str) -> UserRecord:
    user = session.get(UserRecord, key, with_for_update=True)
    if user is None:
        raise Refused(replace(_MISSING, field=field))
    return user
