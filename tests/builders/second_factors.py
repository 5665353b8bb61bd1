"""Authenticator apps and recovery codes of accounts."""

from hashlib import sha256

from app import models
from app.domain.keys import authenticator_app_purpose
from app.domain.second_factors import PERIOD, SECRET_BYTES, encode_secret
from app.ports import Ports
from app.services.second_factors.factor_checks import hash_new_codes, replace_codes


def make_authenticator_app(ports: Ports, user_id: int) -> str:
    """Store a confirmed authenticator app that gave no code yet; return its secret.

    It is always the same for an account, so that no wrong code is the right one by chance.
    """
    secret = encode_secret(sha256(f"account {user_id}".encode()).digest()[:SECRET_BYTES])
    now = ports.clock.now()
    with ports.database.transaction() as session:
        session.add(
            models.AuthenticatorApp(
                user_id=user_id,
                secret=ports.encryption.encrypt(authenticator_app_purpose(user_id), secret),
                created_at=now,
                confirmed_at=now,
            )
        )
    return secret


def one_time_code(ports: Ports, secret: str, *, steps: int = 0) -> str:
    """Return the code of the current time step, or of ``steps`` later."""
    step = int(ports.clock.timestamp() // PERIOD) + steps
    return ports.authenticator_apps.code_at(secret, step)


def make_recovery_codes(ports: Ports, user_id: int) -> tuple[str, ...]:
    """Store recovery codes in place of those the account has; return them."""
    codes = hash_new_codes(ports)
    with ports.database.transaction() as session:
        return replace_codes(ports, session, user_id, codes)
