"""How many requests came in, by spans of time and kinds of caller."""

import sqlalchemy as sa
from alembic import op

revision = "0007_traffic"
down_revision = "0006_lists"


def upgrade() -> None:
    op.create_table(
        "traffic",
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column(
            "requests", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.PrimaryKeyConstraint("began_at", "kind", name=op.f("pk_traffic")),
    )


def downgrade() -> None:
    op.drop_table("traffic")
