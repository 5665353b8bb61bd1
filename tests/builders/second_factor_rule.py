"""The rule that requires a second factor, and accounts and sessions that meet it."""

from datetime import datetime, timedelta

from app import models
from app.domain.second_factors import write_methods
from app.ports import Ports
from tests.builders.shop import configure_shop

MFA = ("pwd", "otp", "mfa")
"""The authentication methods of a password and a one-time code."""


def require_second_factor(ports: Ports, begins: datetime | None = None) -> None:
    """Require a second factor of staff from ``begins`` on, by default since a minute."""
    configure_shop(
        ports,
        staff_second_factor="REQUIRED",
        second_factor_from=begins or ports.clock.now() - timedelta(minutes=1),
    )


def add_unusable_passkey(ports: Ports, user_id: int, credential_id: str = "") -> None:
    """Give an account a passkey that signs nothing."""
    with ports.database.transaction() as session:
        session.add(
            models.Passkey(
                user_id=user_id,
                user_handle=f"handle-{user_id}",
                credential_id=credential_id or f"credential-{user_id}",
                public_key="AA",
                name="Laptop",
                created_at=ports.clock.now(),
            )
        )


def set_methods(ports: Ports, session_id: int, amr: tuple[str, ...] = MFA) -> None:
    """Let a session have used these authentication methods."""
    with ports.database.transaction() as session:
        session.get_one(models.Session, session_id).amr = write_methods(amr)
