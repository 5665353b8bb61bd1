"""Channels, products, carts and orders, with their lines."""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    false,
    func,
    select,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, HasMetadata, Record, deleted_with, partial_index, text_column

NO_PRICE = -1


class Channel(HasMetadata, Record):
    """A place where the shop sells: a country, a market, a site of its own."""

    __tablename__ = "channels"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    name: Mapped[str] = mapped_column(String(250))
    slug: Mapped[str] = mapped_column(String(255), unique=True)
    currency: Mapped[str] = mapped_column(String(3))
    country: Mapped[str] = mapped_column(String(2))
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())


class Product(Record):
    """A product; ``price`` is in the smallest units of ``currency``, ``NO_PRICE`` without one.

    A list by price thus needs no null. ``folded`` is the name as searches compare it. No key is
    given out twice, so that no old order or cart can point to something else.
    """

    __tablename__ = "products"
    # Each order in which products are listed, and the public's list.
    __table_args__ = (
        Index("ix_products_published", "is_published", "id"),
        Index("ix_products_name", "name", "id"),
        Index("ix_products_price", "price", "id"),
        Index("ix_products_created_at", "created_at", "id"),
        Index("ix_products_updated_at", "updated_at", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    name: Mapped[str] = mapped_column(String(250))
    slug: Mapped[str] = mapped_column(String(255), unique=True)
    description: Mapped[str] = text_column()
    price: Mapped[int] = mapped_column(BigInteger, default=NO_PRICE, server_default="-1")
    currency: Mapped[str] = mapped_column(String(3))
    is_published: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    folded: Mapped[str] = mapped_column(Text)


class Checkout(Record):
    """A cart; ``token`` is its public id, which gives access to an anonymous cart.

    ``completed_at`` is when it was ordered; it stays for the events about it. A cart without
    ``channel_id`` is of the first channel: it is older than channels. There is no foreign key,
    since adding one would lock the table; channels are deleted after their carts and orders moved.
    """

    __tablename__ = "checkouts"
    __table_args__ = (
        partial_index("ix_checkouts_open", "user_id", "id", where="completed_at IS NULL"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    token: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[int | None] = deleted_with("users.id", index=True)
    channel_id: Mapped[int | None] = mapped_column(BigKey)
    email: Mapped[str] = text_column(254)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime] = mapped_column(index=True)
    completed_at: Mapped[datetime | None]


class CheckoutLine(Record):
    """A quantity of a product in a cart, at the price that it had when it was added.

    The line outlives the product, so that the cart can say what was removed.
    """

    __tablename__ = "checkout_lines"
    __table_args__ = (UniqueConstraint("checkout_id", "product_id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    checkout_id: Mapped[int] = deleted_with("checkouts.id")
    product_id: Mapped[int | None] = mapped_column(
        ForeignKey("products.id", ondelete="SET NULL"), index=True
    )
    product_name: Mapped[str] = mapped_column(String(250))
    quantity: Mapped[int]
    unit_price: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))


class Order(Record):
    """An order; its key is its number. No two come from one checkout.

    ``user_email`` stays when the account is gone. ``channel_id`` is as that of a cart.
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
    channel_id: Mapped[int | None] = mapped_column(BigKey)
    user_email: Mapped[str] = mapped_column(String(254))
    status: Mapped[str] = mapped_column(String(16))
    is_paid: Mapped[bool] = mapped_column(default=False, server_default=false())
    total: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class OrderLine(Record):
    """An order's line with the product's name and price at the time of ordering."""

    __tablename__ = "order_lines"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    order_id: Mapped[int] = deleted_with("orders.id", index=True)
    product_id: Mapped[int | None] = mapped_column(
        ForeignKey("products.id", ondelete="SET NULL"), index=True
    )
    product_name: Mapped[str] = mapped_column(String(250))
    quantity: Mapped[int]
    unit_price: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))


FIRST_CHANNEL = select(func.min(Channel.id)).scalar_subquery()
"""The channel of carts and orders that are older than channels."""

ORDER_CHANNEL: ColumnElement[int] = func.coalesce(Order.channel_id, FIRST_CHANNEL)
CHECKOUT_CHANNEL: ColumnElement[int] = func.coalesce(Checkout.channel_id, FIRST_CHANNEL)
