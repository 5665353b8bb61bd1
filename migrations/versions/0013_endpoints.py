"""When and why an endpoint failed or was switched off; faults of ours come to an end."""

import sqlalchemy as sa
from alembic import op

revision = "0013_endpoints"
down_revision = "0012_overview"

_ADDED = (
    ("webhooks", sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True)),
    ("webhooks", sa.Column("last_failure_at", sa.DateTime(timezone=True), nullable=True)),
    ("webhooks", sa.Column("last_failure", sa.String(256), server_default="", nullable=False)),
    ("deliveries", sa.Column("response_status", sa.Integer(), nullable=True)),
    ("outbox_events", sa.Column("attempts", sa.Integer(), server_default="0", nullable=False)),
    ("shop", sa.Column("served_at", sa.String(1024), server_default="", nullable=False)),
)


def upgrade() -> None:
    for table, column in _ADDED:
        op.add_column(table, column)


def downgrade() -> None:
    for table, column in reversed(_ADDED):
        op.drop_column(table, column.name)
