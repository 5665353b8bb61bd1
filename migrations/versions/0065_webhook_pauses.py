"""Pauses, request rates and failure alerts of webhooks."""

import sqlalchemy as sa
from alembic import op

from app.adapters.database.migrations import create_index

revision = "0065_webhook_pauses"
down_revision = "0064_oauth_clients"

_MOMENT = sa.DateTime(timezone=True)
_NEW_OF_WEBHOOKS = (
    ("paused_at", _MOMENT, None),
    ("resumed_at", _MOMENT, None),
    ("max_rate", sa.Integer(), "0"),
    ("next_slot_at", _MOMENT, None),
    ("failures_in_row", sa.Integer(), "0"),
    ("incident_since", _MOMENT, None),
    ("alerted_at", _MOMENT, None),
)
_NEW_OF_SHOP = (
    ("webhook_alerts", sa.Boolean(), sa.true()),
    ("webhook_alert_failures", sa.Integer(), "3"),
    ("webhook_alert_percent", sa.Integer(), "50"),
    ("webhook_alert_attempts", sa.Integer(), "10"),
)


def upgrade() -> None:
    for name, kind, default in _NEW_OF_WEBHOOKS:
        op.add_column(
            "webhooks", sa.Column(name, kind, nullable=default is None, server_default=default)
        )
    op.add_column(
        "apps", sa.Column("contact_email", sa.String(254), nullable=False, server_default="")
    )
    for name, kind, setting in _NEW_OF_SHOP:
        op.add_column("shop", sa.Column(name, kind, nullable=False, server_default=setting))
    for name, column in (("paused", "paused_at"), ("incidents", "incident_since")):
        create_index(
            f"ix_webhooks_{name}", "webhooks", [column], where=sa.text(f"{column} IS NOT NULL")
        )


def downgrade() -> None:
    for name in ("paused", "incidents"):
        op.drop_index(f"ix_webhooks_{name}", "webhooks")
    for name, _, _ in _NEW_OF_SHOP:
        op.drop_column("shop", name)
    op.drop_column("apps", "contact_email")
    for name, _, _ in _NEW_OF_WEBHOOKS:
        op.drop_column("webhooks", name)
