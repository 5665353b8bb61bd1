"""People, sessions, permissions, apps, keys, throttle, audit."""

import sqlalchemy as sa
from alembic import op

revision = "0001_main_job"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "apps",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("identifier", sa.String(length=256), server_default="", nullable=False),
        sa.Column("type", sa.String(length=16), server_default="LOCAL", nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_apps")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_kind", sa.String(length=16), nullable=False),
        sa.Column(
            "actor_user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column(
            "actor_app_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("actor_name", sa.String(length=256), nullable=False),
        sa.Column("address", sa.String(length=45), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("subject_type", sa.String(length=32), nullable=False),
        sa.Column("subject_id", sa.String(length=64), nullable=False),
        sa.Column("subject_name", sa.String(length=256), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_action"), ["action"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_audit_actor_user_id"), ["actor_user_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_audit_at"), ["at"], unique=False)

    op.create_table(
        "permission_groups",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=150), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_permission_groups")),
        sa.UniqueConstraint("name", name=op.f("uq_permission_groups_name")),
    )
    op.create_table(
        "shop",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "default_mail_sender_name", sa.String(length=256), server_default="", nullable=False
        ),
        sa.Column(
            "default_mail_sender_address", sa.String(length=254), server_default="", nullable=False
        ),
        sa.Column(
            "customer_set_password_url", sa.String(length=1024), server_default="", nullable=False
        ),
        sa.Column(
            "enable_account_confirmation_by_email",
            sa.Boolean(),
            server_default=sa.true(),
            nullable=False,
        ),
        sa.Column(
            "allow_login_without_confirmation",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
        ),
        sa.Column(
            "password_login_mode", sa.String(length=16), server_default="ENABLED", nullable=False
        ),
        sa.Column(
            "allow_storefront_traffic", sa.Boolean(), server_default=sa.true(), nullable=False
        ),
        sa.Column("keys_version", sa.Integer(), server_default="0", nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_shop_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shop")),
    )
    op.create_table(
        "signing_keys",
        sa.Column("kid", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("private_key", sa.Text(), nullable=False),
        sa.Column("modulus", sa.Text(), nullable=False),
        sa.Column("exponent", sa.String(length=16), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("activated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("kid", name=op.f("pk_signing_keys")),
    )
    with op.batch_alter_table("signing_keys", schema=None) as batch_op:
        batch_op.create_index(
            "uq_signing_keys_one_active",
            ["state"],
            unique=True,
            sqlite_where=sa.text("state = 'active'"),
            postgresql_where=sa.text("state = 'active'"),
        )
        batch_op.create_index(
            "uq_signing_keys_one_next",
            ["state"],
            unique=True,
            sqlite_where=sa.text("state = 'next'"),
            postgresql_where=sa.text("state = 'next'"),
        )

    op.create_table(
        "throttle_addresses",
        sa.Column("address", sa.String(length=45), nullable=False),
        sa.Column("blocked_until", sa.Double(), server_default="0", nullable=False),
        sa.Column("lease", sa.String(length=32), server_default="", nullable=False),
        sa.Column("lease_until", sa.Double(), server_default="0", nullable=False),
        sa.Column("known_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_throttle_addresses")),
    )
    with op.batch_alter_table("throttle_addresses", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_throttle_addresses_updated_at"), ["updated_at"], unique=False
        )

    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("first_name", sa.String(length=256), server_default="", nullable=False),
        sa.Column("last_name", sa.String(length=256), server_default="", nullable=False),
        sa.Column("is_staff", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_superuser", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("is_confirmed", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("date_joined", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_login", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tokens_valid_after", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "app_permissions",
        sa.Column("app_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("permission", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["apps.id"], name=op.f("fk_app_permissions_app_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("app_id", "permission", name=op.f("pk_app_permissions")),
    )
    op.create_table(
        "app_tokens",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("app_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=256), server_default="", nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("last_four", sa.String(length=4), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_address", sa.String(length=45), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["apps.id"], name=op.f("fk_app_tokens_app_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_app_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_app_tokens_digest")),
    )
    with op.batch_alter_table("app_tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_app_tokens_app_id"), ["app_id"], unique=False)

    op.create_table(
        "permission_group_members",
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "group_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["permission_groups.id"],
            name=op.f("fk_permission_group_members_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_permission_group_members_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", "group_id", name=op.f("pk_permission_group_members")),
    )
    with op.batch_alter_table("permission_group_members", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_permission_group_members_group_id"), ["group_id"], unique=False
        )

    op.create_table(
        "permission_group_permissions",
        sa.Column(
            "group_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("permission", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["permission_groups.id"],
            name=op.f("fk_permission_group_permissions_group_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "group_id", "permission", name=op.f("pk_permission_group_permissions")
        ),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("address", sa.String(length=45), server_default="", nullable=False),
        sa.Column("user_agent", sa.String(length=256), server_default="", nullable=False),
        sa.Column("refresh_digest", sa.String(length=64), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_sessions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("token", name=op.f("uq_sessions_token")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "throttle_users",
        sa.Column("address", sa.String(length=45), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_throttle_users_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("address", "user_id", name=op.f("pk_throttle_users")),
    )
    with op.batch_alter_table("throttle_users", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_throttle_users_updated_at"), ["updated_at"], unique=False
        )

    op.create_table(
        "user_permissions",
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("permission", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_user_permissions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "permission", name=op.f("pk_user_permissions")),
    )
    op.execute(
        "INSERT INTO shop (id, name, default_mail_sender_name, default_mail_sender_address,"
        " customer_set_password_url) VALUES (1, 'Latchkey shop', '', '', '')"
    )


def downgrade() -> None:
    op.drop_table("user_permissions")
    with op.batch_alter_table("throttle_users", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_throttle_users_updated_at"))

    op.drop_table("throttle_users")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sessions_user_id"))
        batch_op.drop_index(batch_op.f("ix_sessions_expires_at"))

    op.drop_table("sessions")
    op.drop_table("permission_group_permissions")
    with op.batch_alter_table("permission_group_members", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_permission_group_members_group_id"))

    op.drop_table("permission_group_members")
    with op.batch_alter_table("app_tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_app_tokens_app_id"))

    op.drop_table("app_tokens")
    op.drop_table("app_permissions")
    op.drop_table("users")
    with op.batch_alter_table("throttle_addresses", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_throttle_addresses_updated_at"))

    op.drop_table("throttle_addresses")
    with op.batch_alter_table("signing_keys", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_signing_keys_one_next",
            sqlite_where=sa.text("state = 'next'"),
            postgresql_where=sa.text("state = 'next'"),
        )
        batch_op.drop_index(
            "uq_signing_keys_one_active",
            sqlite_where=sa.text("state = 'active'"),
            postgresql_where=sa.text("state = 'active'"),
        )

    op.drop_table("signing_keys")
    op.drop_table("shop")
    op.drop_table("permission_groups")
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_at"))
        batch_op.drop_index(batch_op.f("ix_audit_actor_user_id"))
        batch_op.drop_index(batch_op.f("ix_audit_action"))

    op.drop_table("audit")
    op.drop_table("apps")
