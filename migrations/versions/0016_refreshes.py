"""When a session's refresh token took the place of another."""

import sqlalchemy as sa
from alembic import op

revision = "0016_refreshes"
down_revision = "0015_words"


def upgrade() -> None:
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        refreshed_at = sa.Column("refreshed_at", sa.DateTime(timezone=True), nullable=True)
        batch_op.add_column(refreshed_at)


def downgrade() -> None:
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_column("refreshed_at")
