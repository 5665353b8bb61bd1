"""Guesses at a signed-in person's password are counted per user, not per session."""

import sqlalchemy as sa
from alembic import op

revision = "0026_password_guesses"
down_revision = "0025_webhook_savers"


def upgrade() -> None:
    op.create_table(
        "password_guesses",
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("guesses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_password_guesses_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_password_guesses")),
    )
    op.create_index(op.f("ix_password_guesses_updated_at"), "password_guesses", ["updated_at"])
    # The column that this replaces, sessions.wrong_passwords, stays for as long as servers of 1.0
    # may read it: app/models/record.py.


def downgrade() -> None:
    op.drop_table("password_guesses")
