"""Index the sessions that no identity provider can refresh."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0050_sessions_without_refresh"
down_revision = "0049_console_sessions"

_NAME, _TABLE = "ix_sessions_without_refresh", "sessions"
_WITHOUT = sa.text("origin = 'oidc' AND provider_refresh_token = ''")


def upgrade() -> None:
    create_index(_NAME, _TABLE, ["expires_at"], where=_WITHOUT)


def downgrade() -> None:
    op.drop_index(_NAME, table_name=_TABLE)
