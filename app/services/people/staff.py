"""Invite, change and delete staff, within the caller's permissions; not for apps."""

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.accounts.staff import deletion_problem, duplicate_problem
from app.domain.accounts.users import User, name_problems, note_problems
from app.domain.authorization.actor import Actor, grant_problem, withdrawal_problem
from app.domain.authorization.permissions import Permission, known_permissions
from app.domain.events import StaffCreated, StaffDeleted, StaffUpdated
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.inputs import require_unchanged
from app.ports import Ports
from app.ports.database import Subject, SubjectKind, account
from app.services.accounts.email_links import drop_links, redirect_refusal
from app.services.audit.log import record, user_change
from app.services.authorization.register import building_block, fresh_proof, requires_person
from app.services.identity.permission_holders import join, leave, lock_grants, prevent_unmanageable
from app.services.identity.stored_metadata import Pairs, save_sent_metadata
from app.services.identity.users import (
    BeforeDeletion,
    ignore_deletion,
    load_user,
    make_staff,
    require_manageable,
    require_reached_channels,
    snapshot_of,
    stored_email,
)
from app.services.outbox.publisher import add_event
from app.services.people import users
from app.services.people.stored_groups import manageable_groups
from app.services.people.user_status import switch_active
from app.services.sign_in.reauthentication import leave_imported_password
from app.services.sign_in.sessions import end_sessions

_MISSING = Problem("NOT_FOUND", "Staff member not found.", "id")


@dataclass(frozen=True, slots=True)
class NewStaff:
    """A new staff member; ``groups`` by global id.

    With a ``redirect_url`` they are invited by mail to choose a password there.
    """

    email: str
    first_name: str = ""
    last_name: str = ""
    is_active: bool | None = None
    groups: tuple[str, ...] = ()
    redirect_url: str = ""
    note: str = ""
    metadata: Pairs = ()
    private_metadata: Pairs = ()


@dataclass(frozen=True, slots=True)
class StaffChanges:
    """A change of a staff member; groups by global id, permissions that are held directly.

    ``details.seen`` can have ``groups`` and ``permissions`` too, as the audit log has them.
    """

    details: users.Details = field(default_factory=users.Details)
    add_groups: tuple[str, ...] = ()
    remove_groups: tuple[str, ...] = ()
    add_permissions: frozenset[Permission] = frozenset()
    remove_permissions: frozenset[Permission] = frozenset()


@fresh_proof("You're about to invite a staff member.")
@requires_person(Permission.MANAGE_STAFF)
def create_staff(ports: Ports, actor: Actor, new: NewStaff) -> User:
    """Create a staff member (`staffCreate`); a customer with that email is promoted.

    Refuses REQUIRED and INVALID on ``email``, UNIQUE for existing staff; INVALID on names,
    ``note`` and ``redirectUrl``; on ``addGroups`` NOT_FOUND and OUT_OF_SCOPE_GROUP; on ``id``
    OUT_OF_SCOPE_USER for a former member who would hold more than the caller; and as
    ``save_sent_metadata`` does.
    """
    email = normalize_email(new.email)
    problems = [
        email_problem(email),
        *name_problems(new.first_name, new.last_name),
        *note_problems(new.note, ""),
    ]
    if new.redirect_url:
        problems.append(redirect_refusal(ports, new.redirect_url))
    refuse_any(*problems)
    with (
        users.emails_unique(ports, email),
        ports.database.transaction(Subject(SubjectKind.EMAIL, email)) as session,
    ):
        lock_grants(session)
        groups = manageable_groups(actor, session, new.groups, "addGroups")
        existing = session.scalar(
            select(models.User)
            .where(models.User.email == stored_email(session, new.email))
            .with_for_update()
        )
        if existing is not None:
            _promote(ports, actor, session, existing, new, groups)
            # Rows that are left of a former member count again.
            require_manageable(actor, load_user(session, existing.id))
            user = existing
        else:
            new_user = users.NewUser(
                email,
                new.first_name,
                new.last_name,
                is_staff=True,
                is_active=new.is_active is not False,
                groups=groups,
                note=new.note,
                metadata=new.metadata,
                private_metadata=new.private_metadata,
            )
            user = users.store_user(ports, actor, session, new_user)
        if new.redirect_url and user.password_hash is None and user.is_active:
            users.invite(ports, actor, session, user, new.redirect_url)
        return load_user(session, user.id)


def _grants_rights(_ports: Ports, _actor: Actor, staff_id: str, changes: StaffChanges) -> bool:
    return bool(changes.add_groups or changes.add_permissions)


@fresh_proof(
    "You're about to change a staff member's groups.",
    "when it adds groups or permissions",
    _grants_rights,
)
@requires_person(Permission.MANAGE_STAFF)
def update_staff(ports: Ports, actor: Actor, staff_id: str, changes: StaffChanges) -> User:
    """Change one of the staff (`staffUpdate`); all of ``changes`` or, when refused, nothing.

    Refuses NOT_FOUND and OUT_OF_SCOPE_USER on ``id``; REQUIRED, INVALID and UNIQUE on details;
    DUPLICATED_INPUT_ITEM for groups, and on ``permissions``, that are both added and removed;
    NOT_FOUND and OUT_OF_SCOPE_GROUP on ``addGroups`` and ``removeGroups``; on ``addPermissions``
    and ``removePermissions`` OUT_OF_SCOPE_PERMISSION; on ``isActive`` what ``switch_active``
    refuses; LEFT_NOT_MANAGEABLE_PERMISSION on ``removeGroups`` and ``removePermissions``;
    OUT_OF_SCOPE_USER on ``id``, too, if they would have access to more channels than the caller.
    """
    key = key_of(staff_id, "User")
    added, removed = changes.add_permissions, changes.remove_permissions
    refuse_any(
        *users.detail_problems(changes.details),
        duplicate_problem(changes.add_groups, changes.remove_groups, None, "groups"),
        duplicate_problem(added, removed, "permissions", "permissions"),
        grant_problem(actor, added, "addPermissions"),
        withdrawal_problem(actor, removed, "removePermissions"),
    )
    details = changes.details
    unique = users.emails_unique(ports, details.wanted_email or "", details.wanted_reference)
    with unique, ports.database.transaction(account(key)) as session:
        lock_grants(session)
        stored = _find(session, key)
        user = load_user(session, key)
        if not user.is_staff:
            raise Refused(_MISSING)
        require_manageable(actor, user)
        require_unchanged(changes.details.seen, _facts(session, stored, user))
        changed = users.Changed({}, {})
        _change_groups(actor, session, user, changes, changed)
        _change_permissions(actor, session, user, changes, changed)
        active = details.is_active
        if isinstance(active, bool) and active is not user.is_active:
            switch_active(ports, actor, session, user, active=active)
            changed.add("is_active", user.is_active, active)
        users.change_details(ports, actor, session, stored, details, changed)
        if changed.after:
            stored.updated_at = ports.clock.now()
            add_event(ports, actor, session, StaffUpdated(key))
            change = user_change("staff.update", stored, changed.before, changed.after)
            record(ports, actor, session, change)
        updated = load_user(session, key)
        require_reached_channels(actor, updated)
        return updated


@requires_person(Permission.MANAGE_STAFF)
def delete_staff(
    ports: Ports, actor: Actor, staff_id: str, *, before: BeforeDeletion = ignore_deletion
) -> User:
    """Delete a staff member with all their data (`staffDelete`); return the deleted user.

    Refuses on ``id``: NOT_FOUND, DELETE_NON_STAFF_USER for a customer, DELETE_OWN_ACCOUNT,
    DELETE_SUPERUSER_ACCOUNT, OUT_OF_SCOPE_USER, LEFT_NOT_MANAGEABLE_PERMISSION.
    """
    key = key_of(staff_id, "User")
    with ports.database.transaction(account(key)) as session:
        lock_grants(session)
        return remove_staff(ports, actor, session, key, before)


@requires_person(Permission.MANAGE_STAFF)
def delete_several_staff(ports: Ports, actor: Actor, staff_ids: Collection[str]) -> int:
    """Delete several staff members (`staffBulkDelete`), all or none; return how many.

    Refuses on ``ids`` what ``delete_staff`` does, INVALID for more than ``MAX_IDS``.
    """
    keys = users.bulk_keys(staff_ids)
    with ports.database.transaction(*map(account, keys)) as session:
        lock_grants(session)
        for key in keys:
            try:
                remove_staff(ports, actor, session, key)
            except Refused as refused:
                raise Refused(*(users.about_user(one, key) for one in refused.problems)) from None
    return len(keys)


@building_block
def remove_staff(
    ports: Ports,
    actor: Actor,
    session: Session,
    key: int,
    before: BeforeDeletion = ignore_deletion,
) -> User:
    """Delete one of the staff in the transaction of ``session``; refuses as ``delete_staff``.

    Call ``lock_grants`` first.
    """
    stored = _find(session, key)
    user = load_user(session, key)
    refuse_any(deletion_problem(actor, user, is_staff=True))
    require_manageable(actor, user)
    before(user)
    snapshot = snapshot_of(user, stored.external_reference)
    with prevent_unmanageable(actor, session, "id"):
        session.delete(stored)
    add_event(ports, actor, session, StaffDeleted(key, snapshot=snapshot))
    held = {
        "permissions": sorted(permission.value for permission in user.permissions),
        "groups": sorted(group.id for group in user.groups),
    }
    record(ports, actor, session, user_change("staff.delete", user, held))
    return user


def _promote(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: models.User,
    new: NewStaff,
    groups: frozenset[int],
) -> None:
    """Make a customer one of the staff; they sign in again before any of it counts.

    Anyone can register any address. Unless its owner has confirmed the account, its password may
    be someone else's, so it is cleared; so is every identity with an unverified email.
    """
    if user.is_staff:
        raise Refused(users.UNIQUE)
    make_staff(ports, actor, session, user)
    user.first_name = new.first_name or user.first_name
    user.last_name = new.last_name or user.last_name
    user.note = new.note or user.note
    if new.is_active is not None:
        user.is_active = new.is_active
    had_password = user.password_hash is not None
    if not user.is_confirmed:
        user.password_hash = None
        leave_imported_password(session, user.id)
    user.updated_at = ports.clock.now()
    drop_links(session, user.id)
    end_sessions(ports, session, user.id)
    join(session, users=[user.id], groups=groups)
    saved = save_sent_metadata(session, models.User, user.id, new.metadata, new.private_metadata)
    add_event(ports, actor, session, StaffCreated(user.id))
    before = {"is_staff": False, "has_password": had_password}
    after = {
        "is_staff": True,
        "has_password": user.password_hash is not None,
        "is_active": user.is_active,
        "groups": sorted(groups),
        **saved,
    }
    record(ports, actor, session, user_change("staff.promote", user, before, after))


def _change_groups(
    actor: Actor, session: Session, user: User, changes: StaffChanges, changed: users.Changed
) -> None:
    added = manageable_groups(actor, session, changes.add_groups, "addGroups")
    removed = manageable_groups(actor, session, changes.remove_groups, "removeGroups")
    before = {group.id for group in user.groups}
    join(session, users=[user.id], groups=added)
    if removed:
        with prevent_unmanageable(actor, session, "removeGroups"):
            leave(session, users=[user.id], groups=removed)
    after = (before | added) - removed
    if after != before:
        changed.add("groups", sorted(before), sorted(after))


def _change_permissions(
    actor: Actor, session: Session, user: User, changes: StaffChanges, changed: users.Changed
) -> None:
    """Grant and withdraw permissions that ``user`` holds directly; their groups stay."""
    before = _direct_permissions(session, user.id)
    session.add_all(
        models.UserPermission(user_id=user.id, permission=permission.value)
        for permission in changes.add_permissions - before
    )
    going = changes.remove_permissions & before
    if going:
        with prevent_unmanageable(actor, session, "removePermissions"):
            session.execute(
                delete(models.UserPermission).where(
                    models.UserPermission.user_id == user.id,
                    models.UserPermission.permission.in_([one.value for one in going]),
                )
            )
    after = (before | changes.add_permissions) - going
    if after != before:
        changed.add("permissions", sorted(before), sorted(after))


def _direct_permissions(session: Session, user_id: int) -> frozenset[Permission]:
    held = select(models.UserPermission.permission).where(models.UserPermission.user_id == user_id)
    return known_permissions(session.scalars(held).all())


def _facts(session: Session, stored: models.User, user: User) -> dict[str, object]:
    """Return what ``update_staff`` changes, as the audit log has it."""
    return {
        **users.detail_facts(stored),
        "groups": sorted(group.id for group in user.groups),
        "permissions": sorted(_direct_permissions(session, user.id)),
    }


def _find(session: Session, key: int) -> models.User:
    user = session.get(models.User, key, with_for_update=True)
    if user is None:
        raise Refused(_MISSING)
    return user
