"""Passkeys, authenticator apps and recovery codes; known devices; methods of sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0041_second_factors"
down_revision = "0040_imported_tokens"


def upgrade() -> None:
    op.create_table(
        "authenticator_apps",
        sa.Column(
            "user_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("secret", sa.Text(), server_default="", nullable=False),
        sa.Column("pending_secret", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "last_step",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default="0",
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_authenticator_apps_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_authenticator_apps")),
    )
    op.create_table(
        "known_devices",
        sa.Column(
            "user_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("device", sa.String(length=64), nullable=False),
        sa.Column("network", sa.String(length=64), nullable=False),
        sa.Column("first_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_known_devices_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "device", "network", name=op.f("pk_known_devices")),
    )
    op.create_index("ix_known_devices_last_used_at", "known_devices", ["last_used_at"])

    op.create_table(
        "passkeys",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_handle", sa.String(length=86), nullable=False),
        sa.Column("credential_id", sa.String(length=1400), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column(
            "sign_count",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            server_default="0",
            nullable=False,
        ),
        sa.Column("is_synced", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("transports", sa.String(length=128), server_default="", nullable=False),
        sa.Column("aaguid", sa.String(length=36), server_default="", nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("device", sa.String(length=64), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_passkeys_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passkeys")),
        sa.UniqueConstraint("credential_id", name=op.f("uq_passkeys_credential_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_passkeys_user_handle", "passkeys", ["user_handle"])
    op.create_index("ix_passkeys_user_id", "passkeys", ["user_id"])

    op.create_table(
        "recovery_codes",
        sa.Column(
            "user_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("selector", sa.String(length=1), nullable=False),
        sa.Column("code_hash", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_recovery_codes_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "selector", name=op.f("pk_recovery_codes")),
    )
    op.create_table(
        "second_factor_challenges",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("passkey_challenge", sa.String(length=128), server_default="", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("method", sa.String(length=16), server_default="", nullable=False),
        sa.Column("in_console", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("lifetime", sa.Integer(), nullable=True),
        sa.Column("audience", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
            name=op.f("fk_second_factor_challenges_session_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_second_factor_challenges_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_second_factor_challenges")),
        sa.UniqueConstraint("digest", name=op.f("uq_second_factor_challenges_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_second_factor_challenges_expires_at", "second_factor_challenges", ["expires_at"]
    )
    op.create_index(
        "ix_second_factor_challenges_session_id", "second_factor_challenges", ["session_id"]
    )
    op.create_index("ix_second_factor_challenges_user_id", "second_factor_challenges", ["user_id"])

    op.add_column(
        "identity_providers",
        sa.Column("second_factor_amr", sa.String(length=255), server_default="", nullable=False),
    )
    op.add_column(
        "identity_providers",
        sa.Column("second_factor_acr", sa.String(length=1024), server_default="", nullable=False),
    )

    op.add_column(
        "sessions", sa.Column("amr", sa.String(length=255), server_default="", nullable=False)
    )

    op.add_column(
        "shop",
        sa.Column(
            "staff_second_factor", sa.String(length=16), server_default="OPTIONAL", nullable=False
        ),
    )
    op.add_column(
        "shop",
        sa.Column("second_factor_grace_days", sa.Integer(), server_default="14", nullable=False),
    )
    op.add_column(
        "shop", sa.Column("second_factor_from", sa.DateTime(timezone=True), nullable=True)
    )

    op.add_column(
        "account_links", sa.Column("notice", sa.JSON(), server_default="{}", nullable=False)
    )


def downgrade() -> None:
    op.drop_column("account_links", "notice")

    op.drop_column("shop", "second_factor_from")
    op.drop_column("shop", "second_factor_grace_days")
    op.drop_column("shop", "staff_second_factor")

    op.drop_column("sessions", "amr")

    op.drop_column("identity_providers", "second_factor_acr")
    op.drop_column("identity_providers", "second_factor_amr")

    op.drop_index("ix_second_factor_challenges_user_id", table_name="second_factor_challenges")
    op.drop_index("ix_second_factor_challenges_session_id", table_name="second_factor_challenges")
    op.drop_index("ix_second_factor_challenges_expires_at", table_name="second_factor_challenges")

    op.drop_table("second_factor_challenges")
    op.drop_table("recovery_codes")
    op.drop_index("ix_passkeys_user_id", table_name="passkeys")
    op.drop_index("ix_passkeys_user_handle", table_name="passkeys")

    op.drop_table("passkeys")
    op.drop_index("ix_known_devices_last_used_at", table_name="known_devices")

    op.drop_table("known_devices")
    op.drop_table("authenticator_apps")
