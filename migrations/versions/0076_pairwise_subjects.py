"""Clients that know people by subjects of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0076_pairwise_subjects"
down_revision = "0075_backup_times"


def upgrade() -> None:
    op.add_column(
        "oauth_clients",
        sa.Column("subject_salt", sa.String(64), server_default="", nullable=False),
    )


def downgrade() -> None:
    op.drop_column("oauth_clients", "subject_salt")
