"""Which sessions began at the console."""

import sqlalchemy as sa
from alembic import op

revision = "0049_console_sessions"
down_revision = "0048_deliveries_due"


def upgrade() -> None:
    op.add_column(
        "sessions",
        sa.Column("in_console", sa.Boolean(), server_default=sa.false(), nullable=False),
    )


def downgrade() -> None:
    op.drop_column("sessions", "in_console")
