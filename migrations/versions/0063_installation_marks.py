"""What an installation with this database is recognized by."""

import sqlalchemy as sa
from alembic import op

revision = "0063_installation_marks"
down_revision = "0062_own_identities"


def upgrade() -> None:
    # A restored backup of an older version has the table already, with why it is held.
    op.create_table(
        "installation_marks",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("value", sa.String(length=1024), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("kind", "value", name=op.f("pk_installation_marks")),
        if_not_exists=True,
    )


def downgrade() -> None:
    op.drop_table("installation_marks")
