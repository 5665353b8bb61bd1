"""A closed storefront has a reason and a time to open."""

import sqlalchemy as sa
from alembic import op

revision = "0029_storefront_closing"
down_revision = "0028_form_submissions"


def upgrade() -> None:
    op.add_column(
        "shop",
        sa.Column("storefront_note", sa.String(length=256), server_default="", nullable=False),
    )
    op.add_column("shop", sa.Column("storefront_opens_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("shop", "storefront_opens_at")
    op.drop_column("shop", "storefront_note")
