"""Submitted forms that create something."""

import sqlalchemy as sa
from alembic import op

revision = "0028_form_submissions"
down_revision = "0027_sign_in_events"


def upgrade() -> None:
    op.create_table(
        "form_submissions",
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column(
            "session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("location", sa.String(length=1024), server_default="", nullable=False),
        sa.Column("encrypted_secret", sa.Text(), server_default="", nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
            name=op.f("fk_form_submissions_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_form_submissions")),
    )
    op.create_index(
        op.f("ix_form_submissions_expires_at"), "form_submissions", ["expires_at"], unique=False
    )
    op.create_index(
        op.f("ix_form_submissions_session_id"), "form_submissions", ["session_id"], unique=False
    )


def downgrade() -> None:
    op.drop_table("form_submissions")
