"""One-time codes of authenticator apps (TOTP, RFC 6238): SHA-1, six digits, 30 seconds."""

import base64
import hmac
from collections.abc import Callable, Sequence

SECRET_BYTES = 20
"""Bytes of a secret: 160 bits, as long as a SHA-1 (RFC 4226, section 4)."""

DIGITS = 6
PERIOD = 30
"""Seconds of a time step."""

DRIFT = 1
"""Steps that a phone's clock can be ahead or behind."""

_GROUP = 4


def encode_secret(random_bytes: bytes) -> str:
    """Return a secret as authenticator apps read it (base32)."""
    return base64.b32encode(random_bytes).decode()


def setup_key(secret: str) -> str:
    """Return a secret in groups of four characters, to be typed."""
    return " ".join(secret[start : start + _GROUP] for start in range(0, len(secret), _GROUP))


def read_one_time_code(entered: str) -> str:
    """Return the six digits of what was entered, empty if it is something else.

    Apps show codes as two groups of three; other scripts' digits are none.
    """
    digits = "".join(entered.split()).replace("-", "")
    return digits if len(digits) == DIGITS and digits.isascii() and digits.isdigit() else ""


def accepted_steps(timestamp: float) -> Sequence[int]:
    """Return the time steps whose codes are accepted at that Unix time, the latest first."""
    current = int(timestamp // PERIOD)
    return range(current + DRIFT, current - DRIFT - 1, -1)


def find_step(
    code: str, timestamp: float, last_step: int, code_at: Callable[[int], str]
) -> int | None:
    """Return the time step of ``code`` if it is accepted now, ``None`` otherwise.

    Codes of ``last_step`` and of earlier steps are not. If two steps have the same code, it is the
    later step's, so that the code can't be used again for that one. ``code_at`` makes the codes.
    """
    found = None
    for step in accepted_steps(timestamp):
        is_right = hmac.compare_digest(code_at(step), code)
        if is_right and step > last_step and found is None:
            found = step
    return found
