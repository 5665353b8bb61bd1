"""Hosted pages: their settings, their sessions, and codes by email."""

import sqlalchemy as sa
from alembic import op

revision = "0068_hosted_pages"
down_revision = "0067_own_profile_changes"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)
_SETTINGS = (
    ("hosted_pages", sa.false()),
    ("hosted_password_login", sa.true()),
    ("hosted_passkey_login", sa.true()),
    ("hosted_provider_login", sa.true()),
    ("email_code_login", sa.false()),
)
_OF_HOSTED_PAGES = ("sessions", "second_factor_challenges")


def upgrade() -> None:
    for name, default in _SETTINGS:
        op.add_column(
            "shop", sa.Column(name, sa.Boolean(), nullable=False, server_default=default)
        )
    for table in _OF_HOSTED_PAGES:
        op.add_column(
            table, sa.Column("is_hosted", sa.Boolean(), nullable=False, server_default=sa.false())
        )
    # No foreign key here: SQLite would need the whole table written again.
    op.add_column("reset_requests", sa.Column("code_id", _KEY, nullable=True))
    op.create_table(
        "email_codes",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("user_id", _KEY, nullable=True),
        sa.Column("sealed", sa.Text(), server_default="", nullable=False),
        sa.Column("is_hosted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("audience", sa.Text(), server_default="", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_email_codes_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_email_codes")),
        sa.UniqueConstraint("digest", name=op.f("uq_email_codes_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_email_codes_user_id", "email_codes", ["user_id"])
    op.create_index("ix_email_codes_created_at", "email_codes", ["created_at"])
    op.create_index("ix_email_codes_email_created_at", "email_codes", ["email", "created_at"])


def downgrade() -> None:
    op.drop_table("email_codes")
    op.drop_column("reset_requests", "code_id")
    for table in _OF_HOSTED_PAGES:
        op.drop_column(table, "is_hosted")
    for name, _ in _SETTINGS:
        op.drop_column("shop", name)
