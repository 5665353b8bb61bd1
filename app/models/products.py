"""Products."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, String, Text, false
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record

NO_PRICE = -1


class ProductRecord(Record):
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
    description: Mapped[str] = mapped_column(Text, default="", server_default="")
    price: Mapped[int] = mapped_column(BigInteger, default=NO_PRICE, server_default="-1")
    currency: Mapped[str] = mapped_column(String(3))
    is_published: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    folded: Mapped[str] = mapped_column(Text)
