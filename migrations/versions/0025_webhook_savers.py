"""Who saved a webhook last, and which permissions they held then."""

import sqlalchemy as sa
from alembic import op

revision = "0025_webhook_savers"
down_revision = "0024_trusted_emails"


def upgrade() -> None:
    op.add_column(
        "webhooks", sa.Column("saved_by_kind", sa.String(16), server_default="", nullable=False)
    )
    op.add_column(
        "webhooks", sa.Column("saved_by", sa.String(256), server_default="", nullable=False)
    )
    op.add_column("webhooks", sa.Column("saved_permissions", sa.Text(), nullable=True))


def downgrade() -> None:
    for name in ("saved_permissions", "saved_by", "saved_by_kind"):
        op.drop_column("webhooks", name)
