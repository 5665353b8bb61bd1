"""Leases of deliveries, and endpoints that fail, are found without reading all the others."""

import sqlalchemy as sa
from alembic import op

revision = "0010_leases"
down_revision = "0009_deliveries"

_LEASED = sa.text("lease_until IS NOT NULL")
_FAILING = sa.text("failing_since IS NOT NULL")


def upgrade() -> None:
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index(
            "ix_deliveries_leased",
            ["lease_until"],
            unique=False,
            sqlite_where=_LEASED,
            postgresql_where=_LEASED,
        )
    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.create_index(
            "ix_webhooks_failing",
            ["failing_since"],
            unique=False,
            sqlite_where=_FAILING,
            postgresql_where=_FAILING,
        )


def downgrade() -> None:
    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.drop_index("ix_webhooks_failing")
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.drop_index("ix_deliveries_leased")
