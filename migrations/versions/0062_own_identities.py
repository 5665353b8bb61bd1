"""Identities that people link to their own account."""

import sqlalchemy as sa
from alembic import op

revision = "0062_own_identities"
down_revision = "0061_company_address"


def upgrade() -> None:
    # Not in batch mode, which would make a table of SQLite that numbers its rows anew.
    by_owner = sa.Column("by_owner", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("external_identities", by_owner)


def downgrade() -> None:
    op.drop_column("external_identities", "by_owner")
