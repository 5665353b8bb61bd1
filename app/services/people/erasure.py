"""Erase a person: the account with all that belongs to it, and what logs say of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, false, or_, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import ERASED, User, pseudonym_of, pseudonymous_email, without_texts
from app.domain.authorization.actor import Actor, ActorKind, holds_all_permissions
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, in_order
from app.domain.events import EVENTS
from app.domain.sign_in.sign_in_log import EMAIL_PURPOSE
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, fresh_proof, requires_person
from app.services.identity.permission_holders import is_last_manager, lock_grants
from app.services.identity.users import load_user, stored_email
from app.services.people.customers import remove_customer
from app.services.people.staff import remove_staff

_KEYED_BY_USER = ("user", "avatar", "external_identity")
"""Kinds of imported rows that have the ID of their user."""


@dataclass(frozen=True, slots=True)
class Traces:
    """A person, and the keys of their objects, by the names of subjects of events.

    ``former_emails`` are those that no account has now.
    """

    user_id: int
    email: str
    former_emails: Sequence[str]
    keys: Mapping[str, Sequence[int]]
    addresses: Sequence[int]
    identities: Sequence[int]


def _traces_of(session: Session, user: User) -> Traces:
    """Return what to look for, while the account exists."""

    def keys_of(of: Any, *other: ColumnElement[bool]) -> list[int]:
        return list(session.scalars(select(of.id).where(or_(of.user_id == user.id, *other))))

    keys = {
        "User": [user.id],
        "Order": keys_of(models.Order, models.Order.user_email == user.email),
        "Checkout": keys_of(models.Checkout, models.Checkout.email == user.email),
    }
    noted = [*audit_values_of(session, user.id)]
    addresses = keys_of(models.Address)
    keys["Address"] = addresses_of_person(addresses, noted)
    former = _former_emails(session, user, noted)
    identities = keys_of(models.ExternalIdentity)
    return Traces(user.id, user.email, former, keys, addresses, identities)


@building_block
def addresses_of_person(
    stored: Collection[int], noted: Iterable[Mapping[str, object]]
) -> list[int]:
    """Return the keys of ``stored`` addresses, and of those that audit entries ``noted``."""
    former = {key for side in noted if isinstance(key := side.get("address"), int)}
    return sorted({*stored, *former})


@building_block
def audit_values_of(session: Session, user_id: int) -> Iterator[Mapping[str, object]]:
    """Return what audit entries about the person hold, before and after each change."""
    sides = select(models.AuditEntry.before, models.AuditEntry.after).where(_is_subject(user_id))
    return (side for row in session.execute(sides) for side in row)


def _former_emails(
    session: Session, user: User, noted: Iterable[Mapping[str, object]]
) -> list[str]:
    emails = {
        email
        for side in noted
        if isinstance(email := side.get("email"), str) and email != user.email
    }
    taken = session.scalars(select(models.User.email).where(models.User.email.in_(emails)))
    return sorted(emails - set(taken))


def _delete_deliveries(session: Session, traces: Traces) -> int:
    """Delete deliveries about the person, their addresses, orders and carts; return how many."""
    condition = _is_about(models.Delivery.event, models.Delivery.subject_id, traces)
    return _count(session, delete(models.Delivery).where(condition).returning(models.Delivery.id))


def _delete_events(session: Session, traces: Traces) -> int:
    """Delete events about the person, their addresses, orders and carts; return how many.

    To be called before the account is deleted: the event of that is for the apps.
    """
    event = models.OutboxEvent
    condition = _is_about(event.type, event.subject_id, traces)
    return _count(session, delete(event).where(condition).returning(event.id))


def _delete_emails(session: Session, traces: Traces) -> int:
    """Delete requests for password links, and emails of the log or waiting; return how many."""
    emails = [traces.email, *traces.former_emails]
    session.execute(delete(models.ResetRequest).where(models.ResetRequest.email.in_(emails)))
    session.execute(delete(models.EmailCode).where(models.EmailCode.email.in_(emails)))
    mail = models.OutboxMail
    is_theirs = or_(mail.user_id == traces.user_id, mail.recipient.in_(emails))
    return _count(session, delete(mail).where(is_theirs).returning(mail.id))


def _erase_sign_ins(ports: Ports, session: Session, traces: Traces) -> int:
    """Remove email, IP address and device from the sign-in log; return from how many entries."""
    digests = ports.encryption.known_fingerprints(EMAIL_PURPOSE, traces.email)
    log = models.SignInEvent
    is_theirs = or_(log.user_id == traces.user_id, log.email_digest.in_(digests))
    nothing = {"name": "", "email_digest": "", "address": "", "device": "", "detail": ""}
    return _count(session, update(log).where(is_theirs).values(nothing).returning(log.id))


def _erase_orders(session: Session, traces: Traces) -> int:
    """Replace the email of the person's orders; return of how many. Remove it from carts."""
    cart, order = models.Checkout, models.Order
    session.execute(update(cart).where(cart.email == traces.email).values(email=""))
    statement = update(order).where(order.id.in_(traces.keys["Order"]))
    replaced = statement.values(user_email=pseudonymous_email(traces.user_id))
    return _count(session, replaced.returning(order.id))


def _erase_savers(session: Session, traces: Traces) -> None:
    """Replace the person's email where they saved a webhook last."""
    saved = models.Webhook
    is_theirs = saved.saved_by_kind == ActorKind.USER.value, saved.saved_by == traces.email
    name = pseudonym_of(traces.user_id)
    session.execute(update(saved).where(*is_theirs).values(saved_by=name))


def _erase_dismissals(session: Session, traces: Traces) -> None:
    """Replace the person's email where they dismissed a problem of an app."""
    problem = models.AppProblem
    is_theirs = or_(
        problem.dismissed_by_id == traces.user_id,
        problem.dismissed_by.in_([traces.email, *traces.former_emails]),
    )
    name = pseudonym_of(traces.user_id)
    session.execute(update(problem).where(is_theirs).values(dismissed_by=name))


def _erase_contacts(session: Session, traces: Traces) -> None:
    """Remove the person's email where it was the contact of an app, also from the audit log.

    Alerts about the app's webhooks are sent to staff who manage apps from then on.
    """
    emails = {email.casefold() for email in (traces.email, *traces.former_emails)}
    for app in session.scalars(select(models.App).where(models.App.contact_email != "")).all():
        if app.contact_email.casefold() in emails:
            app.contact_email = ""
    entry = models.AuditEntry
    for found in session.scalars(select(entry).where(entry.action == "app.update")).all():
        if str(found.before.get("contact_email")).casefold() in emails:
            found.before = {**found.before, "contact_email": ERASED}
        if str(found.after.get("contact_email")).casefold() in emails:
            found.after = {**found.after, "contact_email": ERASED}
    session.flush()


def _erase_requesters(session: Session, traces: Traces) -> None:
    """Replace name and IP address where the person asked for the installation of an app."""
    for installation in session.scalars(select(models.AppInstallation)).all():
        if installation.caller.get("user_id") == traces.user_id:
            unnamed = {"name": pseudonym_of(traces.user_id), "address": None}
            installation.caller = {**installation.caller, **unnamed}
    session.flush()


def _erase_import_digests(session: Session, traces: Traces) -> None:
    """Remove the digests of an imported account, its addresses, avatar and linked accounts.

    The rows stay, so that a later import of the same source doesn't bring the person back.
    """
    row = models.ImportedRow
    is_theirs = or_(
        row.kind.in_(_KEYED_BY_USER) & (row.row_id == traces.user_id),
        (row.kind == "address") & row.row_id.in_(traces.addresses),
        (row.kind == "identity") & row.row_id.in_(traces.identities),
    )
    nothing = {"source_digest": ERASED, "written_digest": ERASED}
    session.execute(update(row).where(is_theirs).values(nothing))


def _erase_audit_entries(session: Session, traces: Traces) -> int:
    """Remove names, emails, IP addresses and changed texts from the audit log.

    Returns from how many entries. What was done, when, and with which permissions stays.
    """
    about = _is_subject(traces.user_id)
    name = pseudonym_of(traces.user_id)
    found = set()
    for entry in session.scalars(select(models.AuditEntry).where(about)).all():
        entry.subject_name = name
        entry.before = without_texts(entry.before)
        entry.after = without_texts(entry.after)
        found.add(entry.id)
    session.flush()
    by_them = models.AuditEntry.actor_user_id == traces.user_id
    statement = update(models.AuditEntry).where(by_them).values(actor_name=name, address="")
    found.update(session.scalars(statement.returning(models.AuditEntry.id)))
    return len(found)


def _is_subject(user_id: int) -> ColumnElement[bool]:
    return (models.AuditEntry.subject_type == "User") & (
        models.AuditEntry.subject_id == str(user_id)
    )


def _is_about(event: Any, key: Any, traces: Traces) -> ColumnElement[bool]:
    about = (event.in_(_types_of(of)) & key.in_(keys) for of, keys in traces.keys.items())
    return or_(false(), *about)


def _types_of(subject: str) -> list[str]:
    return [type_.value for type_, event in EVENTS.items() if event.subject.type == subject]


def _count(session: Session, statement: Any) -> int:
    return len(session.scalars(statement.execution_options(synchronize_session=False)).all())


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


@building_block
def require_all_permissions(actor: Actor) -> None:
    """Raise ``PermissionDenied`` unless ``actor`` holds every permission, in every channel.

    What is stored about a person includes orders, audit entries, and payloads for apps.
    """
    if not holds_all_permissions(actor):
        missing = in_order(ALL_PERMISSIONS - actor.held_everywhere)
        raise PermissionDenied(*missing, needs_all=True)


@fresh_proof("You're about to erase a person from the shop.")
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def erase_person(ports: Ports, actor: Actor, email: str) -> Erasure:
    """Delete a person's account and remove them from logs, orders, events and deliveries.

    For holders of all permissions. Apps get the event of the deletion, as for every deleted
    account. Refuses on ``email`` NOT_FOUND, LEFT_NOT_MANAGEABLE_PERMISSION for the last person who
    can manage staff, and what deletions of customers and staff are refused for.
    """
    require_all_permissions(actor)
    with ports.database.transaction() as session:
        lock_grants(session)
        user = _find(session, stored_email(session, email))
        traces = _traces_of(session, user)
        _erase_dismissals(session, traces)
        deliveries = _delete_deliveries(session, traces)
        events = _delete_events(session, traces)
        remove = remove_staff if user.is_staff else remove_customer
        remove(ports, actor, session, user.id)
        record(ports, actor, session, Change("user.erase", "User", user.id))
        session.flush()
        _erase_savers(session, traces)
        _erase_contacts(session, traces)
        _erase_requesters(session, traces)
        _erase_import_digests(session, traces)
        return Erasure(
            user.id,
            sign_ins=_erase_sign_ins(ports, session, traces),
            audit_entries=_erase_audit_entries(session, traces),
            orders=_erase_orders(session, traces),
            emails=_delete_emails(session, traces),
            events=events,
            deliveries=deliveries,
        )


def _find(session: Session, email: str) -> User:
    key = session.scalar(select(models.User.id).where(models.User.email == email))
    if key is None:
        raise Refused(_MISSING)
    user = load_user(session, key)
    if is_last_manager(session, user):
        code = "LEFT_NOT_MANAGEABLE_PERMISSION"
        raise Refused(Problem(code, _LAST_MANAGER, "email", values={"email": user.email}))
    return user
