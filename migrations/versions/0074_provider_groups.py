"""Groups of identity providers: the claim, and the permission group of each value."""

import sqlalchemy as sa
from alembic import op

revision = "0074_provider_groups"
down_revision = "0073_device_codes"

_TABLE = "identity_providers"


def upgrade() -> None:
    claim = sa.Column("groups_claim", sa.String(255), server_default="groups", nullable=False)
    op.add_column(_TABLE, claim)
    mapping = sa.Column("group_mapping", sa.Text(), server_default="", nullable=False)
    op.add_column(_TABLE, mapping)


def downgrade() -> None:
    op.drop_column(_TABLE, "group_mapping")
    op.drop_column(_TABLE, "groups_claim")
