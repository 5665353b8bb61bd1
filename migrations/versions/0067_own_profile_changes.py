"""Which entries of the audit log are customers' own changes of their profile."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0067_own_profile_changes"
down_revision = "0066_app_activity"


def upgrade() -> None:
    own_profile = sa.Column("own_profile", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("audit", own_profile)
    create_index("ix_audit_by_kind", "audit", ["own_profile", "at", "id"])


def downgrade() -> None:
    op.drop_index("ix_audit_by_kind", table_name="audit")
    op.drop_column("audit", "own_profile")
