"""The second factor that a sign-in used."""

import sqlalchemy as sa
from alembic import op

revision = "0070_sign_in_factors"
down_revision = "0069_client_assertions"


def upgrade() -> None:
    factor = sa.Column("second_factor", sa.String(32), server_default="", nullable=False)
    op.add_column("sign_in_events", factor)


def downgrade() -> None:
    op.drop_column("sign_in_events", "second_factor")
