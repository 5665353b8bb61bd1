"""Emails have the account they are about, the page of their link and the last attempt."""

import sqlalchemy as sa
from alembic import op

revision = "0042_mail_log"
down_revision = "0041_second_factors"


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    page = sa.Column("redirect_url", sa.Text(), server_default="", nullable=False)
    op.add_column("outbox_mails", sa.Column("user_id", key))
    op.add_column("outbox_mails", page)
    op.add_column("outbox_mails", sa.Column("attempted_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    for name in ("attempted_at", "redirect_url", "user_id"):
        op.drop_column("outbox_mails", name)
