"""Addresses of users."""

from sqlalchemy import ForeignKey, Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from app.models.metadata import HasMetadata
from app.models.record import BigKey, Record, partial_index


class AddressRecord(HasMetadata, Record):
    """An address of a user; at most one is the default for each purpose.

    ``country`` is a code of ISO 3166-1. ``validation_skipped``: without the country's rules.
    """

    __tablename__ = "addresses"
    __table_args__ = (
        Index("ix_addresses_user_id_id", "user_id", "id"),
        partial_index(
            "uq_addresses_default_shipping",
            "user_id",
            unique=True,
            where="is_default_shipping IS TRUE",
        ),
        partial_index(
            "uq_addresses_default_billing",
            "user_id",
            unique=True,
            where="is_default_billing IS TRUE",
        ),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    first_name: Mapped[str] = mapped_column(String(256), default="", server_default="")
    last_name: Mapped[str] = mapped_column(String(256), default="", server_default="")
    company_name: Mapped[str] = mapped_column(String(256), default="", server_default="")
    street_address_1: Mapped[str] = mapped_column(String(256), default="", server_default="")
    street_address_2: Mapped[str] = mapped_column(String(256), default="", server_default="")
    city: Mapped[str] = mapped_column(String(256), default="", server_default="")
    city_area: Mapped[str] = mapped_column(String(128), default="", server_default="")
    postal_code: Mapped[str] = mapped_column(String(20), default="", server_default="")
    country: Mapped[str] = mapped_column(String(2), default="", server_default="")
    country_area: Mapped[str] = mapped_column(String(128), default="", server_default="")
    phone: Mapped[str] = mapped_column(String(128), default="", server_default="")
    validation_skipped: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_default_shipping: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_default_billing: Mapped[bool] = mapped_column(default=False, server_default=false())
