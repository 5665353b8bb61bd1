"""People have a language."""

import sqlalchemy as sa
from alembic import op

revision = "0037_languages"
down_revision = "0036_time_zones"


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column("language_code", sa.String(length=35), server_default="EN", nullable=False),
    )


def downgrade() -> None:
    op.drop_column("users", "language_code")
