"""Assertions by which OAuth clients proved who they are, each for one use."""

import sqlalchemy as sa
from alembic import op

revision = "0069_client_assertions"
down_revision = "0068_hosted_pages"


def upgrade() -> None:
    op.create_table(
        "oauth_assertions",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_oauth_assertions")),
    )
    op.create_index("ix_oauth_assertions_expires_at", "oauth_assertions", ["expires_at"])


def downgrade() -> None:
    op.drop_table("oauth_assertions")
