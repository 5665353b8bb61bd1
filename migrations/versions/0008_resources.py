"""Products, checkouts and orders."""

import sqlalchemy as sa
from alembic import op

revision = "0008_resources"
down_revision = "0007_traffic"


def upgrade() -> None:
    op.create_table(
        "products",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=250), nullable=False),
        sa.Column("slug", sa.String(length=255), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("price", sa.BigInteger(), server_default="-1", nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("is_published", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_products")),
        sa.UniqueConstraint("slug", name=op.f("uq_products_slug")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("products", schema=None) as batch_op:
        batch_op.create_index("ix_products_created_at", ["created_at", "id"], unique=False)
        batch_op.create_index("ix_products_name", ["name", "id"], unique=False)
        batch_op.create_index("ix_products_price", ["price", "id"], unique=False)
        batch_op.create_index("ix_products_published", ["is_published", "id"], unique=False)
        batch_op.create_index("ix_products_updated_at", ["updated_at", "id"], unique=False)

    op.create_table(
        "checkouts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("email", sa.String(length=254), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_checkouts_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkouts")),
        sa.UniqueConstraint("token", name=op.f("uq_checkouts_token")),
    )
    with op.batch_alter_table("checkouts", schema=None) as batch_op:
        batch_op.create_index(
            "ix_checkouts_open",
            ["user_id", "id"],
            unique=False,
            sqlite_where=sa.text("completed_at IS NULL"),
            postgresql_where=sa.text("completed_at IS NULL"),
        )
        batch_op.create_index(batch_op.f("ix_checkouts_updated_at"), ["updated_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_checkouts_user_id"), ["user_id"], unique=False)

    op.create_table(
        "checkout_lines",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "checkout_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "product_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("product_name", sa.String(length=250), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("unit_price", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.ForeignKeyConstraint(
            ["checkout_id"],
            ["checkouts.id"],
            name=op.f("fk_checkout_lines_checkout_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["product_id"],
            ["products.id"],
            name=op.f("fk_checkout_lines_product_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkout_lines")),
        sa.UniqueConstraint(
            "checkout_id", "product_id", name=op.f("uq_checkout_lines_checkout_id_product_id")
        ),
    )
    with op.batch_alter_table("checkout_lines", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_checkout_lines_product_id"), ["product_id"], unique=False
        )

    op.create_table(
        "orders",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "checkout_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("user_email", sa.String(length=254), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("is_paid", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["checkout_id"],
            ["checkouts.id"],
            name=op.f("fk_orders_checkout_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_orders_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_orders")),
        sa.UniqueConstraint("checkout_id", name=op.f("uq_orders_checkout_id")),
    )
    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.create_index("ix_orders_created_at", ["created_at", "id"], unique=False)
        batch_op.create_index("ix_orders_status", ["status", "id"], unique=False)
        batch_op.create_index("ix_orders_updated_at", ["updated_at", "id"], unique=False)
        batch_op.create_index("ix_orders_user", ["user_id", "id"], unique=False)
        batch_op.create_index("ix_orders_user_email", ["user_email", "id"], unique=False)

    op.create_table(
        "order_lines",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "order_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "product_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("product_name", sa.String(length=250), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("unit_price", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_order_lines_order_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["product_id"],
            ["products.id"],
            name=op.f("fk_order_lines_product_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_order_lines")),
    )
    with op.batch_alter_table("order_lines", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_order_lines_order_id"), ["order_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_order_lines_product_id"), ["product_id"], unique=False
        )


def downgrade() -> None:
    with op.batch_alter_table("order_lines", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_order_lines_product_id"))
        batch_op.drop_index(batch_op.f("ix_order_lines_order_id"))

    op.drop_table("order_lines")
    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.drop_index("ix_orders_user_email")
        batch_op.drop_index("ix_orders_user")
        batch_op.drop_index("ix_orders_updated_at")
        batch_op.drop_index("ix_orders_status")
        batch_op.drop_index("ix_orders_created_at")

    op.drop_table("orders")
    with op.batch_alter_table("checkout_lines", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_checkout_lines_product_id"))

    op.drop_table("checkout_lines")
    with op.batch_alter_table("checkouts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_checkouts_user_id"))
        batch_op.drop_index(batch_op.f("ix_checkouts_updated_at"))
        batch_op.drop_index(
            "ix_checkouts_open",
            sqlite_where=sa.text("completed_at IS NULL"),
            postgresql_where=sa.text("completed_at IS NULL"),
        )

    op.drop_table("checkouts")
    with op.batch_alter_table("products", schema=None) as batch_op:
        batch_op.drop_index("ix_products_updated_at")
        batch_op.drop_index("ix_products_published")
        batch_op.drop_index("ix_products_price")
        batch_op.drop_index("ix_products_name")
        batch_op.drop_index("ix_products_created_at")

    op.drop_table("products")
