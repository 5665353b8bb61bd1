"""Reset requests, and wrong passwords of a session."""

import sqlalchemy as sa
from alembic import op

revision = "0003_accounts"
down_revision = "0002_people"


def upgrade() -> None:
    op.create_table(
        "reset_requests",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("redirect_url", sa.String(length=2048), nullable=False),
        sa.Column("caller", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reset_requests")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("wrong_passwords", sa.Integer(), server_default="0", nullable=False)
        )


def downgrade() -> None:
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_column("wrong_passwords")

    op.drop_table("reset_requests")
