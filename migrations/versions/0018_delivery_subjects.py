"""Deliveries about one thing are found at once, however many there were about others."""

from alembic import op

revision = "0018_delivery_subjects"
down_revision = "0017_webhook_names"


def upgrade() -> None:
    op.create_index("ix_deliveries_subject_id", "deliveries", ["subject_id"])


def downgrade() -> None:
    op.drop_index("ix_deliveries_subject_id", "deliveries")
