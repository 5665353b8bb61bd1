"""Single sign-on: providers, external identities, sign-ins that have begun."""

import sqlalchemy as sa
from alembic import op

revision = "0004_single_sign_on"
down_revision = "0003_accounts"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXTS = {
    "issuer": 1024,
    "client_id": 1024,
    "oauth_authorization_url": 2048,
    "oauth_token_url": 2048,
    "json_web_key_set_url": 2048,
    "oauth_logout_url": 2048,
    "user_info_url": 2048,
    "audience": 1024,
    "staff_user_domains": 2048,
    "default_group_name_for_new_staff_users": 150,
}


def upgrade() -> None:
    _create_providers()
    _create_identities()
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("provider_id", _KEY, nullable=True))
        batch_op.add_column(sa.Column("identity_id", _KEY, nullable=True))
        batch_op.add_column(
            sa.Column("sid", sa.String(length=255), server_default="", nullable=False)
        )
        batch_op.add_column(
            sa.Column("provider_refresh_token", sa.Text(), server_default="", nullable=False)
        )
        batch_op.add_column(
            sa.Column("refreshing_until", sa.DateTime(timezone=True), nullable=True)
        )
        batch_op.add_column(sa.Column("scope", sa.Text(), nullable=True))
        batch_op.create_foreign_key(
            batch_op.f("fk_sessions_provider_id"),
            "identity_providers",
            ["provider_id"],
            ["id"],
            ondelete="CASCADE",
        )
        batch_op.create_foreign_key(
            batch_op.f("fk_sessions_identity_id"),
            "external_identities",
            ["identity_id"],
            ["id"],
            ondelete="CASCADE",
        )
        batch_op.create_index(batch_op.f("ix_sessions_identity_id"), ["identity_id"], unique=False)
        batch_op.create_index(
            "ix_sessions_provider_id_sid",
            ["provider_id", "sid"],
            unique=False,
            sqlite_where=sa.text("provider_id IS NOT NULL"),
            postgresql_where=sa.text("provider_id IS NOT NULL"),
        )
    with op.batch_alter_table("shop", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("providers_version", sa.Integer(), server_default="0", nullable=False)
        )


def _create_providers() -> None:
    providers = op.create_table(
        "identity_providers",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=256), nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("client_secret", sa.Text(), server_default="", nullable=False),
        sa.Column("enable_refresh_token", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column(
            "use_oauth_scope_permissions", sa.Boolean(), server_default=sa.false(), nullable=False
        ),
        *(
            sa.Column(name, sa.String(length=length), server_default="", nullable=False)
            for name, length in _TEXTS.items()
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers")),
        sa.UniqueConstraint("slug", name=op.f("uq_identity_providers_slug")),
    )
    op.bulk_insert(providers, [{"slug": "default", "name": "OpenID Connect"}])


def _create_identities() -> None:
    op.create_table(
        "external_identities",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("user_id", _KEY, nullable=False),
        sa.Column("issuer", sa.String(length=1024), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("is_verified", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tokens_valid_after", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_external_identities_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_external_identities")),
        sa.UniqueConstraint(
            "issuer", "subject", name=op.f("uq_external_identities_issuer_subject")
        ),
    )
    op.create_index(op.f("ix_external_identities_user_id"), "external_identities", ["user_id"])
    op.create_table(
        "oidc_states",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("provider_id", _KEY, nullable=False),
        sa.Column("redirect_uri", sa.String(length=2048), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["identity_providers.id"],
            name=op.f("fk_oidc_states_provider_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_oidc_states")),
    )
    op.create_index(op.f("ix_oidc_states_expires_at"), "oidc_states", ["expires_at"])
    op.create_index(op.f("ix_oidc_states_provider_id"), "oidc_states", ["provider_id"])
    op.create_table(
        "provider_tokens",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("identity_id", _KEY, nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["identity_id"],
            ["external_identities.id"],
            name=op.f("fk_provider_tokens_identity_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_provider_tokens")),
    )
    op.create_index(op.f("ix_provider_tokens_first_seen_at"), "provider_tokens", ["first_seen_at"])
    op.create_index(op.f("ix_provider_tokens_identity_id"), "provider_tokens", ["identity_id"])


def downgrade() -> None:
    with op.batch_alter_table("shop", schema=None) as batch_op:
        batch_op.drop_column("providers_version")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_index("ix_sessions_provider_id_sid")
        batch_op.drop_index(batch_op.f("ix_sessions_identity_id"))
        batch_op.drop_constraint(batch_op.f("fk_sessions_identity_id"), type_="foreignkey")
        batch_op.drop_constraint(batch_op.f("fk_sessions_provider_id"), type_="foreignkey")
        for column in (
            "scope",
            "refreshing_until",
            "provider_refresh_token",
            "sid",
            "identity_id",
            "provider_id",
        ):
            batch_op.drop_column(column)
    for table in ("provider_tokens", "oidc_states", "external_identities", "identity_providers"):
        op.drop_table(table)
