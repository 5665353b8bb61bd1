"""The shop's own email templates, with their versions."""

import sqlalchemy as sa
from alembic import op

revision = "0047_mail_templates"
down_revision = "0046_app_mail_index"


def upgrade() -> None:
    op.create_table(
        "mail_templates",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("language_code", sa.String(length=35), server_default="", nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.Column("subject", sa.String(length=500), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("saved_by", sa.String(length=256), server_default="", nullable=False),
        sa.Column("fault", sa.String(length=512), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mail_templates")),
        sa.UniqueConstraint(
            "kind",
            "language_code",
            "version",
            name=op.f("uq_mail_templates_kind_language_code_version"),
        ),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("mail_templates")
