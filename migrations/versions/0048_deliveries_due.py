"""Index the deliveries that wait for each webhook."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0048_deliveries_due"
down_revision = "0047_mail_templates"

_NAME, _TABLE = "ix_deliveries_webhook_due", "deliveries"
_WAITING = sa.text("next_attempt_at IS NOT NULL")


def upgrade() -> None:
    create_index(_NAME, _TABLE, ["webhook_id", "next_attempt_at", "id"], where=_WAITING)


def downgrade() -> None:
    op.drop_index(_NAME, table_name=_TABLE)
