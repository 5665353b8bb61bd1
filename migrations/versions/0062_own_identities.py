"""Identities that people link to their own account."""

import sqlalchemy as sa
from alembic import op

revision = "0062_own_identities"
down_revision = "0061_company_address"


def upgrade() -> None:
    with op.batch_alter_table("external_identities", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("by_owner", sa.Boolean(), server_default=sa.false(), nullable=False)
        )


def downgrade() -> None:
    with op.batch_alter_table("external_identities", schema=None) as batch_op:
        batch_op.drop_column("by_owner")
