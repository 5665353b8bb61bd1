"""Tokens of apps that have expired are found without reading all the others."""

import sqlalchemy as sa
from alembic import op

revision = "0011_app_token_ends"
down_revision = "0010_leases"

_ENDING = sa.text("expires_at IS NOT NULL")


def upgrade() -> None:
    with op.batch_alter_table("app_tokens", schema=None) as batch_op:
        batch_op.create_index(
            "ix_app_tokens_ending",
            ["expires_at"],
            unique=False,
            sqlite_where=_ENDING,
            postgresql_where=_ENDING,
        )


def downgrade() -> None:
    with op.batch_alter_table("app_tokens", schema=None) as batch_op:
        batch_op.drop_index("ix_app_tokens_ending")
