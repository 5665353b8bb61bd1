"""Reports of ended sessions wait by client, and since their first attempt."""

import sqlalchemy as sa
from alembic import op

revision = "0078_logout_reports"
down_revision = "0077_accounts_by_email_code"


def upgrade() -> None:
    op.add_column("oauth_clients", sa.Column("logouts_after", sa.DateTime(timezone=True)))
    op.add_column(
        "oauth_clients",
        sa.Column("logout_failures", sa.Integer(), server_default="0", nullable=False),
    )
    op.add_column(
        "oauth_client_sessions", sa.Column("first_attempt_at", sa.DateTime(timezone=True))
    )


def downgrade() -> None:
    op.drop_column("oauth_client_sessions", "first_attempt_at")
    op.drop_column("oauth_clients", "logout_failures")
    op.drop_column("oauth_clients", "logouts_after")
