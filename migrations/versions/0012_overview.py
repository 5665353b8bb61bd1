"""What the console tells at a glance is counted by indexes; who forwards without being trusted."""

import sqlalchemy as sa
from alembic import op

revision = "0012_overview"
down_revision = "0011_app_token_ends"

_ATTEMPTED = sa.text("attempts > 0")
_DISABLED = sa.text("disabled_reason <> ''")
_WITH_PASSWORD = sa.text("password_hash IS NOT NULL")

_INDEXES = (
    ("ix_deliveries_state", "deliveries", ["status", "created_at", "attempts"], None),
    ("ix_deliveries_attempted", "deliveries", ["webhook_id", "id"], _ATTEMPTED),
    ("ix_webhooks_disabled", "webhooks", ["id"], _DISABLED),
    ("ix_throttle_addresses_blocked_until", "throttle_addresses", ["blocked_until"], None),
    (
        "ix_sessions_origin_expires_at_user_id",
        "sessions",
        ["origin", "expires_at", "user_id"],
        None,
    ),
    ("ix_users_with_password", "users", ["is_staff", "is_active", "id"], _WITH_PASSWORD),
    ("ix_audit_by_time", "audit", ["at", "id"], None),
    ("ix_audit_by_action", "audit", ["action", "at", "id"], None),
    ("ix_audit_by_user", "audit", ["actor_user_id", "at", "id"], None),
    ("ix_audit_by_app", "audit", ["actor_app_id", "at", "id"], None),
    ("ix_audit_by_subject", "audit", ["subject_type", "subject_id", "at", "id"], None),
)
_REPLACED = ("at", "action", "actor_user_id")
"""Columns of the audit trail that had an index of their own."""


def upgrade() -> None:
    for name, table, columns, where in _INDEXES:
        op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)
    for column in _REPLACED:
        op.drop_index(f"ix_audit_{column}", "audit")
    op.create_table(
        "untrusted_forwarding",
        sa.Column("peer", sa.String(length=45), nullable=False),
        sa.Column(
            "requests", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("peer", name=op.f("pk_untrusted_forwarding")),
    )
    op.create_index(
        op.f("ix_untrusted_forwarding_last_seen_at"), "untrusted_forwarding", ["last_seen_at"]
    )


def downgrade() -> None:
    op.drop_table("untrusted_forwarding")
    for column in _REPLACED:
        op.create_index(f"ix_audit_{column}", "audit", [column])
    for name, table, _, _ in _INDEXES:
        op.drop_index(name, table)
