"""Which claim of a provider's access tokens is the subject."""

import sqlalchemy as sa
from alembic import op

revision = "0051_subject_claim"
down_revision = "0050_sessions_without_refresh"


def upgrade() -> None:
    claim = sa.Column("subject_claim", sa.String(8), server_default="sub", nullable=False)
    op.add_column("identity_providers", claim)


def downgrade() -> None:
    op.drop_column("identity_providers", "subject_claim")
