"""Permission groups, their members, and the permissions that a person holds directly."""

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class GroupRecord(Record):
    __tablename__ = "permission_groups"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    name: Mapped[str] = mapped_column(String(150), unique=True)


class GroupPermissionRecord(Record):
    __tablename__ = "permission_group_permissions"

    group_id: Mapped[int] = mapped_column(
        ForeignKey("permission_groups.id", ondelete="CASCADE"), primary_key=True
    )
    permission: Mapped[str] = mapped_column(String(64), primary_key=True)


class GroupMemberRecord(Record):
    """Keyed by user first: the hot path asks for the groups of one user."""

    __tablename__ = "permission_group_members"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    group_id: Mapped[int] = mapped_column(
        ForeignKey("permission_groups.id", ondelete="CASCADE"),
        primary_key=True,
        index=True,
    )


class UserPermissionRecord(Record):
    __tablename__ = "user_permissions"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    permission: Mapped[str] = mapped_column(String(64), primary_key=True)
