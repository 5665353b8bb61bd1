"""A provider's emails can be trusted; unverified identities of trusted accounts are removed."""

import sqlalchemy as sa
from alembic import op

revision = "0024_trusted_emails"
down_revision = "0023_unique_keys"

_USERS = sa.table("users", sa.column("id"), sa.column("is_confirmed"), sa.column("is_staff"))
_IDENTITIES = sa.table(
    "external_identities",
    sa.column("id"),
    sa.column("user_id"),
    sa.column("is_verified", sa.Boolean()),
)
_PROVIDERS = sa.table("identity_providers", sa.column("use_oauth_scope_permissions"))
_BY_SCOPES = sa.exists().where(_PROVIDERS.c.use_oauth_scope_permissions.is_(sa.true()))
"""Whether some provider makes people staff by scopes: then staff may be staff by its word."""

_LEFT_BEHIND = (
    sa.select(_IDENTITIES.c.id)
    .join(_USERS, _USERS.c.id == _IDENTITIES.c.user_id)
    .where(
        _IDENTITIES.c.is_verified.is_(sa.false()),
        sa.or_(
            _USERS.c.is_confirmed.is_(sa.true()),
            sa.and_(_USERS.c.is_staff.is_(sa.true()), ~_BY_SCOPES),
        ),
    )
)
"""Unverified identities of accounts that were promoted or confirmed by hand."""


def upgrade() -> None:
    op.add_column(
        "identity_providers",
        sa.Column("trust_emails", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    for name in ("sessions", "provider_tokens"):
        table = sa.table(name, sa.column("identity_id"))
        op.execute(sa.delete(table).where(table.c.identity_id.in_(_LEFT_BEHIND)))
    op.execute(sa.delete(_IDENTITIES).where(_IDENTITIES.c.id.in_(_LEFT_BEHIND)))


def downgrade() -> None:
    op.drop_column("identity_providers", "trust_emails")
