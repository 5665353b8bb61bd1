"""Questions for a second factor or passkey, each asked once and answered within minutes."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.second_factors.methods import SecondFactorType

LIFETIME = timedelta(minutes=5)
"""For how long a challenge can be answered."""

MAX_FAILURES = 5
"""Wrong answers after which a challenge ends."""

TOKEN_LENGTH = 43
"""Letters and digits of a challenge's token: 256 bits."""


class ChallengePurpose(StrEnum):
    """What the answer to a challenge is for; it works for nothing else."""

    SIGN_IN = "sign_in"
    """Finish a sign-in whose first factor was right: ``user_id`` is known."""
    PASSKEY_SIGN_IN = "passkey_sign_in"
    """Sign in with a passkey alone: the passkey says who it is."""
    PROOF = "proof"
    """Confirm who is at the keyboard of a session (step-up)."""
    ADD_PASSKEY = "add_passkey"
    """Add a passkey to the account of a session."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge as its client gets it; ``types`` are the ways to answer it."""

    token: str = field(repr=False)
    expires_at: datetime
    types: tuple[SecondFactorType, ...] = ()


def digest_of_challenge(token: str) -> str:
    """Return the stored form of a challenge's token, from which it can't be made."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
