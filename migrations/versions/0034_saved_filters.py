"""Filters of lists that people saved."""

import sqlalchemy as sa
from alembic import op

revision = "0034_saved_filters"
down_revision = "0033_metadata"


def upgrade() -> None:
    op.create_table(
        "saved_filters",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("list_name", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("query", sa.String(length=2048), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_saved_filters_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_filters")),
        sa.UniqueConstraint(
            "user_id", "list_name", "name", name=op.f("uq_saved_filters_user_id_list_name_name")
        ),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("saved_filters")
