"""The setup checklist of a new shop can be dismissed."""

import sqlalchemy as sa
from alembic import op

revision = "0032_setup_checklist"
down_revision = "0031_storefront_rejections"


def upgrade() -> None:
    op.add_column(
        "shop",
        sa.Column("setup_dismissed", sa.Boolean(), server_default=sa.false(), nullable=False),
    )


def downgrade() -> None:
    op.drop_column("shop", "setup_dismissed")
