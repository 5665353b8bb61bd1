"""Index emails that wait for an app."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0046_app_mail_index"
down_revision = "0045_app_mail"

_NAME, _TABLE = "ix_outbox_mails_awaiting", "outbox_mails"
_AWAITING = sa.text("awaited_event_id IS NOT NULL")


def upgrade() -> None:
    create_index(_NAME, _TABLE, ["awaited_event_id"], where=_AWAITING)


def downgrade() -> None:
    op.drop_index(_NAME, table_name=_TABLE)
