"""What becomes of a password hash that another system made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.domain.passwords.hash_formats import (
    Argon2Hash,
    UnusableHash,
    parse_hash,
    require_strong,
)

ROUNDS, KIBIBYTES, LANES = 2, 46 * 1024, 1
"""Our argon2id: twice the rounds of the first profile of OWASP's Password Storage Cheat Sheet.

It takes 90 ms of a core.
"""

_UNUSABLE_PREFIX = "!"
"""Django's mark of an account without a password."""


class ImportedPasswordState(StrEnum):
    """What has become of the password of an imported user."""

    IMPORTED = "IMPORTED"
    """It works; the next sign-in with it replaces the hash by ours."""
    REPLACED = "REPLACED"
    """The hash is ours: the person has signed in since, or it already was when imported."""
    CHANGED = "CHANGED"
    """The person has set another password since, or it was removed."""
    MUST_RESET = "MUST_RESET"
    """It couldn't be imported: the person must set a new one."""
    NONE = "NONE"
    """The source had none, for example because the person signs in with SSO."""


@dataclass(frozen=True, slots=True)
class ImportedPassword:
    """What to store for a password, and why it must be reset if it must.

    ``password_hash`` is for ``UserRecord.password_hash``. ``code``, ``template`` and ``values``
    are those of a ``Finding``; empty unless the state is MUST_RESET. They hold no part of the
    hash.
    """

    state: ImportedPasswordState
    password_hash: str | None = field(default=None, repr=False)
    code: str = ""
    template: str = ""
    values: Mapping[str, object] = field(default_factory=dict, hash=False)

    @property
    def mark(self) -> str:
        """What changes when the source has another password that matters here.

        Nothing of one that must be reset, which may be easily guessed from any digest of it.
        """
        return self.password_hash or self.state.value


def classify(stored: str | None) -> ImportedPassword:
    """Return what to store for a hash of the source.

    Kept are hashes of argon2, bcrypt, scrypt, PBKDF2 (Django's formats, bare argon2 and bcrypt
    hashes, ``firebase_hash``) that can be checked in time and memory. Weak, damaged, unknown and
    costly ones must be reset. Empty ones and Django's ``!…`` are accounts without a password.
    """
    if not stored or stored.startswith(_UNUSABLE_PREFIX):
        return ImportedPassword(ImportedPasswordState.NONE)
    try:
        found = parse_hash(stored)
        require_strong(found)
    except UnusableHash as error:
        return must_reset(error)
    is_ours = isinstance(found, Argon2Hash) and stored == found.phc and _is_ours(found)
    state = ImportedPasswordState.REPLACED if is_ours else ImportedPasswordState.IMPORTED
    return ImportedPassword(state, stored)


def must_reset(error: UnusableHash) -> ImportedPassword:
    """Return the password that can't be imported because of ``error``."""
    return ImportedPassword(
        ImportedPasswordState.MUST_RESET,
        code=error.code,
        template=error.template,
        values=error.values,
    )


def _is_ours(found: Argon2Hash) -> bool:
    ours = found.phc.startswith("$argon2id$v=19$")
    return ours and (found.rounds, found.kibibytes, found.lanes) == (ROUNDS, KIBIBYTES, LANES)
