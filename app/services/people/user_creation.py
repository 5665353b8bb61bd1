"""People, as the staff manages them: how they are made."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.accounts.users import User, name_problems
from app.domain.authorization.actor import Actor, grant_problem, holds_all_permissions
from app.domain.authorization.permissions import Permission
from app.domain.events import CustomerCreated, StaffCreated
from app.domain.passwords.passwords import own_words
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import to_global_id
from app.models import ShopRecord, UserPermissionRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.accounts.password_changes import weaknesses
from app.services.audit.log import Change, record
from app.services.authorization.register import internal, part, requires
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.stored_metadata import Pairs, save_sent_metadata
from app.services.identity.users import has_email, load_user, require_manage_permission
from app.services.outbox.publisher import add_event
from app.services.people.memberships import join, manageable_groups
from app.services.people.permission_holders import lock_grants

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
    require_manage_permission(actor, is_staff=_is_staff(new))
    email = normalize_email(new.email)
    problems = _problems(ports, actor, email, new)
    refuse_any(*problems)
    hashed = None if new.password is None else ports.passwords.hash(new.password)
    groups = [to_global_id("Group", key) for key in new.groups]
    with emails_unique(ports, email), ports.database.transaction() as session:
        lock_grants(session)
        manageable_groups(actor, session, groups, "addGroups")
        user = store_user(ports, actor, session, replace(new, email=email), hashed)
        return load_user(session, user.id)


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


def _problems(ports: Ports, actor: Actor, email: str, new: NewUser) -> list[Problem]:
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
    return [problem for problem in problems if problem is not None]


@part
def store_user(
    ports: Ports, actor: Actor, session: Session, new: NewUser, hashed: str | None = None
) -> UserRecord:
    """Store the checked user ``new`` in the transaction of ``session``.

    ``hashed`` is the password's hash, ``None`` without a password. The email must be normalized;
    refuses UNIQUE on ``email`` and ``externalReference``, and as ``save_sent_metadata`` does.
    """
    if is_taken(session, new.email):
        raise Refused(UNIQUE)
    if new.external_reference:
        require_free_reference(session, new.external_reference)
    now = ports.clock.now()
    user = UserRecord(
        email=new.email,
        password_hash=hashed,
        first_name=new.first_name,
        last_name=new.last_name,
        is_staff=_is_staff(new),
        is_superuser=new.is_superuser,
        is_active=new.is_active,
        is_confirmed=new.is_confirmed,
        language_code=new.language_code or session.get_one(ShopRecord, SHOP_ID).default_language,
        note=new.note,
        external_reference=new.external_reference or None,
        date_joined=now,
        updated_at=now,
    )
    session.add(user)
    session.flush()
    saved = save_sent_metadata(session, UserRecord, user.id, new.metadata, new.private_metadata)
    session.add_all(
        UserPermissionRecord(user_id=user.id, permission=permission.value)
        for permission in new.permissions
    )
    join(session, users=[user.id], groups=new.groups)
    add_event(
        ports, actor, session, StaffCreated(user.id) if user.is_staff else CustomerCreated(user.id)
    )
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
    record(ports, actor, session, Change("user.create", "User", user.id, user.email, after=after))
    return user


@part
def is_taken(session: Session, email: str) -> bool:
    """Whether a user has that email, in any spelling."""
    return session.scalar(select(UserRecord.id).where(has_email(email)).limit(1)) is not None


@part
def require_free_reference(session: Session, external_reference: str) -> None:
    """Refuse UNIQUE on ``externalReference`` if a user has it."""
    taken = select(UserRecord.id).where(UserRecord.external_reference == external_reference)
    if session.scalar(taken) is not None:
        raise Refused(_REFERENCE_TAKEN)


@part
@contextmanager
def emails_unique(ports: Ports, email: str, external_reference: str = "") -> Iterator[None]:
    """Refuse UNIQUE on ``email`` or ``externalReference`` if another transaction took it first."""
    try:
        yield
    except IntegrityError:
        with ports.database.reading() as session:
            if is_taken(session, email):
                raise Refused(UNIQUE) from None
            if external_reference:
                require_free_reference(session, external_reference)
        raise
