"""Channels, the groups that are restricted to some, and the channel of carts and orders."""

import sqlalchemy as sa
from alembic import op

revision = "0060_channels"
down_revision = "0059_app_clients"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_FIRST = {
    "name": "Default channel",
    "slug": "default-channel",
    "currency": "EUR",
    "country": "US",
    "is_active": True,
}
"""The channel of everything that was there before, named as Saleor names its first one."""


def upgrade() -> None:
    channels = op.create_table(
        "channels",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("name", sa.String(length=250), nullable=False),
        sa.Column("slug", sa.String(length=255), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("country", sa.String(length=2), nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("public_metadata", sa.JSON(), server_default="{}", nullable=False),
        sa.Column("private_metadata", sa.JSON(), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channels")),
        sa.UniqueConstraint("slug", name=op.f("uq_channels_slug")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "permission_group_channels",
        sa.Column("group_id", _KEY, nullable=False),
        sa.Column("channel_id", _KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["permission_groups.id"],
            name=op.f("fk_permission_group_channels_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["channel_id"],
            ["channels.id"],
            name=op.f("fk_permission_group_channels_channel_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "group_id", "channel_id", name=op.f("pk_permission_group_channels")
        ),
    )
    op.create_index(
        op.f("ix_permission_group_channels_channel_id"),
        "permission_group_channels",
        ["channel_id"],
    )
    restricted = sa.Column(
        "is_channel_restricted", sa.Boolean(), server_default=sa.false(), nullable=False
    )
    op.add_column("permission_groups", restricted)
    op.bulk_insert(channels, [_FIRST])
    # Rows that servers of the previous release write meanwhile have none: it's the first one.
    for table in ("checkouts", "orders"):
        op.add_column(table, sa.Column("channel_id", _KEY))


def downgrade() -> None:
    for table in ("orders", "checkouts"):
        op.drop_column(table, "channel_id")
    op.drop_column("permission_groups", "is_channel_restricted")
    op.drop_table("permission_group_channels")
    op.drop_table("channels")
