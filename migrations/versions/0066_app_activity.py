"""Requests of apps, and the permissions that they used."""

import sqlalchemy as sa
from alembic import op

revision = "0066_app_activity"
down_revision = "0065_webhook_pauses"

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "app_requests",
        sa.Column("app_id", _BIG, nullable=False),
        sa.Column("span", sa.Integer(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("code", sa.String(64), nullable=False),
        sa.Column("requests", _BIG, nullable=False),
        sa.Column("slow", _BIG, nullable=False),
        sa.Column("slowest", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "app_id", "span", "began_at", "code", name=op.f("pk_app_requests")
        ),
    )
    op.create_index("ix_app_requests_span_began_at", "app_requests", ["span", "began_at"])
    op.create_table(
        "app_permission_uses",
        sa.Column("app_id", _BIG, nullable=False),
        sa.Column("permission", sa.String(64), nullable=False),
        sa.Column("first_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("app_id", "permission", name=op.f("pk_app_permission_uses")),
    )


def downgrade() -> None:
    op.drop_table("app_permission_uses")
    op.drop_table("app_requests")
