"""Index a webhook's deliveries by time."""

from alembic import op

from app.adapters.database.migrations import create_index

revision = "0030_delivery_times"
down_revision = "0029_storefront_closing"


def upgrade() -> None:
    create_index(
        "ix_deliveries_webhook_time",
        "deliveries",
        ["webhook_id", "created_at", "id", "status", "attempts"],
    )


def downgrade() -> None:
    op.drop_index("ix_deliveries_webhook_time", table_name="deliveries")
