"""When the last backup was written."""

import sqlalchemy as sa
from alembic import op

revision = "0075_backup_times"
down_revision = "0074_provider_groups"


def upgrade() -> None:
    op.add_column("worker_pulse", sa.Column("backed_up_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("worker_pulse", "backed_up_at")
