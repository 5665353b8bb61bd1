"""Addresses of users."""

import sqlalchemy as sa
from alembic import op

revision = "0035_addresses"
down_revision = "0034_saved_filters"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_LENGTHS = {
    "first_name": 256,
    "last_name": 256,
    "company_name": 256,
    "street_address_1": 256,
    "street_address_2": 256,
    "city": 256,
    "city_area": 128,
    "postal_code": 20,
    "country": 2,
    "country_area": 128,
    "phone": 128,
}
_FLAGS = ("validation_skipped", "is_default_shipping", "is_default_billing")


def upgrade() -> None:
    op.create_table(
        "addresses",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("user_id", _KEY, nullable=False),
        *(
            sa.Column(name, sa.String(length=length), server_default="", nullable=False)
            for name, length in _LENGTHS.items()
        ),
        *(
            sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False)
            for name in _FLAGS
        ),
        sa.Column("public_metadata", sa.JSON(), server_default="{}", nullable=False),
        sa.Column("private_metadata", sa.JSON(), server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_addresses_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_addresses")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_addresses_user_id_id", "addresses", ["user_id", "id"])
    for kind in ("billing", "shipping"):
        op.create_index(
            f"uq_addresses_default_{kind}",
            "addresses",
            ["user_id"],
            unique=True,
            sqlite_where=sa.text(f"is_default_{kind} IS TRUE"),
            postgresql_where=sa.text(f"is_default_{kind} IS TRUE"),
        )


def downgrade() -> None:
    op.drop_table("addresses")
