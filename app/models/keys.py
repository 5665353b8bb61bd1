"""Signing keys, the private part encrypted."""

from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import Record, partial_index


class SigningKeyRecord(Record):
    """One key of the ring: ``state`` is ``next``, ``active``, ``retired`` or ``withdrawn``.

    A withdrawn key's row stays forever, without its private part, so that it can't come back.

    The two partial indexes let the database itself refuse a second active or next key, however
    many processes rotate at once.
    """

    __tablename__ = "signing_keys"
    __table_args__ = (
        partial_index(
            "uq_signing_keys_one_active",
            "state",
            unique=True,
            where="state = 'active'",
        ),
        partial_index(
            "uq_signing_keys_one_next",
            "state",
            unique=True,
            where="state = 'next'",
        ),
    )

    kid: Mapped[str] = mapped_column(String(64), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    private_key: Mapped[str] = mapped_column(Text)
    modulus: Mapped[str] = mapped_column(Text)
    exponent: Mapped[str] = mapped_column(String(16))
    published_at: Mapped[datetime]
    activated_at: Mapped[datetime | None]
    retired_at: Mapped[datetime | None]
