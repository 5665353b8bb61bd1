"""Apps from manifests: installations, extensions, webhooks, narrower tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0005_apps"
down_revision = "0004_single_sign_on"


def upgrade() -> None:
    op.create_table(
        "app_extensions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("app_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("label", sa.String(length=256), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("mount", sa.String(length=256), nullable=False),
        sa.Column("target", sa.String(length=256), nullable=False),
        sa.Column("identifier", sa.String(length=256), server_default="", nullable=False),
        sa.Column("permissions", sa.Text(), server_default="", nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["apps.id"], name=op.f("fk_app_extensions_app_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_app_extensions")),
    )
    with op.batch_alter_table("app_extensions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_app_extensions_app_id"), ["app_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_app_extensions_mount"), ["mount"], unique=False)
        batch_op.create_index(
            "uq_app_extensions_identifier",
            ["app_id", "identifier"],
            unique=True,
            sqlite_where=sa.text("identifier <> ''"),
            postgresql_where=sa.text("identifier <> ''"),
        )

    op.create_table(
        "app_installations",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("app_name", sa.String(length=256), nullable=False),
        sa.Column("manifest_url", sa.String(length=2048), nullable=False),
        sa.Column("permissions", sa.Text(), server_default="", nullable=False),
        sa.Column("activate", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("status", sa.String(length=16), server_default="PENDING", nullable=False),
        sa.Column("message", sa.String(length=1024), server_default="", nullable=False),
        sa.Column("caller", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("app_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease", sa.String(length=32), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["apps.id"], name=op.f("fk_app_installations_app_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_app_installations")),
    )
    with op.batch_alter_table("app_installations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_app_installations_app_id"), ["app_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_app_installations_next_attempt_at"), ["next_attempt_at"], unique=False
        )

    op.create_table(
        "webhooks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("app_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=256), server_default="", nullable=False),
        sa.Column("identifier", sa.String(length=256), server_default="", nullable=False),
        sa.Column("target_url", sa.String(length=2048), nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("query", sa.Text(), server_default="", nullable=False),
        sa.Column("secret", sa.Text(), server_default="", nullable=False),
        sa.Column("custom_headers", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["apps.id"], name=op.f("fk_webhooks_app_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_webhooks_app_id"), ["app_id"], unique=False)
        batch_op.create_index(
            "uq_webhooks_identifier",
            ["app_id", "identifier"],
            unique=True,
            sqlite_where=sa.text("identifier <> ''"),
            postgresql_where=sa.text("identifier <> ''"),
        )

    op.create_table(
        "webhook_events",
        sa.Column("event", sa.String(length=64), nullable=False),
        sa.Column(
            "webhook_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name=op.f("fk_webhook_events_webhook_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("event", "webhook_id", name=op.f("pk_webhook_events")),
    )
    with op.batch_alter_table("webhook_events", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_webhook_events_webhook_id"), ["webhook_id"], unique=False
        )

    with op.batch_alter_table("app_tokens", schema=None) as batch_op:
        batch_op.add_column(sa.Column("permissions", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=True))

    # From here on an identifier is one app's alone; the app that had it first keeps it.
    op.execute(
        "UPDATE apps SET identifier = '' WHERE identifier <> '' AND id NOT IN "
        "(SELECT MIN(id) FROM apps GROUP BY identifier)"
    )
    with op.batch_alter_table("apps", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("is_installed", sa.Boolean(), server_default=sa.true(), nullable=False)
        )
        batch_op.add_column(sa.Column("about", sa.Text(), server_default="", nullable=False))
        batch_op.add_column(
            sa.Column("author", sa.String(length=256), server_default="", nullable=False)
        )
        batch_op.add_column(
            sa.Column("version", sa.String(length=256), server_default="", nullable=False)
        )
        batch_op.add_column(
            sa.Column("audience", sa.String(length=256), server_default="", nullable=False)
        )
        batch_op.add_column(
            sa.Column("app_url", sa.String(length=2048), server_default="", nullable=False)
        )
        batch_op.add_column(
            sa.Column(
                "data_privacy_url", sa.String(length=2048), server_default="", nullable=False
            )
        )
        batch_op.add_column(
            sa.Column("homepage_url", sa.String(length=2048), server_default="", nullable=False)
        )
        batch_op.add_column(
            sa.Column("manifest_url", sa.String(length=2048), server_default="", nullable=False)
        )
        batch_op.add_column(
            sa.Column("support_url", sa.String(length=2048), server_default="", nullable=False)
        )
        batch_op.create_index("ix_apps_created_at_id", ["created_at", "id"], unique=False)
        batch_op.create_index("ix_apps_name_id", ["name", "id"], unique=False)
        batch_op.create_index(
            "uq_apps_identifier",
            ["identifier"],
            unique=True,
            sqlite_where=sa.text("identifier <> ''"),
            postgresql_where=sa.text("identifier <> ''"),
        )


def downgrade() -> None:
    with op.batch_alter_table("apps", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_apps_identifier",
            sqlite_where=sa.text("identifier <> ''"),
            postgresql_where=sa.text("identifier <> ''"),
        )
        batch_op.drop_index("ix_apps_name_id")
        batch_op.drop_index("ix_apps_created_at_id")
        batch_op.drop_column("support_url")
        batch_op.drop_column("manifest_url")
        batch_op.drop_column("homepage_url")
        batch_op.drop_column("data_privacy_url")
        batch_op.drop_column("app_url")
        batch_op.drop_column("audience")
        batch_op.drop_column("version")
        batch_op.drop_column("author")
        batch_op.drop_column("about")
        batch_op.drop_column("is_installed")

    with op.batch_alter_table("app_tokens", schema=None) as batch_op:
        batch_op.drop_column("replaced_at")
        batch_op.drop_column("permissions")

    with op.batch_alter_table("webhook_events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_webhook_events_webhook_id"))

    op.drop_table("webhook_events")
    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_webhooks_identifier",
            sqlite_where=sa.text("identifier <> ''"),
            postgresql_where=sa.text("identifier <> ''"),
        )
        batch_op.drop_index(batch_op.f("ix_webhooks_app_id"))

    op.drop_table("webhooks")
    with op.batch_alter_table("app_installations", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_app_installations_next_attempt_at"))
        batch_op.drop_index(batch_op.f("ix_app_installations_app_id"))

    op.drop_table("app_installations")
    with op.batch_alter_table("app_extensions", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_app_extensions_identifier",
            sqlite_where=sa.text("identifier <> ''"),
            postgresql_where=sa.text("identifier <> ''"),
        )
        batch_op.drop_index(batch_op.f("ix_app_extensions_mount"))
        batch_op.drop_index(batch_op.f("ix_app_extensions_app_id"))

    op.drop_table("app_extensions")
