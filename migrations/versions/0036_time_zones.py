"""People have a time zone."""

import sqlalchemy as sa
from alembic import op

revision = "0036_time_zones"
down_revision = "0035_addresses"


def upgrade() -> None:
    op.add_column("users", sa.Column("time_zone", sa.String(length=64)))


def downgrade() -> None:
    op.drop_column("users", "time_zone")
