"""Emails that wait for an app to send them, and the shop's settings for it."""

import sqlalchemy as sa
from alembic import op

revision = "0045_app_mail"
down_revision = "0044_mail_settings"

_SENDERS = (
    "password_reset_sender",
    "account_confirmation_sender",
    "email_change_request_sender",
    "customer_invitation_sender",
    "staff_invitation_sender",
)


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    has_link = sa.Column("has_link", sa.Boolean(), server_default=sa.false(), nullable=False)
    sent_by = sa.Column("sent_by", sa.String(256), server_default="", nullable=False)
    op.add_column("deliveries", has_link)
    op.add_column("outbox_mails", sa.Column("awaited_event_id", key))
    op.add_column("outbox_mails", sent_by)
    for name in _SENDERS:
        sender = sa.Column(name, sa.String(8), server_default="OURS", nullable=False)
        op.add_column("shop", sender)


def downgrade() -> None:
    for name in _SENDERS:
        op.drop_column("shop", name)
    op.drop_column("outbox_mails", "sent_by")
    op.drop_column("outbox_mails", "awaited_event_id")
    op.drop_column("deliveries", "has_link")
