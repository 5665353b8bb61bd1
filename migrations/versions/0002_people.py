"""Links by mail, and the outbox."""

import sqlalchemy as sa
from alembic import op

revision = "0002_people"
down_revision = "0001_main_job"


def upgrade() -> None:
    op.create_table(
        "outbox_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column(
            "subject_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("sealed", sa.Text(), server_default="", nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("principal_type", sa.String(length=16), server_default="", nullable=False),
        sa.Column(
            "principal_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("issuer", sa.String(length=1024), server_default="", nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox_events")),
    )
    with op.batch_alter_table("outbox_events", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_outbox_events_closed_at"), ["closed_at"], unique=False
        )
        batch_op.create_index(
            "ix_outbox_events_open",
            ["id"],
            unique=False,
            sqlite_where=sa.text("closed_at IS NULL"),
            postgresql_where=sa.text("closed_at IS NULL"),
        )

    op.create_table(
        "outbox_mails",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease", sa.String(length=32), server_default="", nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.String(length=512), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox_mails")),
    )
    with op.batch_alter_table("outbox_mails", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_outbox_mails_next_attempt_at"), ["next_attempt_at"], unique=False
        )

    op.create_table(
        "account_links",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("purpose", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("new_email", sa.String(length=254), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_account_links_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_links")),
        sa.UniqueConstraint("digest", name=op.f("uq_account_links_digest")),
    )
    with op.batch_alter_table("account_links", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_account_links_expires_at"), ["expires_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_account_links_user_id"), ["user_id"], unique=False)

    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("reset_requested_at", sa.DateTime(timezone=True), nullable=True)
        )
        batch_op.add_column(
            sa.Column("avatar", sa.String(length=64), server_default="", nullable=False)
        )


def downgrade() -> None:
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.drop_column("avatar")
        batch_op.drop_column("reset_requested_at")

    with op.batch_alter_table("account_links", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_links_user_id"))
        batch_op.drop_index(batch_op.f("ix_account_links_expires_at"))

    op.drop_table("account_links")
    with op.batch_alter_table("outbox_mails", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_outbox_mails_next_attempt_at"))

    op.drop_table("outbox_mails")
    with op.batch_alter_table("outbox_events", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_outbox_events_open",
            sqlite_where=sa.text("closed_at IS NULL"),
            postgresql_where=sa.text("closed_at IS NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_outbox_events_closed_at"))

    op.drop_table("outbox_events")
