"""Sessions as OAuth clients know them, and which of them to report as ended."""

import sqlalchemy as sa
from alembic import op

revision = "0072_client_sessions"
down_revision = "0071_oauth_client_pages"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_ENDED = sa.text("session_id IS NULL")


def upgrade() -> None:
    op.create_table(
        "oauth_client_sessions",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("session_id", _KEY, nullable=True),
        sa.Column("client_id", _KEY, nullable=False),
        sa.Column("sid", sa.String(length=64), nullable=False),
        sa.Column("issuer", sa.String(length=2048), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
            name=op.f("fk_oauth_client_sessions_session_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["client_id"],
            ["oauth_clients.id"],
            name=op.f("fk_oauth_client_sessions_client_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_client_sessions")),
        sqlite_autoincrement=True,
    )
    for column in ("session_id", "client_id", "sid"):
        op.create_index(f"ix_oauth_client_sessions_{column}", "oauth_client_sessions", [column])
    op.create_index(
        "ix_oauth_client_sessions_ended",
        "oauth_client_sessions",
        ["due_at"],
        sqlite_where=_ENDED,
        postgresql_where=_ENDED,
    )


def downgrade() -> None:
    op.drop_table("oauth_client_sessions")
