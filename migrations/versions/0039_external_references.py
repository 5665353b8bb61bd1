"""Find people by the ID that another system has for them."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0039_external_references"
down_revision = "0038_imports"


def upgrade() -> None:
    create_index(
        "uq_users_external_reference",
        "users",
        ["external_reference"],
        where=sa.text("external_reference IS NOT NULL"),
        unique=True,
    )


def downgrade() -> None:
    op.drop_index("uq_users_external_reference", table_name="users")
