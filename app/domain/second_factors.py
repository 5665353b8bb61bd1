"""Second factors: their kinds, challenges, one-time codes and recovery codes.

The authentication methods of a session (claim ``amr``) are those of RFC 8176; one-time codes
follow TOTP (RFC 6238): SHA-1, six digits, 30 seconds. An account has ten recovery codes, such as
``4kq7-m2xd``, each for one use, in Crockford's base32, which has no
letters that look like digits.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum


class SecondFactorType(StrEnum):
    """What an account can have besides its password."""

    PASSKEY = "PASSKEY"
    AUTHENTICATOR_APP = "AUTHENTICATOR_APP"
    RECOVERY_CODES = "RECOVERY_CODES"


class AuthenticationMethod(StrEnum):
    """The values of ``amr`` in Latchkey's sessions (RFC 8176, section 2)."""

    PASSWORD = "pwd"
    ONE_TIME_CODE = "otp"
    HARDWARE_KEY = "hwk"
    SOFTWARE_KEY = "swk"
    MULTIPLE_FACTORS = "mfa"


_WEAKER = (AuthenticationMethod.PASSWORD, AuthenticationMethod.ONE_TIME_CODE)

MAX_STORED_LENGTH = 255
"""Characters of stored methods."""


def used_second_factor(amr: Iterable[str]) -> bool:
    """Whether a session with these authentication methods began with more than one factor."""
    return AuthenticationMethod.MULTIPLE_FACTORS in amr


def began_with_passkey(amr: Collection[str]) -> bool:
    """Whether a session that no provider opened began with a passkey alone, without a password."""
    return bool(amr) and next(iter(amr)) not in _WEAKER


def methods_of_sign_in(
    used: AuthenticationMethod, first: AuthenticationMethod = AuthenticationMethod.PASSWORD
) -> tuple[str, ...]:
    """Return the methods of a session that began with a password and a second factor.

    ``first`` is what came before the second factor: a password, or a code by email.
    """
    return (first, used, AuthenticationMethod.MULTIPLE_FACTORS)


def methods_of_passkey(used: AuthenticationMethod) -> tuple[str, ...]:
    """Return the methods of a session that began with a passkey alone: it verified the person."""
    return (used, AuthenticationMethod.MULTIPLE_FACTORS)


def methods_with_proof(
    amr: tuple[str, ...], used: AuthenticationMethod, *, by_password: bool
) -> tuple[str, ...]:
    """Return the methods of a session whose person has now proved a second factor as well."""
    if used_second_factor(amr):
        return amr
    before = amr or ((AuthenticationMethod.PASSWORD,) if by_password else ())
    return (*before, used, AuthenticationMethod.MULTIPLE_FACTORS)


def read_methods(stored: str) -> tuple[str, ...]:
    """Return the methods of a session as its row has them, in order."""
    return tuple(stored.split())


def write_methods(amr: Iterable[str]) -> str:
    """Return ``amr`` as a session's row has it: separated by spaces."""
    return " ".join(amr)


CHALLENGE_LIFETIME = timedelta(minutes=5)
"""For how long a challenge can be answered."""

MAX_CHALLENGE_FAILURES = 5
"""Wrong answers after which a challenge ends."""

CHALLENGE_TOKEN_LENGTH = 43
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


RECOVERY_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
RECOVERY_CODES = 10
"""Codes that an account gets together."""

RECOVERY_CODE_LENGTH = 8
_HALF = RECOVERY_CODE_LENGTH // 2
_LOOK_ALIKES = str.maketrans("oil", "011")

RECOVERY_BYTES = len(RECOVERY_ALPHABET) + RECOVERY_CODES * (RECOVERY_CODE_LENGTH - 1)
"""Random bytes that a set of codes is made from."""


def make_recovery_codes(random_bytes: bytes) -> tuple[str, ...]:
    """Return a set of codes from ``RECOVERY_BYTES`` random bytes, in order.

    The first character, by which a code is found, differs in each; the others have 5 random bits
    each, 35 in all.
    """
    order, rest = random_bytes[: len(RECOVERY_ALPHABET)], random_bytes[len(RECOVERY_ALPHABET) :]
    shuffled = [character for _, character in sorted(zip(order, RECOVERY_ALPHABET, strict=True))]
    drawn = [RECOVERY_ALPHABET[byte % len(RECOVERY_ALPHABET)] for byte in rest]
    size = RECOVERY_CODE_LENGTH - 1
    return tuple(
        selector + "".join(drawn[number * size : (number + 1) * size])
        for number, selector in enumerate(sorted(shuffled[:RECOVERY_CODES]))
    )


def selector_of(code: str) -> str:
    """Return the character by which a code is found among those of its account."""
    return code[0]


def write_recovery_code(code: str) -> str:
    """Return a code as it is shown: in two halves."""
    return f"{code[:_HALF]}-{code[_HALF:]}"


def read_recovery_code(entered: str) -> str:
    """Return the code that was entered, empty if it can't be a code.

    Case, spaces and hyphens don't count; ``o`` is read as 0, ``i`` and ``l`` as 1.
    """
    code = "".join(entered.split()).replace("-", "").lower().translate(_LOOK_ALIKES)
    return (
        code if len(code) == RECOVERY_CODE_LENGTH and set(code) <= set(RECOVERY_ALPHABET) else ""
    )
