"""Clients of identity providers that act as apps."""

import sqlalchemy as sa
from alembic import op

revision = "0059_app_clients"
down_revision = "0058_app_problems"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "app_clients",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("app_id", _KEY, nullable=False),
        sa.Column("provider_id", _KEY, nullable=False),
        sa.Column("issuer", sa.String(length=1024), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["apps.id"], name=op.f("fk_app_clients_app_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["identity_providers.id"],
            name=op.f("fk_app_clients_provider_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_app_clients")),
        sa.UniqueConstraint(
            "provider_id",
            "issuer",
            "client_id",
            name=op.f("uq_app_clients_provider_id_issuer_client_id"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_app_clients_app_id", "app_clients", ["app_id"])
    op.create_index("ix_app_clients_subject", "app_clients", ["subject"])


def downgrade() -> None:
    op.drop_table("app_clients")
