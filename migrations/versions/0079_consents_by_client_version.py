"""Consents count for the client as it was when people allowed it."""

import sqlalchemy as sa
from alembic import op

revision = "0079_consents_by_client_version"
down_revision = "0078_logout_reports"

_COLUMNS = (("oauth_clients", "consent_version"), ("oauth_consents", "client_version"))


def upgrade() -> None:
    for table, name in _COLUMNS:
        op.add_column(table, sa.Column(name, sa.Integer, server_default="0", nullable=False))


def downgrade() -> None:
    for table, name in _COLUMNS:
        op.drop_column(table, name)
