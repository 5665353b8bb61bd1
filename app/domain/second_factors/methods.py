"""Kinds of second factors, and the authentication methods of a session (claim ``amr``)."""

from collections.abc import Iterable
from enum import StrEnum


class SecondFactorType(StrEnum):
    """What an account can have besides its password."""

    PASSKEY = "PASSKEY"
    AUTHENTICATOR_APP = "AUTHENTICATOR_APP"
    RECOVERY_CODES = "RECOVERY_CODES"


class AuthenticationMethod(StrEnum):
    """The values of ``amr`` that sessions of ours have (RFC 8176, section 2)."""

    PASSWORD = "pwd"
    ONE_TIME_CODE = "otp"
    HARDWARE_KEY = "hwk"
    SOFTWARE_KEY = "swk"
    MULTIPLE_FACTORS = "mfa"


MAX_STORED_LENGTH = 255
"""Characters of stored methods."""


def used_second_factor(amr: Iterable[str]) -> bool:
    """Whether a session with these authentication methods began with more than one factor."""
    return AuthenticationMethod.MULTIPLE_FACTORS in amr


def methods_of_sign_in(used: AuthenticationMethod) -> tuple[str, ...]:
    """Return the methods of a session that began with a password and a second factor."""
    return (AuthenticationMethod.PASSWORD, used, AuthenticationMethod.MULTIPLE_FACTORS)


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
