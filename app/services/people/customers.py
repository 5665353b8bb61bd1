"""Create, change and delete customers, as staff who manage them."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.addresses import NO_ADDRESSES, DefaultAddresses
from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.accounts.staff import deletion_problem
from app.domain.accounts.users import User, name_problems, note_problems
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import CustomerDeleted, CustomerUpdated
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import given_key, key_of
from app.domain.values.inputs import ABSENT, Absent, present, require_unchanged
from app.ports import Ports
from app.ports.database import account
from app.services.accounts.email_links import redirect_refusal
from app.services.accounts.stored_addresses import save_defaults
from app.services.audit.log import record, user_change
from app.services.authorization.register import building_block, requires
from app.services.identity.stored_metadata import Pairs
from app.services.identity.users import BeforeDeletion, ignore_deletion, load_user, snapshot_of
from app.services.outbox.publisher import add_event
from app.services.people import users
from app.services.people.directory import has_reference
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


class ErrorPolicy(StrEnum):
    """What becomes of several changes when some of them are refused."""

    IGNORE_FAILED = "IGNORE_FAILED"
    REJECT_EVERYTHING = "REJECT_EVERYTHING"
    REJECT_FAILED_ROWS = "REJECT_FAILED_ROWS"


_DETAILS = {
    "firstName": "first_name",
    "lastName": "last_name",
    "email": "email",
    "isActive": "is_active",
    "isConfirmed": "is_confirmed",
    "note": "note",
    "externalReference": "external_reference",
}
"""The name in ``Details`` of each input that a problem can be on."""


@dataclass(frozen=True, slots=True)
class CustomerChange:
    """A change of the customer with that global ID or external reference."""

    customer_id: str | None
    external_reference: str | None
    details: users.Details
    customer_type: str | None = None
    addresses: DefaultAddresses = NO_ADDRESSES


@dataclass(frozen=True, slots=True)
class ChangedCustomer:
    """The customer after the change, ``None`` if nothing was changed, and what was refused."""

    user: User | None
    problems: tuple[Problem, ...]


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
    new_user = users.NewUser(
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
    unique = users.emails_unique(ports, email, new.external_reference)
    with unique, ports.database.transaction() as session:
        user = users.store_user(ports, actor, session, new_user)
        save_defaults(ports, actor, session, user.id, new.addresses)
        if new.redirect_url and user.is_active:
            users.invite(ports, actor, session, user, new.redirect_url)
        return load_user(session, user.id)


@requires(Permission.MANAGE_USERS)
def update_customer(
    ports: Ports,
    actor: Actor,
    customer_id: str | None,
    details: users.Details,
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
    change = CustomerChange(customer_id, external_reference, details, customer_type, addresses)
    refuse_any(*users.detail_problems(details), _type_problem(customer_type))
    unique = users.emails_unique(ports, details.wanted_email or "", details.wanted_reference)
    with unique, ports.database.transaction(account(key)) as session:
        return _change(ports, actor, session, key, field, change)


def _change(
    ports: Ports, actor: Actor, session: Session, key: int, field: str, change: CustomerChange
) -> User:
    """Make a checked change in the transaction of ``session``; refuses as ``update_customer``."""
    user = _find(session, key, field)
    if user.is_staff:
        raise Refused(replace(_MISSING, field=field))
    require_unchanged(change.details.seen, users.detail_facts(user))
    changed = users.Changed({}, {})
    users.change_details(ports, actor, session, user, change.details, changed)
    changed.after.update(save_defaults(ports, actor, session, key, change.addresses))
    active = change.details.is_active
    if isinstance(active, bool) and active is not user.is_active:
        changed.add("is_active", user.is_active, active)
        user.is_active = active
        session.flush()
        if not active:
            end_sessions(ports, session, key)
    if changed.after:
        user.updated_at = ports.clock.now()
        add_event(ports, actor, session, CustomerUpdated(key))
        entry = user_change("customer.update", user, changed.before, changed.after)
        record(ports, actor, session, entry)
    return load_user(session, key)


@requires(Permission.MANAGE_USERS)
def update_customers(
    ports: Ports, actor: Actor, changes: Sequence[CustomerChange], policy: ErrorPolicy
) -> tuple[ChangedCustomer, ...]:
    """Change several customers (`customerBulkUpdate`), in one transaction; ``policy`` on errors.

    Each has the problems that ``update_customer`` refuses, and DUPLICATED_INPUT_ITEM if it is
    named twice. Refuses INVALID on ``customers`` for more than ``MAX_BULK_IDS``.
    """
    if len(changes) > users.MAX_BULK_IDS:
        values = {"max_customers": users.MAX_BULK_IDS}
        message = "Use at most {max_customers} customers."
        raise Refused(Problem("INVALID", message, "customers", values=values))
    named = [_named(ports, change) for change in changes]
    keys = Counter(each.key for each in named if isinstance(each, _Named))
    everything = policy is ErrorPolicy.REJECT_EVERYTHING
    with ports.database.transaction(*map(account, sorted(keys))) as session:
        point = session.begin_nested()
        done = tuple(
            _change_named(ports, actor, session, each, keys, policy)
            if isinstance(each, _Named)
            else ChangedCustomer(None, each)
            for each in named
        )
        session.flush()
        if everything and any(each.problems for each in done):
            point.rollback()
            return tuple(ChangedCustomer(None, each.problems) for each in done)
        point.commit()
    return done


@dataclass(frozen=True, slots=True)
class _Named:
    """A change of an existing customer's key, who was named by the argument ``field``."""

    key: int
    field: str
    change: CustomerChange


def _named(ports: Ports, change: CustomerChange) -> _Named | tuple[Problem, ...]:
    try:
        key, field = _key(ports, change.customer_id, change.external_reference)
    except Refused as refused:
        return refused.problems
    return _Named(key, field, change)


def _change_named(
    ports: Ports,
    actor: Actor,
    session: Session,
    named: _Named,
    keys: Counter[int],
    policy: ErrorPolicy,
) -> ChangedCustomer:
    """Change one of several; with ``IGNORE_FAILED``, what of it isn't refused."""
    if keys[named.key] > 1:
        message = "This customer is in the list more than once."
        return ChangedCustomer(None, (Problem("DUPLICATED_INPUT_ITEM", message, named.field),))
    change: CustomerChange | None = named.change
    problems: list[Problem] = []
    while change is not None:
        details = change.details
        unique = users.emails_unique(ports, details.wanted_email or "", details.wanted_reference)
        try:
            refuse_any(*users.detail_problems(details), _type_problem(change.customer_type))
            with unique, session.begin_nested():
                user = _change(ports, actor, session, named.key, named.field, change)
            return ChangedCustomer(user, tuple(problems))
        except Refused as refused:
            problems += (_of_input(problem, named.field) for problem in refused.problems)
            partly = policy is ErrorPolicy.IGNORE_FAILED
            change = _without_refused(change, refused.problems) if partly else None
    return ChangedCustomer(None, tuple(problems))


def _of_input(problem: Problem, named_by: str) -> Problem:
    """Return a problem on the path of its input: all but those on what names the customer."""
    if problem.code == "NOT_FOUND" and problem.field == named_by:
        return problem
    return replace(problem, field=f"input.{problem.field}")


def _without_refused(
    change: CustomerChange, problems: Collection[Problem]
) -> CustomerChange | None:
    """Return the change without the refused inputs; ``None`` if there is more to it."""
    for problem in problems:
        name = _DETAILS.get(problem.field or "", "")
        if problem.address_type:
            change = replace(change, addresses=NO_ADDRESSES)
        elif problem.field == "customerType":
            change = replace(change, customer_type=None)
        elif name and not isinstance(getattr(change.details, name), Absent):
            dropped: dict[str, Any] = {name: ABSENT}
            change = replace(change, details=replace(change.details, **dropped))
        else:
            return None
    return change


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


@requires(Permission.MANAGE_USERS)
def delete_customers(
    ports: Ports, actor: Actor, customer_ids: Collection[str]
) -> tuple[int, tuple[Problem, ...]]:
    """Delete several customers (`customerBulkDelete`): all that ``delete_customer`` would.

    Returns how many, and why the others weren't, on ``ids`` with the user. Refuses INVALID on
    ``ids`` for more than ``MAX_IDS``, NOT_FOUND for IDs of other types.
    """
    keys = users.bulk_keys(customer_ids)
    refusals: list[Problem] = []
    with ports.database.transaction(*map(account, keys)) as session:
        for key in keys:
            try:
                remove_customer(ports, actor, session, key, field="ids")
            except Refused as refused:
                refusals += (users.about_user(problem, key) for problem in refused.problems)
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
    record(ports, actor, session, user_change("customer.delete", user))
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
        key = session.scalar(select(models.User.id).where(has_reference(external_reference or "")))
    if key is None:
        raise Refused(replace(_MISSING, field=field))
    return key, field


def _find(session: Session, key: int, field: str) -> models.User:
    user = session.get(models.User, key, with_for_update=True)
    if user is None:
        raise Refused(replace(_MISSING, field=field))
    return user
