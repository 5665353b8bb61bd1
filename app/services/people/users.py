"""Users, as staff manage them: created, invited by email, and their details changed."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.emails import email_problem, email_spellings, normalize_email
from app.domain.accounts.users import User, name_problems, note_problems
from app.domain.authorization.actor import Actor, grant_problem, holds_all_permissions
from app.domain.authorization.permissions import Permission
from app.domain.events import (
    AccountSetPasswordRequested,
    CustomerCreated,
    StaffCreated,
    StaffSetPasswordRequested,
)
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import lifetime_values
from app.domain.passwords.passwords import own_words
from app.domain.urls.redirects import with_query
from app.domain.urls.web_urls import normalize_url
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import key_of, to_global_id
from app.domain.values.inputs import ABSENT, Absent, Seen
from app.ports import Ports
from app.ports.database import account
from app.services.accounts.email_links import drop_links, make_link, require_redirect
from app.services.accounts.password_changes import weaknesses
from app.services.accounts.password_resets import claim_reset, too_early
from app.services.audit.log import record, user_change
from app.services.authorization.register import (
    building_block,
    fresh_proof,
    internal,
    requires,
    requires_person,
)
from app.services.authorization.shop_state import load_shop_state
from app.services.identity import users
from app.services.identity.permission_holders import join, lock_grants
from app.services.identity.stored_metadata import Pairs, save_sent_metadata
from app.services.outbox.publisher import add_event, add_link_mail
from app.services.outbox.security_notices import notify_email_change
from app.services.people.stored_groups import manageable_groups
from app.services.sign_in.password_login import needs_password_login

_ALWAYS = ("PASSWORD_TOO_SHORT", "INVALID")
UNIQUE = Problem("UNIQUE", "This email is already in use.", "email")
_REFERENCE_TAKEN = Problem(
    "UNIQUE", "This external reference is already in use.", "externalReference"
)


@dataclass(frozen=True, slots=True)
class NewUser:
    """A new user; ``groups`` by key, no ``password`` for none.

    Without a ``language_code`` it is the shop's default language.
    """

    email: str
    first_name: str = ""
    last_name: str = ""
    is_staff: bool = False
    is_superuser: bool = False
    permissions: frozenset[Permission] = frozenset()
    groups: frozenset[int] = frozenset()
    password: str | None = field(default=None, repr=False)
    is_active: bool = True
    is_confirmed: bool = True
    language_code: str = ""
    note: str = ""
    external_reference: str = ""
    metadata: Pairs = ()
    private_metadata: Pairs = ()


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def create_user(ports: Ports, actor: Actor, new: NewUser) -> User:
    """Create a user: staff needs MANAGE_STAFF, a customer MANAGE_USERS.

    Refuses INVALID, REQUIRED and UNIQUE on ``email``, a weak ``password`` (from the operator only
    a short one), INVALID on names and for a customer with permissions; OUT_OF_SCOPE_PERMISSION and
    OUT_OF_SCOPE_GROUP for permissions that the caller lacks, OUT_OF_SCOPE_USER for a superuser
    unless the operator creates it.
    """
    users.require_manage_permission(actor, is_staff=_is_staff(new))
    email = normalize_email(new.email)
    refuse_any(*_problems(ports, actor, email, new))
    hashed = None if new.password is None else ports.passwords.hash(new.password)
    groups = [to_global_id("Group", key) for key in new.groups]
    with emails_unique(ports, email), ports.database.transaction() as session:
        lock_grants(session)
        manageable_groups(actor, session, groups, "addGroups")
        stored = store_user(ports, actor, session, replace(new, email=email), hashed)
        user = users.load_user(session, stored.id)
        users.require_reached_channels(actor, user)
        return user


@internal
def weak_password_reasons(ports: Ports, actor: Actor, new: NewUser) -> tuple[Problem, ...]:
    """Return why the password of ``new`` is weak, which only the operator can set anyway."""
    return _password_problems(ports, new)


def _password_problems(ports: Ports, new: NewUser) -> tuple[Problem, ...]:
    if new.password is None:
        return ()
    shop = load_shop_state(ports).shop
    words = own_words(normalize_email(new.email), new.first_name, new.last_name, shop.name)
    return weaknesses(ports, new.password, words)


def _is_staff(new: NewUser) -> bool:
    return new.is_staff or new.is_superuser


def _problems(ports: Ports, actor: Actor, email: str, new: NewUser) -> list[Problem | None]:
    problems: list[Problem | None] = [email_problem(email)]
    # The server administrator can set a password that is easily guessed, but no short one.
    problems += [
        problem
        for problem in _password_problems(ports, new)
        if not actor.is_trusted or problem.code in _ALWAYS
    ]
    problems += name_problems(new.first_name, new.last_name)
    if (new.permissions or new.groups) and not _is_staff(new):
        problems.append(Problem("INVALID", "Only staff can have permissions.", "isStaff"))
    if new.is_superuser and not holds_all_permissions(actor):
        message = "Only an administrator with all permissions can create a superuser."
        problems.append(Problem("OUT_OF_SCOPE_USER", message, "isSuperuser"))
    problems.append(grant_problem(actor, new.permissions, "addPermissions"))
    return problems


@building_block
def store_user(
    ports: Ports, actor: Actor, session: Session, new: NewUser, hashed: str | None = None
) -> models.User:
    """Store the checked user ``new`` in the transaction of ``session``.

    ``hashed`` is the password's hash, ``None`` without a password. The email must be normalized;
    refuses UNIQUE on ``email`` and ``externalReference``, and as ``save_sent_metadata`` does.
    """
    if users.find_owner(session, new.email) is not None:
        raise Refused(UNIQUE)
    if new.external_reference:
        _require_free_reference(session, new.external_reference)
    now = ports.clock.now()
    user = models.User(
        email=new.email,
        password_hash=hashed,
        first_name=new.first_name,
        last_name=new.last_name,
        is_staff=_is_staff(new),
        is_superuser=new.is_superuser,
        is_active=new.is_active,
        is_confirmed=new.is_confirmed,
        language_code=new.language_code
        or session.get_one(models.Shop, models.SHOP_ID).default_language,
        note=new.note,
        external_reference=new.external_reference or None,
        date_joined=now,
        updated_at=now,
    )
    session.add(user)
    session.flush()
    saved = save_sent_metadata(session, models.User, user.id, new.metadata, new.private_metadata)
    session.add_all(
        models.UserPermission(user_id=user.id, permission=permission.value)
        for permission in new.permissions
    )
    join(session, users=[user.id], groups=new.groups)
    created = StaffCreated if user.is_staff else CustomerCreated
    add_event(ports, actor, session, created(user.id))
    after: dict[str, object] = {
        "is_staff": user.is_staff,
        "is_superuser": user.is_superuser,
        "is_active": user.is_active,
        "permissions": sorted(permission.value for permission in new.permissions),
        "groups": sorted(new.groups),
        "has_password": hashed is not None,
        **saved,
    }
    if new.note:
        after["has_note"] = True
    if new.external_reference:
        after["external_reference"] = new.external_reference
    record(ports, actor, session, user_change("user.create", user, after=after))
    return user


def _require_free_reference(session: Session, external_reference: str) -> None:
    taken = select(models.User.id).where(models.User.external_reference == external_reference)
    if session.scalar(taken) is not None:
        raise Refused(_REFERENCE_TAKEN)


@building_block
@contextmanager
def emails_unique(ports: Ports, email: str, external_reference: str = "") -> Iterator[None]:
    """Refuse UNIQUE on ``email`` or ``externalReference`` if another transaction took it first."""
    try:
        yield
    except IntegrityError:
        with ports.database.reading() as session:
            if users.find_owner(session, email) is not None:
                raise Refused(UNIQUE) from None
            if external_reference:
                _require_free_reference(session, external_reference)
        raise


@dataclass(frozen=True, slots=True)
class Details:
    """A change of a user; ``ABSENT`` keeps a field, ``None`` is null.

    A null name or note is empty, an empty external reference is null; email and status can't be
    null. ``metadata`` and ``private_metadata`` are keys to set; other keys stay.
    What isn't as ``seen`` anymore makes ``Stale``, by the names of ``detail_facts``.
    """

    first_name: str | Absent | None = ABSENT
    last_name: str | Absent | None = ABSENT
    email: str | Absent | None = ABSENT
    is_active: bool | Absent | None = ABSENT
    is_confirmed: bool | Absent | None = ABSENT
    language_code: str | Absent = ABSENT
    note: str | Absent | None = ABSENT
    external_reference: str | Absent | None = ABSENT
    metadata: Pairs = ()
    private_metadata: Pairs = ()
    seen: Seen = field(default_factory=dict, compare=False)

    @property
    def wanted_reference(self) -> str:
        """Return the new external reference, empty when it stays or is removed."""
        return _text(self.external_reference)

    @property
    def wanted_email(self) -> str | None:
        """The one spelling of the new address, ``None`` when it stays."""
        if isinstance(self.email, Absent):
            return None
        return normalize_email(self.email or "")


@dataclass(slots=True)
class Changed:
    """The changed fields, for the audit log."""

    before: dict[str, object]
    after: dict[str, object]

    def add(self, name: str, before: object, after: object) -> None:
        self.before[name], self.after[name] = before, after


@building_block
def detail_problems(details: Details) -> list[Problem | None]:
    """Return the problems of the new details: REQUIRED and INVALID on each."""
    problems: list[Problem | None] = [
        *name_problems(_text(details.first_name), _text(details.last_name)),
        *note_problems(_text(details.note), details.wanted_reference),
    ]
    if details.wanted_email is not None:
        problems.append(email_problem(details.wanted_email))
    for value, name in ((details.is_active, "isActive"), (details.is_confirmed, "isConfirmed")):
        if value is None:
            problems.append(Problem("INVALID", "Say true or false.", name))
    return problems


@building_block
def detail_facts(user: models.User) -> dict[str, object]:
    """Return what ``change_details`` changes of a user, for ``require_unchanged``."""
    return {
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "language_code": user.language_code,
        "note": user.note,
        "external_reference": user.external_reference or "",
        "is_active": user.is_active,
    }


@building_block
def change_details(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: models.User,
    details: Details,
    changed: Changed,
) -> None:
    """Write changed fields to ``user``, whose row is locked, and to ``changed``.

    Refuses UNIQUE on ``email`` and ``externalReference``, and as ``save_sent_metadata`` does.
    After a change of email the old one gets a mail, and links mailed there stop working. A
    confirmed account loses its unverified identities (``account_trust``). Doesn't change whether
    the user is active.
    """
    values: dict[str, str | Absent | None] = {
        "first_name": details.first_name,
        "last_name": details.last_name,
        "email": _new_email(user, details),
        "language_code": details.language_code,
    }
    old_email = user.email
    _change_note(session, user, details, changed)
    for name, value in values.items():
        new = "" if value is None else value
        old = getattr(user, name)
        if not isinstance(new, Absent) and new != old:
            if name == "email" and users.find_owner(session, str(new), but=user.id) is not None:
                raise Refused(UNIQUE)
            setattr(user, name, new)
            changed.add(name, old, new)
    if isinstance(details.is_confirmed, bool) and details.is_confirmed is not user.is_confirmed:
        changed.add("is_confirmed", user.is_confirmed, details.is_confirmed)
        if details.is_confirmed:
            users.confirm_email(ports, actor, session, user)
        else:
            user.is_confirmed = False
    sent = details.metadata, details.private_metadata
    changed.after.update(save_sent_metadata(session, models.User, user.id, *sent))
    if user.email != old_email:
        session.flush()
        drop_links(session, user.id)
        notify_email_change(ports, actor, session, user, old_email)


def _change_note(session: Session, user: models.User, details: Details, changed: Changed) -> None:
    """Write a new note, whose text the audit log doesn't get, and a new external reference."""
    if not isinstance(details.note, Absent) and (details.note or "") != user.note:
        changed.add("has_note", bool(user.note), bool(details.note))
        user.note = details.note or ""
    if isinstance(details.external_reference, Absent):
        return
    reference = details.external_reference or None
    if reference != user.external_reference:
        if reference is not None:
            _require_free_reference(session, reference)
        changed.add("external_reference", user.external_reference, reference)
        user.external_reference = reference


def _text(value: str | Absent | None) -> str:
    return "" if isinstance(value, Absent) else value or ""


def _new_email(user: models.User, details: Details) -> str | Absent:
    """Return the email to store; the one that is stored is kept in its own spelling."""
    wanted = details.wanted_email
    is_same = isinstance(details.email, str) and user.email == email_spellings(details.email)[0]
    return ABSENT if wanted is None or is_same else wanted


_NOT_INVITED = Problem(
    "INVALID", "Only people who haven't chosen a password yet can be invited.", "id"
)
_INVITED = {True: "staff.invite", False: "customer.invite"}


@needs_password_login
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def resend_invitation(ports: Ports, actor: Actor, user_id: int, redirect_url: str) -> None:
    """Mail a person without a password a new link; earlier links stop working.

    Refuses DISABLED_AUTHENTICATION_METHOD; INVALID on ``redirectUrl``; on ``id`` NOT_FOUND,
    OUT_OF_SCOPE_USER for a user with permissions that the caller lacks, INACTIVE, INVALID for
    those who aren't invited, and PASSWORD_RESET_ALREADY_REQUESTED within
    ``RESET_PASSWORD_LOCK_TIME`` of the last link.
    """
    require_redirect(ports, redirect_url)
    with ports.database.transaction(account(user_id)) as session:
        _require_invited(actor, session, user_id)
        user = claim_reset(ports, session, models.User.id == user_id)
        if user is None:
            raise Refused(too_early(ports))
        invite(ports, actor, session, user, redirect_url)
        action = _INVITED[user.is_staff]
        record(ports, actor, session, user_change(action, user))


@needs_password_login
@fresh_proof("You're about to copy an invitation link.")
@requires_person(Permission.MANAGE_STAFF)
def create_invitation_link(ports: Ports, actor: Actor, user_id: int, redirect_url: str) -> str:
    """Return a new link for a staff member without a password; earlier links stop working.

    Anyone who opens it can choose the password. Refuses as ``resend_invitation`` does, but can be
    called at any time.
    """
    require_redirect(ports, redirect_url)
    with ports.database.transaction(account(user_id)) as session:
        user = _require_invited(actor, session, user_id)
        if not user.is_staff:
            raise Refused(_NOT_INVITED)
        token = make_link(ports, session, user, LinkPurpose.INVITATION)
        record(ports, actor, session, user_change("staff.invite_link", user))
        return with_query(normalize_url(redirect_url), email=user.email, token=token)


@building_block
def invite(
    ports: Ports, actor: Actor, session: Session, user: models.User, redirect_url: str
) -> None:
    """Mail ``user``, whose row is locked or new, a link to choose a password.

    ``redirect_url`` is one that mails may lead to; the link adds ``email`` and ``token``.
    """
    purpose = LinkPurpose.INVITATION
    token = make_link(ports, session, user, purpose)
    page = normalize_url(redirect_url)
    values = {"link": with_query(page, email=user.email, token=token), **lifetime_values(purpose)}
    if user.is_staff:
        values["inviter"] = "" if actor.is_trusted else actor.name
        mail = Mail(MailKind.STAFF_INVITATION, user.email, values)
    else:
        mail = Mail(MailKind.CUSTOMER_INVITATION, user.email, values)
    requested = StaffSetPasswordRequested if user.is_staff else AccountSetPasswordRequested
    event = requested(user.id, token=token, redirect_url=page)
    add_link_mail(ports, actor, session, mail, event, redirect_url=page)


def _require_invited(actor: Actor, session: Session, user_id: int) -> models.User:
    """Lock and return a person without a password, managed by the caller."""
    users.find_manageable(session, actor, user_id)
    user = session.get_one(models.User, user_id, with_for_update=True)
    if not user.is_active:
        raise Refused(Problem("INACTIVE", "Activate this account first.", "id"))
    if user.password_hash is not None:
        raise Refused(_NOT_INVITED)
    return user


MAX_BULK_IDS = 100
"""How many people a bulk mutation may name: as many as a page has."""


@building_block
def bulk_keys(ids: Collection[str]) -> tuple[int, ...]:
    """Return the keys of the users that a bulk mutation names, each once, in order.

    Refuses on ``ids`` INVALID for too many, NOT_FOUND for IDs of other types.
    """
    if len(ids) > MAX_BULK_IDS:
        values = {"max_ids": MAX_BULK_IDS}
        raise Refused(Problem("INVALID", "Use at most {max_ids} IDs.", "ids", values=values))
    return tuple(sorted({key_of(id_, "User", field="ids") for id_ in ids}))


@building_block
def about_user(problem: Problem, key: int) -> Problem:
    """Return the problem of one of the users that a bulk mutation names."""
    return replace(problem, field="ids", users=(to_global_id("User", key),))
