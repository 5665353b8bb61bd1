"""Sign-ins of devices (RFC 8628): their codes, and the client of ``flask login``."""

import sqlalchemy as sa
from alembic import op

revision = "0073_device_codes"
down_revision = "0072_client_sessions"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)
_COMMAND_LINE = "latchkey-cli"
_SCOPES = (
    "HANDLE_CHECKOUTS HANDLE_PAYMENTS HANDLE_TAXES IMPERSONATE_USER MANAGE_APPS MANAGE_CHANNELS "
    "MANAGE_CHECKOUTS MANAGE_CUSTOMER_TYPES_AND_ATTRIBUTES MANAGE_DISCOUNTS MANAGE_GIFT_CARD "
    "MANAGE_MENUS MANAGE_OBSERVABILITY MANAGE_ORDERS MANAGE_ORDERS_IMPORT MANAGE_PAGES "
    "MANAGE_PAGE_TYPES_AND_ATTRIBUTES MANAGE_PLUGINS MANAGE_PRODUCTS "
    "MANAGE_PRODUCT_TYPES_AND_ATTRIBUTES MANAGE_SETTINGS MANAGE_SHIPPING MANAGE_STAFF "
    "MANAGE_TAXES MANAGE_TRANSLATIONS MANAGE_USERS email offline_access openid staff"
)
"""Everything that its person can do."""


def upgrade() -> None:
    op.add_column(
        "oauth_clients",
        sa.Column("allows_devices", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    op.create_table(
        "oauth_device_codes",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("user_code", sa.String(length=64), nullable=False),
        sa.Column("client_id", _KEY, nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("address", sa.String(length=45), server_default="", nullable=False),
        sa.Column("user_agent", sa.String(length=256), server_default="", nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        sa.Column("interval", sa.Integer(), nullable=False),
        sa.Column("polled_at", _TIME, nullable=True),
        sa.Column("session_id", _KEY, nullable=True),
        sa.Column("authenticated_at", _TIME, nullable=True),
        sa.Column("is_denied", sa.Boolean(), server_default=sa.false(), nullable=False),
        _reference("client_id", "oauth_clients"),
        _reference("session_id", "sessions"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_device_codes")),
        sa.UniqueConstraint("digest", name=op.f("uq_oauth_device_codes_digest")),
        sa.UniqueConstraint("user_code", name=op.f("uq_oauth_device_codes_user_code")),
        sqlite_autoincrement=True,
    )
    for column in ("client_id", "session_id", "expires_at"):
        op.create_index(f"ix_oauth_device_codes_{column}", "oauth_device_codes", [column])
    _add_command_line()


def _add_command_line() -> None:
    clients = sa.table(
        "oauth_clients",
        *(sa.column(name) for name in ("client_id", "name", "scopes")),
        *(sa.column(name, sa.Boolean) for name in ("is_first_party", "is_public")),
        sa.column("allows_devices", sa.Boolean),
        sa.column("created_at", _TIME),
    )
    client = {
        "client_id": _COMMAND_LINE,
        "name": "Latchkey command line",
        "scopes": _SCOPES,
        "is_first_party": True,
        "is_public": True,
        "allows_devices": True,
        "created_at": sa.func.now(),
    }
    op.execute(clients.insert().values(client))


def _reference(column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column],
        [f"{target}.id"],
        name=op.f(f"fk_oauth_device_codes_{column}"),
        ondelete="CASCADE",
    )


def downgrade() -> None:
    op.execute(sa.text("DELETE FROM oauth_clients WHERE client_id = 'latchkey-cli'"))
    op.drop_table("oauth_device_codes")
    op.drop_column("oauth_clients", "allows_devices")
