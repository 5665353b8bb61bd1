"""Accounts that a provider's word makes or changes."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.events import (
    CustomerCreated,
    CustomerUpdated,
    PermissionGroupCreated,
    StaffCreated,
    StaffUpdated,
)
from app.domain.single_sign_on.provider_users import ExternalPerson
from app.models import ExternalIdentityRecord, GroupMemberRecord, GroupRecord, UserRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part
from app.services.identity.account_trust import confirm_email, make_staff
from app.services.identity.users import has_email
from app.services.outbox.publisher import add_event
from app.services.outbox.security_notices import notify_email_change


@part
def make_user(
    ports: Ports, actor: Actor, session: Session, person: ExternalPerson, *, is_staff: bool
) -> UserRecord:
    """Create an account without a password, confirmed if the provider has verified the email."""
    now = ports.clock.now()
    user = UserRecord(
        email=person.email,
        first_name=person.first_name,
        last_name=person.last_name,
        is_staff=is_staff,
        is_active=True,
        is_confirmed=person.is_verified,
        date_joined=now,
        updated_at=now,
    )
    session.add(user)
    session.flush()
    add_event(ports, actor, session, (StaffCreated if is_staff else CustomerCreated)(user.id))
    after = {"is_staff": is_staff, "is_confirmed": user.is_confirmed, "has_password": False}
    record(ports, actor, session, Change("user.create", "User", user.id, user.email, after=after))
    return user


@part
def update_from_provider(
    ports: Ports,
    actor: Actor,
    session: Session,
    identity: ExternalIdentityRecord,
    user: UserRecord,
    person: ExternalPerson,
) -> None:
    """Update an account from its provider; the email only if verified and free.

    The old email gets a notice, without a link: the provider would change it again.
    A verified email equal to the account's verifies the ``identity`` and confirms the account.
    """
    details: dict[str, object] = {
        "first_name": person.first_name or user.first_name,
        "last_name": person.last_name or user.last_name,
    }
    if person.is_verified:
        if person.email != user.email and not _is_taken(session, person.email, user.id):
            details["email"] = person.email
        if details.get("email", user.email) == person.email:
            identity.is_verified = True
            details["is_confirmed"] = True
    after = {name: value for name, value in details.items() if getattr(user, name) != value}
    if not after:
        return
    before = {name: getattr(user, name) for name in after}
    for name in after.keys() - {"is_confirmed"}:
        setattr(user, name, after[name])
    if "is_confirmed" in after:
        confirm_email(ports, actor, session, user)
    user.updated_at = ports.clock.now()
    if "email" in after:
        session.flush()
        old_email = str(before["email"])
        notify_email_change(ports, actor, session, user, old_email, can_restore=False)
    kind = StaffUpdated if user.is_staff else CustomerUpdated
    add_event(ports, actor, session, kind(user.id))
    change = Change("user.sync", "User", user.id, user.email, before, after)
    record(ports, actor, session, change)


@part
def promote(
    ports: Ports,
    actor: Actor,
    session: Session,
    identity: ExternalIdentityRecord,
    user: UserRecord,
) -> None:
    """Make a customer staff because the provider of ``identity`` says so.

    Signing in never makes staff a customer again: staff managers do that.
    """
    make_staff(ports, actor, session, user, identity.id)
    user.updated_at = ports.clock.now()
    add_event(ports, actor, session, StaffUpdated(user.id))
    before, after = {"is_staff": False}, {"is_staff": True}
    change = Change("user.promote", "User", user.id, user.email, before, after)
    record(ports, actor, session, change)


@part
def join_group(ports: Ports, actor: Actor, session: Session, user: UserRecord, name: str) -> None:
    """Add a user to the group of that name, creating it without permissions if necessary."""
    group = session.scalar(select(GroupRecord).where(GroupRecord.name == name))
    if group is None:
        group = GroupRecord(name=name)
        session.add(group)
        session.flush()
        add_event(ports, actor, session, PermissionGroupCreated(group.id))
        record(ports, actor, session, Change("group.create", "Group", group.id, name))
    session.merge(GroupMemberRecord(user_id=user.id, group_id=group.id))
    after = {"group": name}
    record(ports, actor, session, Change("user.join", "User", user.id, user.email, after=after))


def _is_taken(session: Session, email: str, user_id: int) -> bool:
    others = select(UserRecord.id).where(has_email(email), UserRecord.id != user_id)
    return session.scalar(others.limit(1)) is not None
