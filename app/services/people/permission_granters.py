"""Find staff who can grant missing permissions, for pages that refuse access."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, in_order
from app.models import GroupMemberRecord, GroupRecord, SessionRecord, UserRecord
from app.models.json_arrays import json_array_text
from app.ports import Ports
from app.services.authorization.register import staff_only
from app.services.lists.paging import record_from
from app.services.people.permission_holders import holder_ids

NAMED = 5
"""How many people are named: more don't help."""


@dataclass(frozen=True, slots=True)
class PermissionGranter:
    """A staff member who can grant missing permissions; ``groups`` are their groups' names.

    ``last_used_at`` is the last use of an open session.
    """

    id: int
    email: str
    first_name: str
    last_name: str
    groups: tuple[str, ...]
    last_used_at: datetime | None

    @property
    def name(self) -> str:
        """The person's name, or else their email."""
        return f"{self.first_name} {self.last_name}".strip() or self.email


@staff_only
def list_permission_granters(
    ports: Ports, actor: Actor, missing: Collection[Permission]
) -> tuple[PermissionGranter, ...]:
    """Return up to five staff who can grant all of ``missing``, the most recently seen first.

    They manage staff and hold the permissions themselves; never the caller. One statement. A
    server administrator can always grant them too.
    """
    needed = in_order(frozenset((*missing, Permission.MANAGE_STAFF)))
    session = SessionRecord
    last_used = (
        select(func.max(session.last_used_at))
        .where(session.user_id == UserRecord.id, session.expires_at > ports.clock.now())
        .scalar_subquery()
    )
    groups = (
        select(json_array_text(GroupRecord.name))
        .join(GroupMemberRecord, GroupMemberRecord.group_id == GroupRecord.id)
        .where(GroupMemberRecord.user_id == UserRecord.id)
        .scalar_subquery()
    )
    query = (
        select(
            UserRecord.id,
            UserRecord.email,
            UserRecord.first_name,
            UserRecord.last_name,
            groups.label("groups"),
            last_used.label("last_used_at"),
        )
        .where(
            UserRecord.is_staff,
            UserRecord.is_active,
            UserRecord.id != (actor.user_id or 0),
            *(_holds(permission) for permission in needed),
        )
        .order_by(last_used.desc().nulls_last(), UserRecord.id)
        .limit(NAMED)
    )
    with ports.database.reading() as reading:
        rows = reading.execute(query).all()
    return tuple(
        record_from(PermissionGranter, row, groups=tuple(sorted(json.loads(row.groups))))
        for row in rows
    )


def _holds(permission: Permission) -> ColumnElement[bool]:
    return or_(UserRecord.is_superuser, UserRecord.id.in_(holder_ids(permission)))
