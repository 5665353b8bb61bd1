"""Find imported app tokens by their last four characters."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0040_imported_tokens"
down_revision = "0039_external_references"


def upgrade() -> None:
    create_index(
        "ix_app_tokens_imported",
        "app_tokens",
        ["last_four"],
        where=sa.text("imported_hash IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_app_tokens_imported", table_name="app_tokens")
