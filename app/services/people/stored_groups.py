"""Permission groups as they are stored: read, named and written inside a transaction."""

from collections.abc import Iterable

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, manage_problem
from app.domain.authorization.permissions import Permission, PermissionGroup
from app.domain.values.errors import Problem, Refused
from app.domain.values.text_rules import line_problem
from app.models import GroupMemberRecord, GroupPermissionRecord, GroupRecord
from app.ports import NamedRow
from app.services.authorization.register import part
from app.services.authorization.session_rights import GROUP_PERMISSIONS, read_permissions
from app.services.lists.paging import record_from

_MAX_NAME_LENGTH = 150
UNIQUE = Problem("UNIQUE", "Group with this name already exists.", "name")

MEMBERS = (
    select(func.count())
    .select_from(GroupMemberRecord)
    .where(GroupMemberRecord.group_id == GroupRecord.id)
    .scalar_subquery()
)
"""How many are in the group of ``GroupRecord``."""
GROUPS: Select[*tuple[object, ...]] = select(
    GroupRecord.id,
    GroupRecord.name,
    GROUP_PERMISSIONS.label("permissions"),
    MEMBERS.label("members"),
)
"""What ``to_group`` expects."""


@part
def to_group(row: NamedRow) -> PermissionGroup:
    """The group in a row of ``GROUPS``."""
    return record_from(PermissionGroup, row, permissions=read_permissions(row.permissions))


@part
def load_group(session: Session, group_id: int) -> PermissionGroup:
    """The group with that key, as this transaction has left it; refuses NOT_FOUND on ``id``."""
    session.flush()
    row = session.execute(GROUPS.where(GroupRecord.id == group_id)).one_or_none()
    if row is None:
        raise Refused(Problem("NOT_FOUND", "There is no such group.", "id"))
    return to_group(row)


@part
def group_snapshot(group: PermissionGroup, members: Iterable[int]) -> dict[str, object]:
    """Return the snapshot of ``group`` and its members for a deletion's event."""
    names = sorted(permission.value for permission in group.permissions)
    return {
        "id": group.id,
        "name": group.name,
        "permissions": names,
        "users": sorted(members),
    }


@part
def load_manageable_group(actor: Actor, session: Session, group_id: int) -> PermissionGroup:
    """The group with that key; refuses NOT_FOUND, and OUT_OF_SCOPE_PERMISSION, on ``id``."""
    group = load_group(session, group_id)
    problem = manage_problem(actor, group.permissions)
    if problem is not None:
        raise Refused(problem)
    return group


@part
def name_problem(name: str) -> Problem | None:
    """Why a group cannot be called that, or ``None``: REQUIRED or INVALID on ``name``."""
    if not name:
        return Problem("REQUIRED", "Give the group a name.", "name")
    return line_problem(name, "name", max_length=_MAX_NAME_LENGTH)


@part
def is_taken(session: Session, name: str) -> bool:
    """Whether a group is called exactly that."""
    return session.scalar(select(GroupRecord.id).where(GroupRecord.name == name)) is not None


@part
def add_group_permissions(
    session: Session, group_id: int, permissions: Iterable[Permission]
) -> None:
    """Add ``permissions``, which the group does not have yet."""
    session.add_all(
        GroupPermissionRecord(group_id=group_id, permission=permission.value)
        for permission in permissions
    )
    session.flush()
