"""Answers to forms, for the same form sent again at once."""

import sqlalchemy as sa
from alembic import op

revision = "0054_form_answers"
down_revision = "0053_sign_in_details"


def upgrade() -> None:
    op.create_table(
        "form_answers",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("encrypted_answer", sa.Text(), server_default="", nullable=False),
        sa.Column("is_repeated", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_form_answers")),
    )
    op.create_index("ix_form_answers_expires_at", "form_answers", ["expires_at"])


def downgrade() -> None:
    op.drop_table("form_answers")
