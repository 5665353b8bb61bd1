"""What a refused sign-in's identity provider, or the check of its token, said."""

import sqlalchemy as sa
from alembic import op

revision = "0053_sign_in_details"
down_revision = "0052_provider_confirmation"


def upgrade() -> None:
    detail = sa.Column("detail", sa.String(200), server_default="", nullable=False)
    op.add_column("sign_in_events", detail)


def downgrade() -> None:
    op.drop_column("sign_in_events", "detail")
