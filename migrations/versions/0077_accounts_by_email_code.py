"""Codes by email that make an account if none has the email."""

import sqlalchemy as sa
from alembic import op

revision = "0077_accounts_by_email_code"
down_revision = "0076_pairwise_subjects"


def upgrade() -> None:
    op.add_column(
        "email_codes", sa.Column("new_account", sa.Text(), server_default="", nullable=False)
    )


def downgrade() -> None:
    op.drop_column("email_codes", "new_account")
