"""Logos and users of OAuth clients, and apps with client credentials alone."""

import sqlalchemy as sa
from alembic import op

revision = "0071_oauth_client_pages"
down_revision = "0070_sign_in_factors"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    for table, name in (("apps", "client_credentials_only"), ("app_tokens", "is_by_client")):
        op.add_column(
            table, sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false())
        )
    op.create_table(
        "oauth_client_logos",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("client_id", _KEY, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["client_id"],
            ["oauth_clients.id"],
            name=op.f("fk_oauth_client_logos_client_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("name", "size", name=op.f("pk_oauth_client_logos")),
    )
    op.create_index("ix_oauth_client_logos_client_id", "oauth_client_logos", ["client_id"])
    op.create_table(
        "oauth_uses",
        sa.Column("client_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("user_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("used_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["client_id"],
            ["oauth_clients.id"],
            name=op.f("fk_oauth_uses_client_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_oauth_uses_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("client_id", "user_id", name=op.f("pk_oauth_uses")),
    )
    op.create_index("ix_oauth_uses_user_id", "oauth_uses", ["user_id"])
    op.create_index("ix_oauth_uses_used_at", "oauth_uses", ["used_at"])


def downgrade() -> None:
    op.drop_table("oauth_uses")
    op.drop_table("oauth_client_logos")
    for table, name in (("apps", "client_credentials_only"), ("app_tokens", "is_by_client")):
        op.drop_column(table, name)
