"""The login throttle's counters, where every process sees them. Times are Unix seconds."""

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import Record


class ThrottleAddressRecord(Record):
    """One caller's address: its block, its running attempt (a lease), and its failures.

    ``known_failures`` is n of the contract's arithmetic, ``failures`` is k.
    """

    __tablename__ = "throttle_addresses"

    address: Mapped[str] = mapped_column(String(45), primary_key=True)
    blocked_until: Mapped[float] = mapped_column(default=0.0, server_default="0", index=True)
    lease: Mapped[str] = mapped_column(String(32), default="", server_default="")
    lease_until: Mapped[float] = mapped_column(default=0.0, server_default="0")
    known_failures: Mapped[int] = mapped_column(default=0, server_default="0")
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    updated_at: Mapped[float] = mapped_column(index=True)


class PasswordGuessRecord(Record):
    """Consecutive guesses at a signed-in person's password, over all sessions."""

    __tablename__ = "password_guesses"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    guesses: Mapped[int] = mapped_column(default=0, server_default="0")
    updated_at: Mapped[float] = mapped_column(index=True)


class ThrottleUserRecord(Record):
    """Failures of one address against one user: m of the contract's arithmetic."""

    __tablename__ = "throttle_users"

    address: Mapped[str] = mapped_column(String(45), primary_key=True)
    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    updated_at: Mapped[float] = mapped_column(index=True)
