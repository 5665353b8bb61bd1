"""Whoever is signed in with rights that a provider granted is found among all sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0020_granted_sessions"
down_revision = "0019_locked_out"

_GRANTED = sa.text("scope <> ''")


def upgrade() -> None:
    op.create_index(
        "ix_sessions_granted",
        "sessions",
        ["expires_at"],
        sqlite_where=_GRANTED,
        postgresql_where=_GRANTED,
    )


def downgrade() -> None:
    op.drop_index("ix_sessions_granted", "sessions")
