"""The look and the language of emails: reply-to, accent color, footer, legal line, logo."""

import sqlalchemy as sa
from alembic import op

revision = "0044_mail_settings"
down_revision = "0043_mail_log_indexes"


def _text(name: str, length: int, default: str = "") -> sa.Column[str]:
    return sa.Column(name, sa.String(length=length), server_default=default, nullable=False)


def upgrade() -> None:
    op.create_table(
        "shop_logos",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_shop_logos")),
    )
    op.add_column("shop", _text("mail_reply_to", 254))
    op.add_column("shop", sa.Column("mail_footer", sa.Text(), server_default="", nullable=False))
    op.add_column("shop", _text("mail_legal_line", 512))
    op.add_column("shop", _text("accent_color", 7, "#0b5563"))
    op.add_column("shop", _text("default_language", 35, "EN"))
    op.add_column("shop", _text("logo", 64))
    op.add_column("outbox_mails", _text("language_code", 35))


def downgrade() -> None:
    op.drop_column("outbox_mails", "language_code")
    for name in (
        "logo",
        "default_language",
        "accent_color",
        "mail_legal_line",
        "mail_footer",
        "mail_reply_to",
    ):
        op.drop_column("shop", name)
    op.drop_table("shop_logos")
