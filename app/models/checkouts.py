"""Carts and their lines."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, partial_index


class CheckoutRecord(Record):
    """A cart; ``token`` is its public id, which gives access to an anonymous cart.

    ``completed_at`` is when it was ordered; it stays for the events about it.
    """

    __tablename__ = "checkouts"
    __table_args__ = (
        partial_index(
            "ix_checkouts_open",
            "user_id",
            "id",
            where="completed_at IS NULL",
        ),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    token: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[int | None] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), index=True
    )
    email: Mapped[str] = mapped_column(String(254), default="", server_default="")
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime] = mapped_column(index=True)
    completed_at: Mapped[datetime | None]


class CheckoutLineRecord(Record):
    """So many of one product, at the price that it had when it was put in.

    The line outlives the product, so that nothing vanishes from a cart unsaid.
    """

    __tablename__ = "checkout_lines"
    __table_args__ = (UniqueConstraint("checkout_id", "product_id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    checkout_id: Mapped[int] = mapped_column(ForeignKey("checkouts.id", ondelete="CASCADE"))
    product_id: Mapped[int | None] = mapped_column(
        ForeignKey("products.id", ondelete="SET NULL"), index=True
    )
    product_name: Mapped[str] = mapped_column(String(250))
    quantity: Mapped[int]
    unit_price: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
