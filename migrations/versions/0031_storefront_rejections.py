"""A closed storefront knows since when, and how many requests it rejected."""

import sqlalchemy as sa
from alembic import op

revision = "0031_storefront_rejections"
down_revision = "0030_delivery_times"


def upgrade() -> None:
    op.add_column("shop", sa.Column("storefront_closed_at", sa.DateTime(timezone=True)))
    op.add_column(
        "shop",
        sa.Column(
            "storefront_rejections",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default="0",
            nullable=False,
        ),
    )


def downgrade() -> None:
    op.drop_column("shop", "storefront_rejections")
    op.drop_column("shop", "storefront_closed_at")
