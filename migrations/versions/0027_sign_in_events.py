"""The sign-in log."""

import sqlalchemy as sa
from alembic import op

revision = "0027_sign_in_events"
down_revision = "0026_password_guesses"


def upgrade() -> None:
    op.create_table(
        "sign_in_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("method", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=32), nullable=False),
        sa.Column("account_type", sa.String(length=16), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("app_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("email_digest", sa.String(length=64), nullable=False),
        sa.Column("provider", sa.String(length=256), nullable=False),
        sa.Column("address", sa.String(length=45), nullable=False),
        sa.Column("device", sa.String(length=64), nullable=False),
        sa.Column("in_console", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_events")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sign_in_events_by_address", "sign_in_events", ["address", "at", "id"])
    op.create_index("ix_sign_in_events_by_app", "sign_in_events", ["app_id", "at", "id"])
    op.create_index("ix_sign_in_events_by_reason", "sign_in_events", ["reason", "at", "id"])
    op.create_index(
        "ix_sign_in_events_by_time", "sign_in_events", ["at", "id", "reason", "attempts"]
    )
    op.create_index(
        "ix_sign_in_events_by_type",
        "sign_in_events",
        ["account_type", "at", "id", "reason", "attempts"],
    )
    op.create_index("ix_sign_in_events_by_user", "sign_in_events", ["user_id", "at", "id"])


def downgrade() -> None:
    op.drop_table("sign_in_events")
