"""Orders and their lines."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class OrderRecord(Record):
    """An order; its key is its number. No two come from one checkout.

    ``user_email`` stays when the account is gone.
    """

    __tablename__ = "orders"
    __table_args__ = (
        Index("ix_orders_user", "user_id", "id"),
        Index("ix_orders_status", "status", "id"),
        Index("ix_orders_created_at", "created_at", "id"),
        Index("ix_orders_updated_at", "updated_at", "id"),
        Index("ix_orders_user_email", "user_email", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    checkout_id: Mapped[int | None] = mapped_column(
        ForeignKey("checkouts.id", ondelete="SET NULL"), unique=True
    )
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    user_email: Mapped[str] = mapped_column(String(254))
    status: Mapped[str] = mapped_column(String(16))
    is_paid: Mapped[bool] = mapped_column(default=False, server_default=false())
    total: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class OrderLineRecord(Record):
    """An order's line with the product's name and price at the time of ordering."""

    __tablename__ = "order_lines"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"), index=True)
    product_id: Mapped[int | None] = mapped_column(
        ForeignKey("products.id", ondelete="SET NULL"), index=True
    )
    product_name: Mapped[str] = mapped_column(String(250))
    quantity: Mapped[int]
    unit_price: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
