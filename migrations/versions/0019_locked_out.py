"""Whoever is locked out is found at once among a million who are not."""

import sqlalchemy as sa
from alembic import op

revision = "0019_locked_out"
down_revision = "0018_delivery_subjects"

_LOCKED_OUT = sa.text("is_active IS FALSE")
_ORDERS = {
    "by_age": ["id"],
    "by_email": ["email"],
    "by_first_name": ["first_name", "last_name", "id"],
    "by_last_name": ["last_name", "first_name", "id"],
    "by_joining": ["date_joined", "id"],
    "by_change": ["updated_at", "id"],
}


def upgrade() -> None:
    for name, columns in _ORDERS.items():
        op.create_index(
            f"ix_users_locked_out_{name}",
            "users",
            ["is_staff", *columns],
            sqlite_where=_LOCKED_OUT,
            postgresql_where=_LOCKED_OUT,
        )


def downgrade() -> None:
    for name in _ORDERS:
        op.drop_index(f"ix_users_locked_out_{name}", "users")
