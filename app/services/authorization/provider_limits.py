"""What a provider whose settings wait for confirmation can grant: what those who set it hold."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, ScopeGrant, known
from app.domain.single_sign_on.waiting_changes import Changer, read_waiting
from app.models import (
    AppPermissionRecord,
    AppRecord,
    GroupMemberRecord,
    GroupPermissionRecord,
    UserPermissionRecord,
    UserRecord,
)
from app.ports import Ports, ReadSession
from app.services.authorization.declarations import part


@part
def permissions_while_waiting(ports: Ports, waiting_changes: str) -> frozenset[Permission]:
    """Return what everyone whose changes wait holds now, of what they held when they made them."""
    changers = {change.changer for change in read_waiting(waiting_changes)}
    if any(changer.user_id is None and changer.app_id is None for changer in changers):
        return frozenset()
    with ports.database.reading() as session:
        held = [_held(session, changer) for changer in changers]
    return frozenset.intersection(*held) if held else frozenset()


@part
def grant_while_waiting(ports: Ports, waiting_changes: str, grant: ScopeGrant) -> ScopeGrant:
    """Return as much of ``grant`` as counts: a provider that waits makes no one staff."""
    held = permissions_while_waiting(ports, waiting_changes)
    return ScopeGrant(grant.permissions & held)


def _held(session: ReadSession | Session, changer: Changer) -> frozenset[Permission]:
    """Return what ``changer`` still holds; nothing for one who is gone or deactivated."""
    held = changer.held
    if changer.user_id is not None:
        held &= _held_by_person(session, changer.user_id)
    if changer.app_id is not None:
        held &= _held_by_app(session, changer.app_id)
    return held


def _held_by_person(session: ReadSession | Session, user_id: int) -> frozenset[Permission]:
    person = select(UserRecord.is_superuser).where(
        UserRecord.id == user_id, UserRecord.is_active, UserRecord.is_staff
    )
    is_superuser = session.scalar(person)
    if is_superuser is None:
        return frozenset()
    if is_superuser:
        return ALL_PERMISSIONS
    direct = select(UserPermissionRecord.permission).where(UserPermissionRecord.user_id == user_id)
    by_group = (
        select(GroupPermissionRecord.permission)
        .join(GroupMemberRecord, GroupMemberRecord.group_id == GroupPermissionRecord.group_id)
        .where(GroupMemberRecord.user_id == user_id)
    )
    return known([*session.scalars(direct), *session.scalars(by_group)])


def _held_by_app(session: ReadSession | Session, app_id: int) -> frozenset[Permission]:
    granted = (
        select(AppPermissionRecord.permission)
        .join(AppRecord, AppRecord.id == AppPermissionRecord.app_id)
        .where(AppRecord.id == app_id, AppRecord.is_active, AppRecord.is_installed)
    )
    return known([*session.scalars(granted)])
