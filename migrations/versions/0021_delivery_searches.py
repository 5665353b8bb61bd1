"""Deliveries of an event or with a response code are found at once, or found not to be there."""

import sqlalchemy as sa
from alembic import op

revision = "0021_delivery_searches"
down_revision = "0020_granted_sessions"

_ANSWERED = sa.text("response_status IS NOT NULL")
_UNANSWERED = sa.text("response_status IS NULL AND attempts > 0")


def upgrade() -> None:
    op.create_index("ix_deliveries_event", "deliveries", ["event", "created_at"])
    op.create_index(
        "ix_deliveries_answered",
        "deliveries",
        ["response_status", "created_at"],
        sqlite_where=_ANSWERED,
        postgresql_where=_ANSWERED,
    )
    op.create_index(
        "ix_deliveries_unanswered",
        "deliveries",
        ["created_at"],
        sqlite_where=_UNANSWERED,
        postgresql_where=_UNANSWERED,
    )


def downgrade() -> None:
    for name in ("unanswered", "answered", "event"):
        op.drop_index(f"ix_deliveries_{name}", "deliveries")
