"""Deliveries of webhooks and their attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0009_deliveries"
down_revision = "0008_resources"


def upgrade() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "webhook_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("note_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("event", sa.String(length=64), nullable=False),
        sa.Column(
            "subject_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("message_id", sa.String(length=64), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("issuer", sa.String(length=1024), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease", sa.String(length=32), server_default="", nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("given_up", sa.String(length=256), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name=op.f("fk_deliveries_webhook_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("message_id", name=op.f("uq_deliveries_message_id")),
        sa.UniqueConstraint(
            "note_id", "webhook_id", name=op.f("uq_deliveries_note_id_webhook_id")
        ),
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_deliveries_created_at"), ["created_at"], unique=False)
        batch_op.create_index(
            "ix_deliveries_due",
            ["next_attempt_at"],
            unique=False,
            sqlite_where=sa.text("next_attempt_at IS NOT NULL"),
            postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
        )
        batch_op.create_index("ix_deliveries_webhook", ["webhook_id", "id"], unique=False)

    op.create_table(
        "delivery_attempts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "delivery_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("duration", sa.Double(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("request_headers", sa.JSON(), nullable=False),
        sa.Column("response_status", sa.Integer(), nullable=True),
        sa.Column("response_headers", sa.JSON(), nullable=False),
        sa.Column("response", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["deliveries.id"],
            name=op.f("fk_delivery_attempts_delivery_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery_attempts")),
    )
    with op.batch_alter_table("delivery_attempts", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_delivery_attempts_delivery_id"), ["delivery_id"], unique=False
        )
    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.add_column(sa.Column("old_secret", sa.Text(), server_default="", nullable=False))
        batch_op.add_column(
            sa.Column("old_secret_until", sa.DateTime(timezone=True), nullable=True)
        )
        batch_op.add_column(sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(
            sa.Column("disabled_reason", sa.String(length=256), server_default="", nullable=False)
        )


def downgrade() -> None:
    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.drop_column("disabled_reason")
        batch_op.drop_column("failing_since")
        batch_op.drop_column("old_secret_until")
        batch_op.drop_column("old_secret")

    with op.batch_alter_table("delivery_attempts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_delivery_attempts_delivery_id"))

    op.drop_table("delivery_attempts")
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.drop_index("ix_deliveries_webhook")
        batch_op.drop_index(
            "ix_deliveries_due",
            sqlite_where=sa.text("next_attempt_at IS NOT NULL"),
            postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_deliveries_created_at"))

    op.drop_table("deliveries")
