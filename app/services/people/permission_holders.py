"""Keep every permission manageable: find who holds what."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Select, or_, select, union
from sqlalchemy.orm import Session

from app.domain.accounts.staff import unmanageable_problem
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, known
from app.domain.values.errors import Refused
from app.models import (
    GroupMemberRecord,
    GroupPermissionRecord,
    ShopRecord,
    UserPermissionRecord,
    UserRecord,
)
from app.models.shop import SHOP_ID
from app.services.authorization.register import part


@part
def lock_grants(session: Session) -> None:
    """Lock permission changes until the transaction of ``session`` ends.

    To be called before anything is read: of two concurrent removals the second must see the first.
    The shop's row is locked before any person's.
    """
    session.get_one(ShopRecord, SHOP_ID, with_for_update=True)


@part
@contextmanager
def prevent_unmanageable(actor: Actor, session: Session, field: str) -> Iterator[None]:
    """Refuse LEFT_NOT_MANAGEABLE_PERMISSION on ``field`` if the block causes it.

    Not for the operator, who can grant anything. Call ``lock_grants`` first.
    """
    before = _manageable(session)
    yield
    problem = unmanageable_problem(before, _manageable(session), field)
    if problem is not None and not actor.is_trusted:
        raise Refused(problem)


@part
def is_last_manager(session: Session, user: User) -> bool:
    """Whether ``user`` can manage staff and no other active person can."""
    if not (user.is_staff and user.is_active and Permission.MANAGE_STAFF in user.permissions):
        return False
    return session.scalar(_managers().where(UserRecord.id != user.id).limit(1)) is None


def _managers() -> Select[int]:
    return (
        select(UserRecord.id)
        .where(UserRecord.is_staff, UserRecord.is_active)
        .where(
            or_(
                UserRecord.is_superuser,
                UserRecord.id.in_(holder_ids(Permission.MANAGE_STAFF)),
            )
        )
    )


def _manageable(session: Session) -> frozenset[Permission]:
    """Return the permissions that active staff with MANAGE_STAFF hold together."""
    session.flush()
    managers = _managers()
    superuser = managers.where(UserRecord.is_superuser).limit(1)
    if session.scalar(superuser) is not None:
        return ALL_PERMISSIONS
    direct = select(UserPermissionRecord.permission).where(
        UserPermissionRecord.user_id.in_(managers)
    )
    by_group = (
        select(GroupPermissionRecord.permission)
        .join(GroupMemberRecord, GroupMemberRecord.group_id == GroupPermissionRecord.group_id)
        .where(GroupMemberRecord.user_id.in_(managers))
    )
    return known(list(session.scalars(union(direct, by_group))))


@part
def holder_ids(permission: Permission) -> Select[int]:
    """The keys of people who hold ``permission`` directly or by a group; superusers aside."""
    direct = select(UserPermissionRecord.user_id).where(
        UserPermissionRecord.permission == permission.value
    )
    by_group = (
        select(GroupMemberRecord.user_id)
        .join(GroupPermissionRecord, GroupPermissionRecord.group_id == GroupMemberRecord.group_id)
        .where(GroupPermissionRecord.permission == permission.value)
    )
    return select(union(direct, by_group).subquery().c.user_id)
