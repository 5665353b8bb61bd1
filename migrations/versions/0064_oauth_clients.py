"""OAuth clients, their secrets, consents, authorization codes and refresh tokens."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0064_oauth_clients"
down_revision = "0063_installation_marks"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    _create_clients()
    _create_consents()
    _create_codes()
    # No foreign keys here: SQLite would need the whole table written again.
    op.add_column("sessions", sa.Column("oauth_client_id", _KEY, nullable=True))
    op.add_column(
        "sessions", sa.Column("oauth_scope", sa.Text(), server_default="", nullable=False)
    )
    op.add_column("sessions", sa.Column("authenticated_at", _TIME, nullable=True))
    create_index(
        "ix_sessions_oauth_client_id",
        "sessions",
        ["oauth_client_id", "user_id"],
        where=sa.text("oauth_client_id IS NOT NULL"),
    )


def _create_clients() -> None:
    op.create_table(
        "oauth_clients",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("client_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("redirect_uris", sa.Text(), server_default="", nullable=False),
        sa.Column("post_logout_redirect_uris", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "backchannel_logout_uri", sa.String(length=2048), server_default="", nullable=False
        ),
        sa.Column("scopes", sa.Text(), server_default="", nullable=False),
        sa.Column("is_first_party", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_public", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("key_set", sa.Text(), server_default="", nullable=False),
        sa.Column("app_id", _KEY, nullable=True),
        sa.Column("logo", sa.String(length=64), server_default="", nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("last_used_at", _TIME, nullable=True),
        _reference("oauth_clients", "app_id", "apps"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_clients")),
        sa.UniqueConstraint("client_id", name=op.f("uq_oauth_clients_client_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_oauth_clients_app_id", "oauth_clients", ["app_id"])
    op.create_table(
        "oauth_client_secrets",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("client_id", _KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("last_four", sa.String(length=4), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=True),
        _reference("oauth_client_secrets", "client_id", "oauth_clients"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_client_secrets")),
        sa.UniqueConstraint("digest", name=op.f("uq_oauth_client_secrets_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_oauth_client_secrets_client_id", "oauth_client_secrets", ["client_id"])


def _create_consents() -> None:
    op.create_table(
        "oauth_consents",
        sa.Column("user_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("client_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        _reference("oauth_consents", "user_id", "users"),
        _reference("oauth_consents", "client_id", "oauth_clients"),
        sa.PrimaryKeyConstraint("user_id", "client_id", name=op.f("pk_oauth_consents")),
    )
    op.create_index("ix_oauth_consents_client_id", "oauth_consents", ["client_id"])


def _create_codes() -> None:
    op.create_table(
        "oauth_codes",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("client_id", _KEY, nullable=False),
        sa.Column("session_id", _KEY, nullable=False),
        sa.Column("granted_session_id", _KEY, nullable=True),
        sa.Column("redirect_uri", sa.String(length=2048), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("challenge", sa.String(length=128), nullable=False),
        sa.Column("nonce", sa.Text(), server_default="", nullable=False),
        sa.Column("authenticated_at", _TIME, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        sa.Column("used_at", _TIME, nullable=True),
        _reference("oauth_codes", "client_id", "oauth_clients"),
        _reference("oauth_codes", "session_id", "sessions"),
        _reference("oauth_codes", "granted_session_id", "sessions", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_codes")),
        sa.UniqueConstraint("digest", name=op.f("uq_oauth_codes_digest")),
        sqlite_autoincrement=True,
    )
    for column in ("client_id", "session_id", "granted_session_id", "expires_at"):
        op.create_index(f"ix_oauth_codes_{column}", "oauth_codes", [column])
    op.create_table(
        "oauth_refresh_tokens",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("session_id", _KEY, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("used_at", _TIME, nullable=True),
        _reference("oauth_refresh_tokens", "session_id", "sessions"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_refresh_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_oauth_refresh_tokens_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_oauth_refresh_tokens_session_id", "oauth_refresh_tokens", ["session_id"])


def _reference(
    table: str, column: str, target: str, ondelete: str = "CASCADE"
) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete=ondelete
    )


def downgrade() -> None:
    op.drop_index("ix_sessions_oauth_client_id", "sessions")
    for column in ("oauth_client_id", "oauth_scope", "authenticated_at"):
        op.drop_column("sessions", column)
    for table in (
        "oauth_refresh_tokens",
        "oauth_codes",
        "oauth_consents",
        "oauth_client_secrets",
        "oauth_clients",
    ):
        op.drop_table(table)
