"""Webhooks are listed by their names, however many there are."""

from alembic import op

revision = "0017_webhook_names"
down_revision = "0016_refreshes"


def upgrade() -> None:
    op.create_index("ix_webhooks_name_id", "webhooks", ["name", "id"])


def downgrade() -> None:
    op.drop_index("ix_webhooks_name_id", "webhooks")
