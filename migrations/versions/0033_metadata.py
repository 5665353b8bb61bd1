"""Metadata of users and apps."""

import sqlalchemy as sa
from alembic import op

revision = "0033_metadata"
down_revision = "0032_setup_checklist"

_COLUMNS = [
    (table, column)
    for table in ("users", "apps")
    for column in ("public_metadata", "private_metadata")
]


def upgrade() -> None:
    for table, column in _COLUMNS:
        op.add_column(table, sa.Column(column, sa.JSON(), server_default="{}", nullable=False))


def downgrade() -> None:
    for table, column in _COLUMNS:
        op.drop_column(table, column)
