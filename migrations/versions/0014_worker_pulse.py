"""Background workers leave a sign of life."""

import sqlalchemy as sa
from alembic import op

revision = "0014_worker_pulse"
down_revision = "0013_endpoints"


def upgrade() -> None:
    pulse = op.create_table(
        "worker_pulse",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_worker_pulse_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker_pulse")),
    )
    op.bulk_insert(pulse, [{"id": 1, "beat_at": None}])


def downgrade() -> None:
    op.drop_table("worker_pulse")
