"""Index emails for the mail log: by time, account and kind, and those that weren't sent."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0043_mail_log_indexes"
down_revision = "0042_mail_log"

_UNSENT = sa.text("sent_at IS NULL")


def upgrade() -> None:
    create_index("ix_outbox_mails_by_time", "outbox_mails", ["created_at", "id"])
    create_index("ix_outbox_mails_by_user", "outbox_mails", ["user_id", "created_at", "id"])
    create_index("ix_outbox_mails_by_kind", "outbox_mails", ["kind", "created_at", "id"])
    create_index("ix_outbox_mails_unsent", "outbox_mails", ["created_at", "id"], where=_UNSENT)


def downgrade() -> None:
    for name in ("unsent", "by_kind", "by_user", "by_time"):
        op.drop_index(f"ix_outbox_mails_{name}", table_name="outbox_mails")
